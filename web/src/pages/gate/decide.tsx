import { type FormEvent, useEffect, useState } from 'react';
import type { GateView, Interrupt, Resume } from '../../api/types';
import { useT } from '../../i18n';
import { Icon } from '../../ui/icon';
import { Card, Dialog } from '../../ui/parts';
import { useNow } from '../../ui/time';
import { oneLine, visible } from '../../ui/value';
import { Edit } from './edit';
import type { Schema } from './form';

interface Props {
  gate: Interrupt;
  sheet: GateView;
  /** All that is to be approved has been on the screen. */
  seen: boolean;
  stale: boolean;
  pending: boolean;
  onDecide: (body: Resume) => void;
}

type Mode = 'choose' | 'edit' | 'reject' | 'confirm';

/** Decide takes a decision about exactly what is shown: it carries the hash of it. */
export function Decide({ gate, sheet, seen, stale, pending, onDecide }: Props) {
  const t = useT();
  const [mode, setMode] = useState<Mode>('choose');
  const [comment, setComment] = useState('');
  const now = useNow(5);
  const { may } = sheet;
  useEffect(() => {
    if (gate.status !== 'open') setMode('choose');
  }, [gate.status]);
  if (gate.status !== 'open') {
    return (
      <Card title={t('decision')} id="decision">
        <p>{t('decision_none')}</p>
      </Card>
    );
  }
  const early = gate.decidable_at !== undefined && Date.parse(gate.decidable_at) > now;
  const grave = gate.risk_level === 'high' || gate.risk_level === 'critical';
  const send = (decision: Resume['decision'], more: Partial<Resume> = {}) =>
    onDecide({
      decision,
      action_sha256: gate.action_sha256,
      ...(comment.trim() && { comment: comment.trim() }),
      ...more,
    });
  const blocked = stale ? t('gate_changed') : early ? t('too_early') : !seen ? t('read_first') : undefined;
  const approve = (e: FormEvent) => {
    e.preventDefault();
    if (grave) setMode('confirm');
    else send('approve');
  };
  if (mode === 'edit') {
    return (
      <Card title={t('edit')} id="decision">
        <Edit
          gate={gate}
          schema={sheet.schema as Schema | undefined}
          pending={pending || stale}
          onSend={(edited_params, said) => send('edit', { edited_params, ...(said && { comment: said }) })}
          onCancel={() => setMode('choose')}
        />
      </Card>
    );
  }
  return (
    <Card title={t('decision')} id="decision">
      {!may.approve && !may.reject && !may.edit ? (
        <p>
          {t('may_not')} {may.why && <span className="prose">{visible(may.why)}</span>}
        </p>
      ) : (
        <form onSubmit={approve}>
          <label className="column">
            {t('comment')}
            <textarea value={comment} maxLength={2000} rows={2} onChange={(e) => setComment(e.target.value)} />
          </label>
          {mode === 'reject' && comment.trim() === '' && <p className="fault">{t('reject_reason')}</p>}
          <div className="row">
            {may.approve && (
              <button
                type="submit"
                className="primary"
                disabled={pending || blocked !== undefined}
                aria-describedby="blocked"
              >
                <Icon name="check" />
                {t('approve')}
              </button>
            )}
            {may.edit && (
              <button type="button" disabled={pending || stale} onClick={() => setMode('edit')}>
                {t('edit')}
              </button>
            )}
            {may.reject && (
              <button
                type="button"
                className="danger"
                disabled={pending || stale}
                onClick={() => (comment.trim() === '' ? setMode('reject') : send('reject'))}
              >
                <Icon name="cross" />
                {t('reject')}
              </button>
            )}
          </div>
          <p id="blocked" className="muted">
            {may.approve ? blocked : visible(may.why ?? '')}
          </p>
          <p className="muted">
            {t('bound_to')} <code>{gate.action_sha256?.slice(0, 12)}…</code>
          </p>
        </form>
      )}
      <Dialog title={t('confirm')} open={mode === 'confirm'} onClose={() => setMode('choose')}>
        <p>
          <strong className="prose">{oneLine(gate.prompt)}</strong>
        </p>
        <p>{t('confirm_text')}</p>
        <div className="row">
          <button type="button" onClick={() => setMode('choose')}>
            {t('cancel')}
          </button>
          <button
            type="button"
            className="danger"
            disabled={pending || blocked !== undefined}
            onClick={() => {
              setMode('choose');
              send('approve');
            }}
          >
            {t('approve_this', { what: oneLine(sheet.asks.replace(/\?$/, '')) })}
          </button>
        </div>
      </Dialog>
    </Card>
  );
}
