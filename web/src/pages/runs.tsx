import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { domains, type RunFilter, runCounts, runs } from '../api/queries';
import type { RunState, RunSummary } from '../api/types';
import { useT } from '../i18n';
import { useSession } from '../session';
import { Empty, Failure, Heading, Loading, Scroll } from '../ui/parts';
import { SearchField } from '../ui/search-field';
import { RunBadge, runLooks, VerdictBadge } from '../ui/state';
import { Ago, duration, Since } from '../ui/time';
import { visible } from '../ui/value';

export function Runs() {
  const t = useT();
  const search = useSearch({ from: '/runs' });
  const filter: RunFilter = search;
  const list = useInfiniteQuery(runs(filter));
  const all = useMemo(() => list.data?.pages.flatMap((page) => page.items) ?? [], [list.data]);
  const shown = useSteady(all, JSON.stringify(filter));
  const { rows } = shown;
  return (
    <>
      <Heading title={t('nav_runs')} />
      <Filters />
      <Failure error={list.error} retry={() => void list.refetch()} />
      {list.isPending && <Loading />}
      {shown.fresh > 0 && (
        <button type="button" className="fresh" onClick={shown.show}>
          {t('runs_fresh', { n: shown.fresh })}
        </button>
      )}
      {rows.length > 0 && <Table rows={rows} />}
      {list.isSuccess && rows.length === 0 && (
        <Nothing filtered={Boolean(search.state || search.q || search.domain || search.owner || search.before)} />
      )}
      <p className="muted" role="status">
        {list.isSuccess && (list.hasNextPage ? t('runs_more', { n: rows.length }) : t('runs_all', { n: rows.length }))}
      </p>
      {list.hasNextPage && (
        <button type="button" onClick={() => void list.fetchNextPage()} disabled={list.isFetchingNextPage}>
          {t('load_more')}
        </button>
      )}
    </>
  );
}

/**
 * useSteady keeps what somebody reads where it is: states move, but runs that are new wait behind a
 * button until they are asked for.
 */
function useSteady(all: RunSummary[], filter: string) {
  const [seen, setSeen] = useState({ filter, ids: new Set<string>() });
  const now = new Set(all.map((r) => r.run_id));
  if (seen.filter !== filter || (seen.ids.size === 0 && all.length > 0)) setSeen({ filter, ids: now });
  const lastSeen = all.findIndex((r) => seen.ids.has(r.run_id));
  const fresh = seen.filter === filter && seen.ids.size > 0 && lastSeen > 0 ? lastSeen : 0;
  return { rows: all.slice(fresh), fresh, show: () => setSeen({ filter, ids: now }) };
}

function Filters() {
  const t = useT();
  const navigate = useNavigate({ from: '/runs' });
  const search = useSearch({ from: '/runs' });
  const who = useSession();
  const names = useQuery(domains);
  const counts = useQuery(runCounts(search)).data;
  const mayAll = who.user.roles.some((role) => role === 'operator' || role === 'admin');
  return (
    <search className="filters">
      <label>
        {t('filter_state')}
        <select
          value={search.state ?? ''}
          onChange={(e) =>
            void navigate({ search: (s) => ({ ...s, state: (e.target.value || undefined) as RunState | undefined }) })
          }
        >
          <option value="">{t('filter_any')}</option>
          {(Object.keys(runLooks) as RunState[]).map((state) => (
            <option key={state} value={state}>
              {t(runLooks[state].word)} {counts && `(${counts.states[state] ?? 0}${counts.more ? '+' : ''})`}
            </option>
          ))}
        </select>
      </label>
      <SearchField
        label={t('filter_text')}
        value={search.q}
        onChange={(q) => void navigate({ search: (s) => ({ ...s, q }), replace: true })}
      />
      <label>
        {t('col_domain')}
        <select
          value={search.domain ?? ''}
          onChange={(e) => void navigate({ search: (s) => ({ ...s, domain: e.target.value || undefined }) })}
        >
          <option value="">{t('filter_any')}</option>
          {names.data?.items.map((d) => (
            <option key={d.domain}>{d.domain}</option>
          ))}
        </select>
      </label>
      {mayAll && (
        <label className="check">
          <input
            type="checkbox"
            checked={search.all ?? false}
            onChange={(e) => void navigate({ search: (s) => ({ ...s, all: e.target.checked || undefined }) })}
          />
          {t('filter_all')}
        </label>
      )}
    </search>
  );
}

function Table({ rows }: { rows: RunSummary[] }) {
  const t = useT();
  return (
    <Scroll label={t('runs_table')}>
      <table className="list">
        <thead>
          <tr>
            <th scope="col">{t('col_state')}</th>
            <th scope="col">{t('col_goal')}</th>
            <th scope="col">{t('col_owner')}</th>
            <th scope="col">{t('col_started')}</th>
            <th scope="col" className="number">
              {t('col_took')}
            </th>
            <th scope="col" className="number">
              {t('col_people')}
            </th>
            <th scope="col" className="number">
              {t('col_tokens')}
            </th>
            <th scope="col">{t('col_verdict')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((r) => (
            <tr key={r.run_id}>
              <td>
                <RunBadge state={r.state} />
              </td>
              <th scope="row">
                <Link to="/runs/$run" params={{ run: r.run_id }} data-row>
                  {visible(r.goal) || r.run_id}
                </Link>
              </th>
              <td>{r.owner}</td>
              <td>
                <Ago at={r.created_at} />
              </td>
              <td className="number">
                <Since at={r.created_at} until={r.finished_at} />
              </td>
              <td className="number">{r.human_ms > 0 ? duration(r.human_ms) : '–'}</td>
              <td className="number">{r.tokens.in + r.tokens.out || '–'}</td>
              <td>{r.finished_at ? <VerdictBadge status={r.verdict} /> : <span className="muted">–</span>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function Nothing({ filtered }: { filtered: boolean }) {
  const t = useT();
  if (!filtered) {
    return (
      <Empty title={t('runs_none')}>
        <Link to="/try" className="button">
          {t('nav_try')}
        </Link>
      </Empty>
    );
  }
  return (
    <Empty title={t('runs_none_fit')}>
      <Link to="/runs" className="button">
        {t('filter_clear')}
      </Link>
    </Empty>
  );
}
