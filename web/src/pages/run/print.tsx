import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import { eventsAfter, figures as figuresQuery, run as runQuery } from '../../api/queries';
import type { Event } from '../../api/types';
import { useT } from '../../i18n';
import { AnswerView } from '../../ui/answer';
import { Facts, Failure, Heading, Loading, Scroll } from '../../ui/parts';
import { RunBadge, VerdictBadge } from '../../ui/state';
import { At, duration } from '../../ui/time';
import { oneLine, plain, visible } from '../../ui/value';
import { Critical } from './critical';
import { Drawing } from './drawing';
import { save, svgOf, timelineCSV } from './export';
import { bars } from './model';
import { Timeline } from './timeline';

/** Print is a run on paper: what is stored, nothing that moves. */
export function Print() {
  const t = useT();
  const { run: id } = useParams({ from: '/runs/$run/print' });
  const view = useQuery(runQuery(id));
  const figures = useQuery(figuresQuery(id));
  const [events, setEvents] = useState<Event[]>([]);
  useEffect(() => {
    void eventsAfter(id, 0).then(setEvents, () => {});
  }, [id]);
  const drawing = useRef<HTMLDivElement>(null);
  const path = figures.data?.critical_path.nodes;
  const critical = useMemo(() => new Set(path), [path]);
  if (view.isPending) return <Loading />;
  const r = view.data;
  if (!r) return <Failure error={view.error} />;
  const begun = Date.parse(r.created_at);
  const end = r.finished_at ? Date.parse(r.finished_at) : Date.now();
  return (
    <article className="paper">
      <p className="row screen-only">
        <Link to="/runs/$run" params={{ run: id }}>
          {t('back')}
        </Link>
        <button type="button" onClick={() => window.print()}>
          {t('print')}
        </button>
        <button
          type="button"
          onClick={() => save(`${id}.csv`, 'text/csv', timelineCSV(bars(r.nodes, events, begun, end)))}
        >
          {t('timeline_csv')}
        </button>
        <button type="button" onClick={() => save(`${id}.svg`, 'image/svg+xml', svgOf(drawing.current))}>
          {t('graph_svg')}
        </button>
      </p>
      <Heading title={oneLine(r.plan.goal)}>
        <RunBadge state={r.state} />
        <VerdictBadge status={r.verdict?.status} />
      </Heading>
      <Facts
        rows={[
          [t('run'), r.run_id],
          [t('plan_hash'), r.plan.plan_hash],
          [t('col_owner'), r.plan.owner.on_behalf_of ?? r.plan.owner.id],
          [t('col_started'), <At key="a" at={r.created_at} />],
          [t('col_ended'), r.finished_at ? <At key="e" at={r.finished_at} /> : '–'],
          [t('col_machine'), duration(r.timing.machine_ms)],
          [t('col_people'), duration(r.timing.human_ms)],
        ]}
      />
      {r.answer && (
        <>
          <h2>{t('answer')}</h2>
          <AnswerView answer={r.answer} />
        </>
      )}
      <h2>{t('nav_approvals')}</h2>
      {(r.interrupts ?? []).map((i) => (
        <section key={i.interrupt_id}>
          <h3>{oneLine(i.prompt)}</h3>
          {i.action && <pre className="value">{visible(plain(i.action.parameters))}</pre>}
          {i.decisions?.map((d) => (
            <p key={d.decided_at}>
              {t(`did_${d.decision}`, { who: d.decided_by })} <At at={d.decided_at} /> {d.comment}
            </p>
          ))}
        </section>
      ))}
      <h2>{t('graph')}</h2>
      <div ref={drawing}>
        <Drawing nodes={r.nodes} critical={critical} />
      </div>
      <h2>{t('timeline')}</h2>
      <Timeline view={r} nodes={r.nodes} events={events} critical={critical} step={undefined} onStep={() => {}} />
      <h2>{t('critical_title')}</h2>
      {figures.data && <Critical nodes={r.nodes} figures={figures.data} onStep={() => {}} />}
      <h2>{t('checks')}</h2>
      <ul>
        {r.verdict?.checks?.map((c, i) => (
          <li key={i}>
            {t(c.ok ? 'check_ok' : 'check_failed')}: {visible(c.name)} {visible(c.detail ?? '')}
          </li>
        ))}
      </ul>
      <h2>{t('events')}</h2>
      <Scroll label={t('events')}>
        <table>
          <tbody>
            {events.map((e) => (
              <tr key={e.seq}>
                <td>{e.seq}</td>
                <td>
                  <At at={e.at} />
                </td>
                <td>{e.type}</td>
                <td>{oneLine(`${e.node_name ?? ''} ${e.status ?? ''} ${e.summary ?? ''}`)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </article>
  );
}
