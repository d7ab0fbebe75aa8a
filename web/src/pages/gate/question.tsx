import { type FormEvent, useState } from 'react';
import type { GateView, Interrupt, Resume } from '../../api/types';
import { useT } from '../../i18n';
import { GivenLink } from '../../ui/link';
import { Card, Facts } from '../../ui/parts';
import { Value, visible } from '../../ui/value';
import { Input } from './edit';
import { type Field, kindOf, read, type Schema } from './form';

interface Props {
  gate: Interrupt;
  sheet: GateView;
  stale: boolean;
  pending: boolean;
  onAnswer: (body: Resume) => void;
}

/** Answers that say nothing without words. */
const needsWords: ReadonlySet<string> = new Set(['edit', 'iterate', 'search', 'choose']);

/** Question takes the answer to a question: an option, an answer that it allows, or a value. */
export function Question({ gate, sheet, stale, pending, onAnswer }: Props) {
  const t = useT();
  const [choice, setChoice] = useState('');
  const [text, setText] = useState('');
  if (gate.status !== 'open') {
    return (
      <Card title={t('answer')} id="decision">
        {gate.response === undefined ? <p>{t('decision_none')}</p> : <Value value={gate.response} />}
      </Card>
    );
  }
  if (!sheet.may.answer) {
    return (
      <Card title={t('answer')} id="decision">
        <p>
          {t('may_not')} {visible(sheet.may.why ?? '')}
        </p>
      </Card>
    );
  }
  const options = gate.options ?? [];
  const answers = (gate.answers ?? []).filter((a) => !options.some((o) => o.id === a));
  const field: Field = {
    name: t('answer'),
    schema: (gate.response_schema ?? { type: 'string' }) as Schema,
    kind: kindOf((gate.response_schema ?? { type: 'string' }) as Schema),
    required: true,
  };
  const free = options.length === 0 && answers.length === 0;
  const given = free ? read(field, text) : undefined;
  const words = needsWords.has(choice) || choice === 'reject';
  const ready = free
    ? given?.fault === undefined && text !== ''
    : choice !== '' && (!needsWords.has(choice) || text.trim() !== '');
  const send = (e: FormEvent) => {
    e.preventDefault();
    const response = free ? given?.value : words && text.trim() ? `${choice}: ${text.trim()}` : choice;
    onAnswer({ response, ...(gate.action_sha256 && { action_sha256: gate.action_sha256 }) });
  };
  const choices = [
    ...options.map((o) => ({ id: o.id, label: o.label, detail: o.detail })),
    ...answers.map((a) => ({ id: a, label: a.replaceAll('_', ' '), detail: undefined })),
  ];
  return (
    <Card title={t('answer')} id="decision">
      <form onSubmit={send}>
        {free ? (
          <Input field={field} text={text} fault={text === '' ? undefined : given?.fault} onText={setText} />
        ) : (
          <fieldset className="choices">
            <legend className="hidden">{t('answer')}</legend>
            {choices.map((c) => (
              <label key={c.id} className="check">
                <input
                  type="radio"
                  name="choice"
                  value={c.id}
                  checked={choice === c.id}
                  onChange={() => setChoice(c.id)}
                />
                <span className="text">
                  {visible(c.label)} {c.detail && <span className="muted">{visible(c.detail)}</span>}
                </span>
              </label>
            ))}
          </fieldset>
        )}
        {words && (
          <label className="column">
            {t('answer_words')}
            <textarea value={text} rows={3} onChange={(e) => setText(e.target.value)} />
          </label>
        )}
        <button type="submit" className="primary" disabled={!ready || pending || stale}>
          {t('answer_send')}
        </button>
      </form>
    </Card>
  );
}

/** Shown is what a question rests on. */
Question.Shown = function Shown({ gate, sheet }: { gate: Interrupt; sheet: GateView }) {
  const t = useT();
  const values = { ...asRecord(gate.value, t('col_value')), ...gate.show };
  return (
    <>
      <p className="prose">{visible(gate.prompt)}</p>
      {sheet.lines && sheet.lines.length > 0 && Object.keys(values).length === 0 && (
        <Facts rows={sheet.lines.map(([name = '', text = '']) => [visible(name), visible(text)])} />
      )}
      <dl className="values">
        {Object.entries(values).map(([name, value]) => (
          <div key={name}>
            <dt>{visible(name)}</dt>
            <dd>
              {name === 'link' && value === gate.show?.link ? <GivenLink to={value} /> : <Value value={value} whole />}
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
};

function asRecord(value: unknown, name: string): Record<string, unknown> {
  if (value === undefined || value === null) return {};
  return typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown>) : { [name]: value };
}
