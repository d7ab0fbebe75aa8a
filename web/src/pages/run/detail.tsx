import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { api, segment } from '../../api/client';
import type { Event, NodeView, RunView, SessionResponse } from '../../api/types';
import { useT } from '../../i18n';
import { Icon } from '../../ui/icon';
import { Dialog, Facts, Failure } from '../../ui/parts';
import { NodeBadge, RiskBadge } from '../../ui/state';
import { Ago, duration } from '../../ui/time';
import { Value, visible } from '../../ui/value';
import { domainOf, titleOf } from './model';

interface Props {
  view: RunView;
  node: NodeView;
  /** The attempt that was chosen in the timeline. */
  attempt: number | undefined;
  events: Event[];
  onStep: (id: string) => void;
  onClose: () => void;
}

/** Detail is everything that is known of one step. */
export function Detail({ view, node, attempt, events, onStep, onClose }: Props) {
  const t = useT();
  const gate = view.interrupts?.find((i) => i.node_id === node.node_id && i.status === 'open');
  const waits = (node.depends_on ?? [])
    .map((id) => view.nodes.find((n) => n.node_id === id))
    .filter((n) => n !== undefined);
  const then = view.nodes.filter((n) => n.depends_on?.includes(node.node_id));
  const mine = events.filter((e) => e.node_id === node.node_id && e.type === 'tool_call_end');
  const steps = (nodes: NodeView[]) =>
    nodes.length === 0 ? (
      '–'
    ) : (
      <ul className="plain">
        {nodes.slice(0, 12).map((n) => (
          <li key={n.node_id}>
            <button type="button" className="link" onClick={() => onStep(n.node_id)}>
              {visible(titleOf(n))}
            </button>{' '}
            <NodeBadge state={n.state} />
          </li>
        ))}
        {nodes.length > 12 && <li className="muted">{t('and_more', { n: nodes.length - 12 })}</li>}
      </ul>
    );
  return (
    <section className="detail card" aria-label={t('step_of', { name: visible(titleOf(node)) })}>
      <div className="card-head">
        <h2 id="step-title" tabIndex={-1}>
          {visible(titleOf(node))}
        </h2>
        <button type="button" className="quiet" onClick={onClose} aria-label={t('close')}>
          <Icon name="cross" />
        </button>
      </div>
      <p className="row">
        <NodeBadge state={node.state} />
        {node.policy && <RiskBadge risk={node.policy.risk_level} />}
        {node.tool && <code>{node.tool}</code>}
      </p>
      {gate && (
        <p>
          <Link to="/approvals/$gate" params={{ gate: gate.interrupt_id }} className="button primary">
            {t('review')}
          </Link>
        </p>
      )}
      {node.queued_for && <p>{t('waits_for', { what: visible(node.queued_for) })}</p>}
      {node.summary && <p className="prose">{visible(node.summary)}</p>}
      {node.error && (
        <div className="notice tone-bad">
          <Icon name="cross" />
          <div>
            <strong>{visible(node.error.type)}</strong>
            <p className="prose">{visible(node.error.message)}</p>
            <p className="muted">{t(node.error.retryable ? 'error_retryable' : 'error_final')}</p>
          </div>
        </div>
      )}
      {node.fallback && <p className="prose">{t('fallback', { why: visible(node.fallback) })}</p>}
      <Undo view={view} node={node} />
      <Facts
        rows={[
          [t('col_domain'), domainOf(node) || '–'],
          [t('col_attempts'), String(node.attempts)],
          [t('col_started'), node.started_at ? <Ago key="s" at={node.started_at} /> : '–'],
          [t('col_machine'), node.machine_ms ? duration(node.machine_ms) : '–'],
          [t('col_people'), node.human_ms ? duration(node.human_ms) : '–'],
          [t('required'), t(node.required ? 'yes' : 'no')],
        ]}
      />
      <Section title={t('waited_for')}>{steps(waits)}</Section>
      <Section title={t('leads_to')}>{steps(then)}</Section>
      <Values title={t('input')} values={{ ...node.params, ...node.bound }} />
      <Values title={t('output')} values={{ ...node.facts, ...node.artifacts }} />
      {node.checks && node.checks.length > 0 && (
        <Section title={t('checks')}>
          <ul className="plain">
            {node.checks.map((c, i) => (
              <li key={i}>
                <Icon name={c.ok ? 'check' : 'cross'} /> {t(c.ok ? 'check_ok' : 'check_failed')}: {visible(c.name)}{' '}
                {visible(c.detail ?? '')}
              </li>
            ))}
          </ul>
        </Section>
      )}
      {mine.length > 0 && (
        <Section title={t('attempts')}>
          <ol className="plain">
            {mine.map((e, i) => (
              <li
                key={e.seq}
                className={i + 1 === attempt ? 'chosen' : ''}
                aria-current={i + 1 === attempt ? 'true' : undefined}
                ref={i + 1 === attempt ? inView : undefined}
              >
                {e.status} {e.duration_ms !== undefined && duration(e.duration_ms)} {visible(e.summary ?? '')}
              </li>
            ))}
          </ol>
        </Section>
      )}
      {node.calls && node.calls.length > 0 && (
        <Section title={t('model_calls')}>
          <ul className="plain">
            {node.calls.map((c, i) => (
              <li key={i}>
                {c.model}, {c.purpose}: {c.tokens.in} + {c.tokens.out} {t('col_tokens')}, {duration(c.duration_ms)}{' '}
                {visible(c.error ?? '')}
              </li>
            ))}
          </ul>
        </Section>
      )}
      {node.policy && (
        <Section title={t('policy')}>
          <Facts
            rows={[
              [t('policy_class'), node.policy.side_effect_class],
              [t('policy_approval'), node.policy.approval_required ? node.policy.approval.roles.join(', ') : t('no')],
              [t('policy_reason'), node.policy.reason ?? '–'],
              [t('policy_idempotency'), node.policy.idempotency],
              [t('policy_verify'), t(node.policy.verifier_required ? 'yes' : 'no')],
              [t('policy_timeout'), duration(node.policy.timeout_ms)],
            ]}
          />
        </Section>
      )}
    </section>
  );
}

const Section = ({ title, children }: { title: string; children: ReactNode }) => (
  <>
    <h3>{title}</h3>
    {children}
  </>
);

function Values({ title, values }: { title: string; values: Record<string, unknown> }) {
  const names = Object.keys(values);
  if (names.length === 0) return null;
  return (
    <Section title={title}>
      <dl className="values">
        {names.map((name) => (
          <div key={name}>
            <dt>{visible(name)}</dt>
            <dd>
              <Value value={values[name]} />
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

const inView = (element: HTMLElement | null) => element?.scrollIntoView({ block: 'nearest' });

/** Undo asks to take one write back: a run of its own, behind its own gate. */
function Undo({ view, node }: { view: RunView; node: NodeView }) {
  const t = useT();
  const navigate = useNavigate();
  const client = useQueryClient();
  const [asks, setAsks] = useState(false);
  const undo = useMutation({
    mutationFn: () =>
      api<SessionResponse>('POST', `/v1/runs/${segment(view.run_id)}/nodes/${segment(node.node_id)}/compensate`, {
        wait: 5,
      }),
    onSuccess: (s) => {
      setAsks(false);
      void client.invalidateQueries();
      const id = s.run_ids.at(-1);
      if (id) void navigate({ to: '/runs/$run', params: { run: id } });
    },
  });
  if (node.state !== 'completed' || !node.policy?.side_effect_class.startsWith('write') || view.plan.dry_run)
    return null;
  return (
    <>
      <button type="button" onClick={() => setAsks(true)}>
        <Icon name="undo" />
        {t('undo')}
      </button>
      <Dialog title={t('undo')} open={asks} onClose={() => setAsks(false)}>
        <p>{t('undo_text', { what: visible(titleOf(node)) })}</p>
        <Failure error={undo.error} />
        <div className="row">
          <button type="button" onClick={() => setAsks(false)}>
            {t('cancel')}
          </button>
          <button type="button" className="primary" disabled={undo.isPending} onClick={() => undo.mutate()}>
            {t('undo_ask')}
          </button>
        </div>
      </Dialog>
    </>
  );
}
