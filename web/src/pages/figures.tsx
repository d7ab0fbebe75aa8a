import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { domains, stats } from '../api/queries';
import type { GroupStats, Stats } from '../api/types';
import { type Key, useT } from '../i18n';
import { useSession } from '../session';
import { Icon } from '../ui/icon';
import { Card, Empty, Facts, Failure, Heading, Loading, RunLink, Scroll } from '../ui/parts';
import { At, duration } from '../ui/time';

const percent = (share: number) => `${Math.round(share * 100)} %`;

export function Figures() {
  const t = useT();
  const navigate = useNavigate({ from: '/figures' });
  const search = useSearch({ from: '/figures' });
  const names = useQuery(domains);
  const all = useSession().user.roles.some((r) => r === 'operator' || r === 'admin');
  const query = useQuery(stats(search));
  const s = query.data;
  return (
    <>
      <Heading title={t('nav_figures')} />
      <search className="filters">
        <label>
          {t('col_domain')}
          <select
            value={search.domain ?? ''}
            onChange={(e) => void navigate({ search: (o) => ({ ...o, domain: e.target.value || undefined }) })}
          >
            <option value="">{t('filter_any')}</option>
            {names.data?.items.map((d) => (
              <option key={d.domain}>{d.domain}</option>
            ))}
          </select>
        </label>
        <label>
          {t('last_runs')}
          <select
            value={search.last ?? 200}
            onChange={(e) => void navigate({ search: (o) => ({ ...o, last: Number(e.target.value) }) })}
          >
            {[50, 200, 1000, 2000].map((n) => (
              <option key={n}>{n}</option>
            ))}
          </select>
        </label>
        {all && (
          <label className="check">
            <input
              type="checkbox"
              checked={search.all ?? false}
              onChange={(e) => void navigate({ search: (o) => ({ ...o, all: e.target.checked || undefined }) })}
            />
            {t('filter_all')}
          </label>
        )}
      </search>
      <Failure error={query.error} retry={() => void query.refetch()} />
      {query.isPending && <Loading />}
      {s && s.runs === 0 && <Empty title={t('figures_none')} />}
      {s && s.runs > 0 && <Whole stats={s} />}
    </>
  );
}

const counters: [keyof Stats['safety'], Key][] = [
  ['approvals_bypassed', 'safe_bypassed'],
  ['write_collisions', 'safe_collisions'],
  ['failed_resumes', 'safe_resumes'],
  ['audit_holes', 'safe_holes'],
];

function Whole({ stats: s }: { stats: Stats }) {
  const t = useT();
  return (
    <>
      <Card title={t('safety')} id="safety">
        <p className="muted">{t('safety_note')}</p>
        <ul className="counters">
          {counters.map(([name, word]) => (
            <li key={name} className={`counter tone-${s.safety[name] === 0 ? 'ok' : 'bad'}`}>
              <span className="counter-number">
                <Icon name={s.safety[name] === 0 ? 'check' : 'cross'} /> {s.safety[name]}
              </span>
              {t(word)}
            </li>
          ))}
        </ul>
        {s.unsafe && s.unsafe.length > 0 && (
          <p>
            {s.unsafe.map((id) => (
              <span key={id}>
                <RunLink id={id} />{' '}
              </span>
            ))}
          </p>
        )}
      </Card>
      <Card title={t('figures_all', { n: s.runs })} id="all">
        <Facts
          rows={[
            [t('since'), s.since ? <At key="s" at={s.since} /> : '–'],
            [t('completion'), percent(s.all.completion)],
            [t('score'), s.all.score.toFixed(2)],
            [
              t('first_useful'),
              t('middle_and_slow', {
                p50: duration(s.all.first_useful_ms.p50),
                p95: duration(s.all.first_useful_ms.p95),
              }),
            ],
            [
              t('col_machine'),
              t('middle_and_slow', { p50: duration(s.all.machine_ms.p50), p95: duration(s.all.machine_ms.p95) }),
            ],
            [
              t('col_people'),
              t('middle_and_slow', { p50: duration(s.all.human_ms.p50), p95: duration(s.all.human_ms.p95) }),
            ],
            [
              t('critical_path'),
              t('middle_and_slow', { p50: duration(s.all.critical_ms.p50), p95: duration(s.all.critical_ms.p95) }),
            ],
            [t('parallelism_name'), s.all.parallelism.toFixed(2)],
            [t('drift'), percent(s.all.drift)],
            [t('col_tokens'), t('tokens_both', { in: s.all.tokens.in, out: s.all.tokens.out })],
            [t('calls'), String(s.all.calls)],
            [t('repairs'), String(s.repairs)],
          ]}
        />
      </Card>
      <Groups title={t('by_strategy')} id="strategy" groups={s.by_strategy} />
      <Groups title={t('by_flags')} id="flags" groups={s.by_flags} />
      <Counts title={t('by_capability')} counts={Object.entries(s.calls).sort((a, b) => b[1] - a[1])} />
      <Card title={t('by_phase')} id="phases">
        <Scroll label={t('by_phase')}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t('phase')}</th>
                <th scope="col" className="number">
                  {t('steps')}
                </th>
                <th scope="col" className="number">
                  {t('col_machine')}
                </th>
                <th scope="col" className="number">
                  {t('col_people')}
                </th>
              </tr>
            </thead>
            <tbody>
              {s.phases.map((p) => (
                <tr key={p.phase ?? ''}>
                  <th scope="row">{p.phase || '–'}</th>
                  <td className="number">{p.steps}</td>
                  <td className="number">{duration(p.machine_ms)}</td>
                  <td className="number">{duration(p.human_ms)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      </Card>
    </>
  );
}

function Groups({ title, id, groups }: { title: string; id: string; groups: GroupStats[] }) {
  const t = useT();
  return (
    <Card title={title} id={id}>
      <Scroll label={title}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t('name')}</th>
              <th scope="col" className="number">
                {t('nav_runs')}
              </th>
              <th scope="col" className="number">
                {t('completion')}
              </th>
              <th scope="col" className="number">
                {t('col_machine')}
              </th>
              <th scope="col" className="number">
                {t('col_people')}
              </th>
              <th scope="col" className="number">
                {t('parallelism_name')}
              </th>
              <th scope="col" className="number">
                {t('score')}
              </th>
            </tr>
          </thead>
          <tbody>
            {groups.map((g) => (
              <tr key={g.name ?? ''}>
                <th scope="row">{g.name}</th>
                <td className="number">{g.runs}</td>
                <td className="number">{percent(g.completion)}</td>
                <td className="number">{duration(g.machine_ms.p50)}</td>
                <td className="number">{duration(g.human_ms.p50)}</td>
                <td className="number">{g.parallelism.toFixed(2)}</td>
                <td className="number">{g.score.toFixed(2)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </Card>
  );
}

function Counts({ title, counts }: { title: string; counts: [string, number][] }) {
  const t = useT();
  const most = counts[0]?.[1] ?? 1;
  return (
    <Card title={title} id="counts">
      <Scroll label={title}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t('capability')}</th>
              <th scope="col" className="number">
                {t('calls')}
              </th>
              <th scope="col" className="wide">
                <span className="hidden">{t('col_share')}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {counts.slice(0, 40).map(([name, n]) => (
              <tr key={name}>
                <th scope="row">
                  <code>{name}</code>
                </th>
                <td className="number">{n}</td>
                <td className="wide">
                  <span className="track" aria-hidden="true">
                    <span
                      className="bar segment tone-run"
                      style={{ left: 0, width: `max(4px, ${(n / most) * 100}%)` }}
                    />
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </Card>
  );
}
