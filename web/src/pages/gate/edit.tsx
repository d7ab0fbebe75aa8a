import { type FormEvent, useEffect, useId, useMemo, useRef, useState } from 'react';
import type { Interrupt } from '../../api/types';
import { useT } from '../../i18n';
import { Scroll } from '../../ui/parts';
import { Value, visible } from '../../ui/value';
import { type Fault, type Field, fields, limits, read, type Schema, toText } from './form';

interface Props {
  gate: Interrupt;
  schema: Schema | undefined;
  pending: boolean;
  onSend: (values: Record<string, unknown>, comment: string) => void;
  onCancel: () => void;
}

/** Drafts outlive a reload and a decision that came too late; they are of one action. */
const draftOf = (gate: Interrupt) => `manifold.draft.${gate.interrupt_id}.${gate.action_sha256}`;

/** Edit is a form of what will be sent. It never approves: what is changed is asked about anew. */
export function Edit({ gate, schema, pending, onSend, onCancel }: Props) {
  const t = useT();
  const before = useMemo(() => gate.action?.parameters ?? {}, [gate.action]);
  const all = useMemo(() => fields(schema, before), [schema, before]);
  const store = draftOf(gate);
  const [texts, setTexts] = useState<Record<string, string>>(() => {
    const kept = sessionStorage.getItem(store);
    const start = Object.fromEntries(all.map((f) => [f.name, toText(f.kind, before[f.name])]));
    return kept ? { ...start, ...(JSON.parse(kept) as Record<string, string>) } : start;
  });
  const [comment, setComment] = useState('');
  const [tried, setTried] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => sessionStorage.setItem(store, JSON.stringify(texts)), [store, texts]);
  useEffect(() => form.current?.querySelector<HTMLElement>('input,select,textarea')?.focus(), []);

  const results = all.map((field) => ({ field, ...resultOf(field, texts[field.name] ?? '', before[field.name]) }));
  const after = Object.fromEntries(results.filter((r) => r.value !== undefined).map((r) => [r.field.name, r.value]));
  const changed = all.filter((f) => JSON.stringify(before[f.name]) !== JSON.stringify(after[f.name]));
  const wrong = results.some((r) => r.fault);
  const send = (e: FormEvent) => {
    e.preventDefault();
    setTried(true);
    if (wrong || changed.length === 0) {
      form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
      return;
    }
    onSend(after, comment);
  };
  return (
    <form ref={form} onSubmit={send} className="edit" noValidate aria-label={t('edit')}>
      <p>{t('edit_note')}</p>
      {results.map(({ field, fault }) => (
        <Input
          key={field.name}
          field={field}
          text={texts[field.name] ?? ''}
          fault={tried || texts[field.name] !== toText(field.kind, before[field.name]) ? fault : undefined}
          onText={(text) => setTexts((old) => ({ ...old, [field.name]: text }))}
        />
      ))}
      <h3>{t('edit_diff')}</h3>
      {changed.length === 0 ? (
        <p className="muted">{t('edit_same')}</p>
      ) : (
        <Scroll label={t('edit_diff')}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t('col_parameter')}</th>
                <th scope="col">{t('col_before')}</th>
                <th scope="col">{t('col_after')}</th>
              </tr>
            </thead>
            <tbody>
              {changed.map((f) => (
                <tr key={f.name}>
                  <th scope="row">{visible(f.name)}</th>
                  <td>
                    <del>
                      <Value value={before[f.name]} />
                    </del>
                  </td>
                  <td>
                    <ins>
                      <Value value={after[f.name]} />
                    </ins>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
      <label className="column">
        {t('comment')}
        <input value={comment} maxLength={1000} onChange={(e) => setComment(e.target.value)} />
      </label>
      <div className="row">
        <button type="submit" className="primary" disabled={pending || changed.length === 0}>
          {t('edit_send')}
        </button>
        <button
          type="button"
          onClick={() => {
            sessionStorage.removeItem(store);
            onCancel();
          }}
        >
          {t('cancel')}
        </button>
      </div>
    </form>
  );
}

/** resultOf reads a field; one that was not touched keeps its value, whatever the form makes of it. */
function resultOf(field: Field, text: string, before: unknown): { value?: unknown; fault?: Fault } {
  if (before !== undefined && text === toText(field.kind, before)) return { value: before };
  return read(field, text);
}

interface InputProps {
  field: Field;
  text: string;
  fault: Fault | undefined;
  onText: (text: string) => void;
}

export function Input({ field, text, fault, onText }: InputProps) {
  const t = useT();
  const id = useId();
  const common = {
    id,
    value: text,
    required: field.required,
    'aria-invalid': fault ? (true as const) : undefined,
    'aria-describedby': `${id}-note`,
    onChange: (e: { target: { value: string } }) => onText(e.target.value),
  };
  const note = [field.schema.description, limits(field)].filter(Boolean).join(' · ');
  return (
    <div className="field">
      <label htmlFor={id}>
        {visible(field.name)}
        {field.required && <span className="muted"> ({t('needed')})</span>}
      </label>
      {control(field, common, t)}
      <p id={`${id}-note`} className="muted">
        {visible(note)}
        {fault && (
          <span className="fault" role="alert">
            {' '}
            {t(`fault_${fault}`)}
          </span>
        )}
      </p>
    </div>
  );
}

interface Common {
  id: string;
  value: string;
  required: boolean;
  onChange: (e: { target: { value: string } }) => void;
}

function control(field: Field, common: Common, t: ReturnType<typeof useT>) {
  switch (field.kind) {
    case 'choice':
      return (
        <select {...common}>
          {(!field.required || !field.schema.enum?.some((v) => String(v) === common.value)) && (
            <option value="">–</option>
          )}
          {field.schema.enum?.map((v) => (
            <option key={String(v)} value={String(v)}>
              {visible(String(v))}
            </option>
          ))}
        </select>
      );
    case 'boolean':
      return (
        <select {...common}>
          {!field.required && <option value="">–</option>}
          <option value="true">{t('yes')}</option>
          <option value="false">{t('no')}</option>
        </select>
      );
    case 'date':
      return <input {...common} type="text" inputMode="numeric" placeholder="YYYY-MM-DD" />;
    case 'number':
    case 'integer':
      return <input {...common} type="text" inputMode="decimal" autoComplete="off" />;
    case 'long':
    case 'lines':
    case 'json':
      return (
        <textarea {...common} rows={field.kind === 'json' ? 6 : 3} className={field.kind === 'json' ? 'mono' : ''} />
      );
    default:
      return <input {...common} type="text" autoComplete="off" />;
  }
}
