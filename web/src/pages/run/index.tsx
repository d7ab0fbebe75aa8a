import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useCallback, useEffect, useMemo, useState } from 'react';
import { api, segment } from '../../api/client';
import { figures as figuresQuery, run as runQuery } from '../../api/queries';
import type { NodeView, RunMetrics, RunView } from '../../api/types';
import { useT } from '../../i18n';
import type { LiveState } from '../../live/stream';
import { useRun } from '../../live/use-run';
import type { RunShow, RunTab } from '../../routes';
import { AnswerView, VerdictView } from '../../ui/answer';
import { Icon } from '../../ui/icon';
import { useKeys } from '../../ui/keys';
import { Card, Copy, Dialog, Facts, Failure, Heading, Loading, Tabs } from '../../ui/parts';
import { nodeLooks, RunBadge } from '../../ui/state';
import { Ago, duration, Since } from '../../ui/time';
import { oneLine } from '../../ui/value';
import { Attention } from './attention';
import { Critical } from './critical';
import { Detail } from './detail';
import { Events } from './events';
import { Ledger } from './ledger';
import { counts, done, needsAttention } from './model';
import { Timeline } from './timeline';

const Graph = lazy(() => import('./graph'));

export function Run() {
  const t = useT();
  const { run: id } = useParams({ from: '/runs/$run' });
  const [paused, setPaused] = useState(false);
  const { view, events, live, heard } = useRun(id, paused);
  const figures = useQuery(figuresQuery(id));
  if (view.isPending) return <Loading />;
  if (!view.data) {
    return (
      <>
        <Heading title={t('run')} />
        <Failure error={view.error} retry={() => void view.refetch()} />
        <Link to="/runs">{t('nav_runs')}</Link>
      </>
    );
  }
  return (
    <Whole key={id} view={view.data} figures={figures.data} events={events}>
      <Live state={live} heard={heard} failed={view.isError} paused={paused} onPause={() => setPaused(!paused)} />
    </Whole>
  );
}

interface WholeProps {
  view: RunView;
  figures: RunMetrics | undefined;
  events: ReturnType<typeof useRun>['events'];
  children: React.ReactNode;
}

function Whole({ view, figures, events, children }: WholeProps) {
  const t = useT();
  const navigate = useNavigate({ from: '/runs/$run' });
  const { view: tab = 'graph', show, step, attempt } = useSearch({ from: '/runs/$run' });
  const path = figures?.critical_path.nodes;
  const critical = useMemo(() => new Set(path), [path]);
  const bright = useCallback(
    (n: NodeView) => (show === 'critical' ? critical.has(n.node_id) : show === 'attention' ? needsAttention(n) : true),
    [show, critical],
  );
  const setTab = useCallback(
    (next: RunTab) => void navigate({ search: (s) => ({ ...s, view: next, q: undefined }), replace: true }),
    [navigate],
  );
  const setShow = useCallback(
    (next: RunShow | undefined) => void navigate({ search: (s) => ({ ...s, show: next }), replace: true }),
    [navigate],
  );
  const setStep = useCallback(
    (next: string | undefined, attempt?: number) =>
      void navigate({ search: (s) => ({ ...s, step: next, attempt }), replace: true, resetScroll: false }),
    [navigate],
  );
  const node = view.nodes.find((n) => n.node_id === step);
  const back = useFocusReturn(step);

  const keys = useMemo(
    () => ({
      '1': () => setTab('graph'),
      '2': () => setTab('timeline'),
      '3': () => setTab('events'),
      '4': () => setTab('ledger'),
      c: () => setShow(show === 'critical' ? undefined : 'critical'),
      n: () => {
        const all = view.nodes.filter(needsAttention);
        const at = all.findIndex((n) => n.node_id === step);
        setStep(all[(at + 1) % Math.max(1, all.length)]?.node_id);
      },
      ['Escape' as string]: () => {
        setStep(undefined);
        back();
      },
    }),
    [setTab, setShow, setStep, show, step, view.nodes, back],
  );
  useKeys(keys);

  const shown = show ? view.nodes.filter(bright) : view.nodes;
  return (
    <>
      <Heading title={oneLine(view.plan.goal) || t('run')} page={`${t('run')} ${view.run_id.slice(4, 10)}`}>
        <RunBadge state={view.state} />
        {children}
        <Actions view={view} events={events} />
      </Heading>
      <Attention view={view} onStep={setStep} />
      <Summary view={view} figures={figures} />
      {view.answer && view.answer.blocks.length > 0 && (
        <Card title={t('answer')} id="answer" actions={<VerdictView verdict={view.verdict ?? view.answer.verdict} />}>
          <AnswerView answer={view.answer} />
        </Card>
      )}
      <div className={node ? 'split' : ''}>
        <section className="card" aria-labelledby="steps">
          <div className="card-head">
            <h2 id="steps" tabIndex={-1}>
              {t('steps')}
            </h2>
            <Tabs
              label={t('views')}
              current={tab}
              onChange={setTab}
              tabs={[
                { id: 'graph', name: t('graph') },
                { id: 'timeline', name: t('timeline') },
                { id: 'events', name: t('events') },
                { id: 'ledger', name: t('ledger') },
              ]}
            />
            <Tabs<RunShow | 'all'>
              label={t('show')}
              current={show ?? 'all'}
              onChange={(next) => setShow(next === 'all' ? undefined : next)}
              tabs={[
                { id: 'all', name: t('show_everything') },
                { id: 'attention', name: t('show_attention') },
                { id: 'critical', name: t('critical_path') },
              ]}
            />
          </div>
          {tab === 'graph' && (
            <Suspense fallback={<Loading />}>
              <Graph nodes={view.nodes} critical={critical} bright={bright} step={step} onStep={setStep} />
            </Suspense>
          )}
          {tab === 'timeline' && (
            <Timeline
              view={view}
              nodes={shown}
              events={events}
              critical={critical}
              step={step}
              attempt={attempt}
              onStep={setStep}
            />
          )}
          {tab === 'events' && <Events events={events} onStep={setStep} />}
          {tab === 'ledger' && <Ledger id={view.run_id} ended={view.finished_at !== undefined} />}
        </section>
        {node && (
          <Detail
            view={view}
            node={node}
            attempt={attempt}
            events={events}
            onStep={setStep}
            onClose={() => {
              setStep(undefined);
              back();
            }}
          />
        )}
      </div>
      <Card title={t('critical_title')} id="critical">
        {figures ? <Critical nodes={view.nodes} figures={figures} onStep={setStep} /> : <Loading />}
      </Card>
      <Decided view={view} />
    </>
  );
}

/** useFocusReturn moves the focus into the panel of a step, and back to where it was. */
function useFocusReturn(step: string | undefined) {
  const [from, setFrom] = useState<HTMLElement | null>(null);
  const [seen, setSeen] = useState<string>();
  useEffect(() => {
    if (step === seen) return;
    setSeen(step);
    if (!step) return;
    const active = document.activeElement;
    if (active instanceof HTMLElement && !active.closest('.detail')) setFrom(active);
    document.getElementById('step-title')?.focus();
  }, [step, seen]);
  return useCallback(() => requestAnimationFrame(() => from?.isConnected && from.focus()), [from]);
}

function Summary({ view, figures }: { view: RunView; figures: RunMetrics | undefined }) {
  const t = useT();
  const domains = [...new Set(view.nodes.map((n) => n.tool?.split('.')[0]).filter((d) => d !== undefined))];
  const tally = counts(view.nodes);
  const tokens = view.tokens.in + view.tokens.out;
  return (
    <Card title={t('summary')} id="summary">
      <Facts
        rows={[
          [t('col_owner'), view.plan.owner.on_behalf_of ?? view.plan.owner.id],
          [t('col_started'), <Ago key="a" at={view.created_at} />],
          [t('col_took'), <Since key="s" at={view.created_at} until={view.finished_at} />],
          [t('col_people'), duration(view.timing.human_ms)],
          [t('col_machine'), duration(view.timing.machine_ms)],
          [t('steps'), t('steps_done', { n: done(view.nodes), all: view.nodes.length })],
          [t('nav_domains'), domains.join(', ') || '–'],
          [
            t('col_tokens'),
            tokens === 0 ? t('no_model') : t('tokens_both', { in: view.tokens.in, out: view.tokens.out }),
          ],
          [t('calls'), figures ? String(Object.values(figures.calls).reduce((a, b) => a + b, 0)) : '–'],
          [t('strategy'), view.plan.strategy],
          [t('plan_hash'), <code key="h">{view.plan.plan_hash.slice(0, 16)}…</code>],
          [t('run'), <code key="r">{view.run_id}</code>],
          [t('trace'), <Trace key="t" id={view.trace_id} url={view.trace_url} />],
        ]}
      />
      <p className="steps-bar" aria-hidden="true">
        {tally.map(([state, n]) => (
          <span
            key={state}
            className={`bar tone-${nodeLooks[state].tone}`}
            style={{ flexGrow: n }}
            title={`${n} ${t(nodeLooks[state].word)}`}
          />
        ))}
      </p>
      <p className="muted">{tally.map(([state, n]) => `${n} ${t(nodeLooks[state].word).toLowerCase()}`).join(' · ')}</p>
      {view.plan.dry_run && <p>{t('dry_run_note')}</p>}
    </Card>
  );
}

/** Trace is the id of a run's trace, and where the site shows it, if it has said so. */
function Trace({ id, url }: { id: string | undefined; url: string | undefined }) {
  const t = useT();
  if (!id) return '–';
  return (
    <>
      <code>{id}</code>{' '}
      <Copy text={() => id} name={t('copy_trace')}>
        {t('copy')}
      </Copy>{' '}
      {url && /^https?:\/\//.test(url) && (
        <a href={url} target="_blank" rel="noopener noreferrer">
          {t('open_trace')}
        </a>
      )}
    </>
  );
}

interface LiveProps {
  state: LiveState;
  heard: number;
  failed: boolean;
  paused: boolean;
  onPause: () => void;
}

const liveLooks: Record<LiveState, { tone: string; icon: 'running' | 'check' | 'asks' | 'warning' }> = {
  connecting: { tone: 'idle', icon: 'running' },
  live: { tone: 'run', icon: 'running' },
  reconnecting: { tone: 'warn', icon: 'warning' },
  polling: { tone: 'run', icon: 'running' },
  paused: { tone: 'ask', icon: 'asks' },
  ended: { tone: 'idle', icon: 'check' },
};

/** Live says in words how current the page is. */
function Live({ state, heard, failed, paused, onPause }: LiveProps) {
  const t = useT();
  const shown = failed && state === 'live' ? 'reconnecting' : state;
  const keys = useMemo(() => ({ p: onPause }), [onPause]);
  useKeys(keys);
  return (
    <>
      <span className={`badge tone-${liveLooks[shown].tone}`} role="status">
        <Icon name={liveLooks[shown].icon} />
        {t(`live_${shown}`)}
        {shown === 'reconnecting' && (
          <>
            {' '}
            <Ago at={new Date(heard).toISOString()} />
          </>
        )}
      </span>
      {state !== 'ended' && (
        <button type="button" className="quiet" aria-pressed={paused} onClick={onPause}>
          {t(paused ? 'resume' : 'pause')}
        </button>
      )}
    </>
  );
}

function Actions({ view, events }: { view: RunView; events: unknown[] }) {
  const t = useT();
  const client = useQueryClient();
  const [asks, setAsks] = useState(false);
  const cancel = useMutation({
    mutationFn: () => api<RunView>('POST', `/v1/runs/${segment(view.run_id)}/cancel`),
    onSuccess: (next) => {
      setAsks(false);
      client.setQueryData(runQuery(view.run_id).queryKey, next);
    },
  });
  return (
    <div className="actions">
      <Link to="/try" search={{ say: view.plan.goal }} className="button">
        {t('ask_again')}
      </Link>
      <Link to="/runs/$run/print" params={{ run: view.run_id }} className="button">
        {t('print')}
      </Link>
      <Copy text={() => JSON.stringify({ run: view, events }, null, 2)}>{t('copy_json')}</Copy>
      {!view.finished_at && (
        <button type="button" className="danger" onClick={() => setAsks(true)}>
          {t('cancel_run')}
        </button>
      )}
      <Dialog title={t('cancel_run')} open={asks} onClose={() => setAsks(false)}>
        <p>{t('cancel_text')}</p>
        <Failure error={cancel.error} />
        <div className="row">
          <button type="button" onClick={() => setAsks(false)}>
            {t('keep_running')}
          </button>
          <button type="button" className="danger" disabled={cancel.isPending} onClick={() => cancel.mutate()}>
            {t('cancel_run')}
          </button>
        </div>
      </Dialog>
    </div>
  );
}

/** Decided lists the questions of a run and what people said to them. */
function Decided({ view }: { view: RunView }) {
  const t = useT();
  const all = (view.interrupts ?? []).filter((i) => i.status !== 'open');
  if (all.length === 0) return null;
  return (
    <Card title={t('decided')} id="decided">
      <ul className="plain">
        {all.map((i) => (
          <li key={i.interrupt_id}>
            <Link to="/approvals/$gate" params={{ gate: i.interrupt_id }}>
              {oneLine(i.prompt)}
            </Link>{' '}
            {i.decisions?.map((d) => (
              <span key={d.decided_at}>
                {t(`did_${d.decision}`, { who: d.decided_by })} <Ago at={d.decided_at} />{' '}
                {d.comment && `“${oneLine(d.comment)}”`}{' '}
              </span>
            ))}
          </li>
        ))}
      </ul>
    </Card>
  );
}
