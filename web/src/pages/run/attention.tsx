import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api, segment } from '../../api/client';
import { run } from '../../api/queries';
import type { NodeView, RunView } from '../../api/types';
import { useT } from '../../i18n';
import { Icon, type IconName } from '../../ui/icon';
import { Failure } from '../../ui/parts';
import { Ago, Expiry } from '../../ui/time';
import { oneLine, visible } from '../../ui/value';
import { titleOf } from './model';

/** Attention says what somebody should do or know, the most urgent first. */
export function Attention({ view, onStep }: { view: RunView; onStep: (id: string) => void }) {
  const t = useT();
  const open = (view.interrupts ?? []).filter((i) => i.status === 'open');
  open.sort((a, b) => (a.expires_at ?? '9').localeCompare(b.expires_at ?? '9'));
  const failed = view.nodes.filter((n) => n.state === 'failed' || n.state === 'rejected');
  const fallen = view.nodes.filter((n) => n.fallback);
  const doubt = view.verdict && !view.verdict.shadow && view.verdict.status !== 'verified';
  return (
    <>
      {view.held_since && <Held view={view} />}
      {open.map((i) => (
        <Strip key={i.interrupt_id} tone="ask" icon="asks" title={t(i.action ? 'needs_approval' : 'needs_answer')}>
          <p className="prose">{oneLine(i.prompt)}</p>
          <p className="row">
            <Link to="/approvals/$gate" params={{ gate: i.interrupt_id }} className="button primary">
              {t('review')}
            </Link>
            <span>{i.roles && i.roles.length > 0 && t('waits_for_roles', { roles: i.roles.join(', ') })}</span>
            <Expiry at={i.expires_at} />
          </p>
        </Strip>
      ))}
      {failed.slice(0, 5).map((n) => (
        <Strip
          key={n.node_id}
          tone={n.required ? 'bad' : 'warn'}
          icon={n.required ? 'cross' : 'warning'}
          title={t(n.state === 'rejected' ? 'step_rejected' : n.required ? 'step_failed' : 'step_degraded', {
            name: visible(titleOf(n)),
          })}
        >
          <p className="prose">{visible(n.error?.message ?? n.summary ?? '')}</p>
          <Effect view={view} of={n} />
          <button type="button" className="link" onClick={() => onStep(n.node_id)}>
            {t('show_step')}
          </button>
        </Strip>
      ))}
      {failed.length > 5 && <p className="muted">{t('and_more', { n: failed.length - 5 })}</p>}
      {fallen.slice(0, 3).map((n) => (
        <Strip key={n.node_id} tone="warn" icon="warning" title={t('step_fallback', { name: visible(titleOf(n)) })}>
          <p className="prose">{visible(n.fallback ?? '')}</p>
          <Effect view={view} of={n} />
        </Strip>
      ))}
      {doubt && (
        <Strip tone="warn" icon="warning" title={t('doubt')}>
          {view.verdict?.reasons?.map((r) => (
            <p key={r} className="prose">
              {visible(r)}
            </p>
          ))}
          {view.verdict?.fixes?.map((r) => (
            <p key={r} className="prose">
              {visible(r)}
            </p>
          ))}
        </Strip>
      )}
    </>
  );
}

/** Effect says since when a step is so, and which later ones build on it. */
function Effect({ view, of }: { view: RunView; of: NodeView }) {
  const t = useT();
  const on = new Set([of.node_id]);
  for (const n of view.nodes) if (n.depends_on?.some((id) => on.has(id))) on.add(n.node_id);
  const later = view.nodes.filter((n) => n !== of && on.has(n.node_id)).map((n) => visible(titleOf(n)));
  return (
    <p className="muted">
      {of.finished_at && (
        <>
          {t('since')} <Ago at={of.finished_at} />.{' '}
        </>
      )}
      {later.length > 0 ? t('affects', { steps: later.join(', ') }) : t('affects_none')}
    </p>
  );
}

function Held({ view }: { view: RunView }) {
  const t = useT();
  const client = useQueryClient();
  const release = useMutation({
    mutationFn: () => api('POST', `/v1/runs/${segment(view.run_id)}/release`),
    onSettled: () => void client.invalidateQueries(run(view.run_id)),
  });
  return (
    <Strip tone="warn" icon="warning" title={t('held')}>
      <p>{t('held_text')}</p>
      <Failure error={release.error} />
      <button type="button" onClick={() => release.mutate()} disabled={release.isPending}>
        {t('release')}
      </button>
    </Strip>
  );
}

interface StripProps {
  tone: string;
  icon: IconName;
  title: string;
  children: React.ReactNode;
}

const Strip = ({ tone, icon, title, children }: StripProps) => (
  <div className={`notice tone-${tone}`}>
    <Icon name={icon} />
    <div>
      <strong>{title}</strong>
      {children}
    </div>
  </div>
);
