import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { type Call, changesOf, look, planCalls, type Row, rowsOf, runPlan, type Versioned } from '../api/call';
import { ApiError, api, segment } from '../api/client';
import type { NodeView } from '../api/types';
import { useT } from '../i18n';
import { Card, Dialog, Empty, Failure, Loading, RunLink, Scroll } from '../ui/parts';
import { SearchField } from '../ui/search-field';
import { RunBadge } from '../ui/state';
import { Ago } from '../ui/time';
import { oneLine, plain, visible } from '../ui/value';

/** useLook reads once, and again when somebody asks for it: each look is a run. */
function useLook(call: Call | undefined, goal: string) {
  return useQuery({
    queryKey: ['look', call],
    queryFn: ({ signal }) => look(call as Call, goal, signal),
    enabled: call !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 600_000,
    retry: false,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
}

type Search = { thing?: string; from?: string; to?: string };

/** Versions shows the things of a domain that have versions, what differs between two, and goes back to one. */
export function Versions({ kind }: { kind: Versioned }) {
  const t = useT();
  const { q, thing } = useSearch({ from: '/domains/$domain' });
  const navigate = useNavigate({ from: '/domains/$domain' });
  const call = { domain: kind.domain, capability: kind.list, parameters: q && kind.search ? { query: q } : {} };
  const list = useLook(call, t('versions_things'));
  const things = rowsOf(list.data?.node?.facts);
  return (
    <>
      <Card title={t('versions_things')} id="things" actions={<Source looked={list} />}>
        {kind.search && (
          <search className="filters">
            <SearchField
              label={t('search')}
              value={q}
              onChange={(next) => void navigate({ search: (s) => ({ ...s, q: next }), replace: true })}
            />
          </search>
        )}
        <Outcome looked={list} />
        {list.isSuccess && things.length === 0 && <Empty title={t('versions_none')} />}
        <ul className="inline">
          {things.map((row) => (
            <li key={plain(row[kind.thing])}>
              <Link
                to="/domains/$domain"
                params={{ domain: kind.domain }}
                search={{ tab: 'versions', q, thing: plain(row[kind.thing]) }}
                data-row
                aria-current={row[kind.thing] === thing || undefined}
              >
                {oneLine(plain(row.name ?? row.title ?? row[kind.thing]))}
              </Link>
            </li>
          ))}
        </ul>
      </Card>
      {thing && <History key={thing} kind={kind} thing={thing} />}
    </>
  );
}

type Looking = ReturnType<typeof useLook>;

/** Source leads to the run that a look was made by, and looks again. */
function Source({ looked }: { looked: Looking }) {
  const t = useT();
  return (
    <span className="row muted">
      {looked.data && <RunLink id={looked.data.run.run_id}>{t('looked_by')}</RunLink>}
      <button type="button" className="quiet" disabled={looked.isFetching} onClick={() => void looked.refetch()}>
        {t('look_again')}
      </button>
    </span>
  );
}

/** Outcome says what a look has come to, unless it has simply found something. */
function Outcome({ looked }: { looked: Looking }) {
  if (looked.isPending) return <Loading />;
  const { data, error } = looked;
  if (!data) return <Failure error={error} retry={() => void looked.refetch()} />;
  if (data.node?.error) return <Failure error={new ApiError(0, data.node.error.type, data.node.error.message)} />;
  if (data.node?.state === 'completed') return null;
  return (
    <p>
      <RunBadge state={data.run.state} /> <RunLink id={data.run.run_id} />
    </p>
  );
}

function History({ kind, thing }: { kind: Versioned; thing: string }) {
  const t = useT();
  const navigate = useNavigate({ from: '/domains/$domain' });
  const { from, to } = useSearch({ from: '/domains/$domain' });
  const [back, setBack] = useState<string>();
  const call = { domain: kind.domain, capability: 'list_versions', parameters: { [kind.thing]: thing } };
  const looked = useLook(call, t('versions'));
  const rows = rowsOf(looked.data?.node?.facts, 'versions');
  const names = rows.map((row) => plain(row.version));
  const choose = (next: Search) =>
    void navigate({ search: (s) => ({ ...s, ...next }), replace: true, resetScroll: false });
  return (
    <Card title={t('versions')} id="versions" actions={<Source looked={looked} />}>
      <Outcome looked={looked} />
      {looked.data?.node?.summary && <p className="prose">{visible(looked.data.node.summary)}</p>}
      {rows.length > 0 && (
        <Scroll label={t('versions')}>
          <table className="list">
            <thead>
              <tr>
                <th scope="col">{t('version')}</th>
                <th scope="col">{t('col_detail')}</th>
                <th scope="col">{t('col_actor')}</th>
                <th scope="col">{t('col_at')}</th>
                <th scope="col">{t('col_actions')}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row, i) => (
                <VersionRow
                  key={plain(row.version)}
                  row={row}
                  onDiff={names[i + 1] ? () => choose({ from: names[i + 1], to: names[i] }) : undefined}
                  onRestore={row.current === true ? undefined : () => setBack(names[i])}
                />
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
      {names.length > 1 && (
        <div className="filters">
          <Choice label={t('compare_from')} names={names} value={from} onChange={(next) => choose({ from: next })} />
          <Choice label={t('compare_to')} names={names} value={to} onChange={(next) => choose({ to: next })} />
        </div>
      )}
      {from && <Difference kind={kind} thing={thing} from={from} to={to} />}
      <Dialog title={t('restore', { what: back ?? '' })} open={back !== undefined} onClose={() => setBack(undefined)}>
        {back && <Restore kind={kind} thing={thing} version={back} onClose={() => setBack(undefined)} />}
      </Dialog>
    </Card>
  );
}

interface RowProps {
  row: Row;
  onDiff: (() => void) | undefined;
  onRestore: (() => void) | undefined;
}

function VersionRow({ row, onDiff, onRestore }: RowProps) {
  const t = useT();
  const at = typeof row.created_at === 'string' ? row.created_at : undefined;
  return (
    <tr>
      <th scope="row">
        {oneLine(plain(row.version))} {row.current === true && <strong>({t('version_current')})</strong>}
      </th>
      <td>{oneLine(plain(row.reason))}</td>
      <td>
        {oneLine(plain(row.by))}{' '}
        {typeof row.run_id === 'string' && row.run_id && <RunLink id={row.run_id}>{t('show_run')}</RunLink>}
      </td>
      <td>{at && <Ago at={at} />}</td>
      <td>
        <span className="row">
          {onDiff && (
            <button type="button" className="link" onClick={onDiff}>
              {t('compare_before')}
            </button>
          )}
          {onRestore && (
            <button type="button" className="link" onClick={onRestore}>
              {t('restore', { what: oneLine(plain(row.version)) })}
            </button>
          )}
        </span>
      </td>
    </tr>
  );
}

interface ChoiceProps {
  label: string;
  names: string[];
  value: string | undefined;
  onChange: (next: string | undefined) => void;
}

function Choice({ label, names, value, onChange }: ChoiceProps) {
  const t = useT();
  return (
    <label>
      {label}
      <select value={value ?? ''} onChange={(e) => onChange(e.target.value || undefined)}>
        <option value="">{t('version_now')}</option>
        {names.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}

/** useDifference is the whole difference where the domain keeps it as an artifact, else what the facts say. */
function useDifference(run: string | undefined, node: NodeView | undefined) {
  const hash = node?.artifacts?.diff?.replace('sha256:', '');
  return useQuery({
    queryKey: ['artifact', run, hash],
    queryFn: ({ signal }) =>
      hash
        ? api<unknown>('GET', `/v1/runs/${segment(run ?? '')}/artifacts/${segment(hash)}`, { signal })
        : (node?.facts?.changes ?? {}),
    enabled: run !== undefined && node?.state === 'completed',
    staleTime: Number.POSITIVE_INFINITY,
  });
}

function Difference({ kind, thing, from, to }: { kind: Versioned; thing: string; from: string; to?: string }) {
  const t = useT();
  const parameters = { [kind.thing]: thing, from, ...(to && { to }) };
  const looked = useLook({ domain: kind.domain, capability: 'diff_versions', parameters }, t('difference_of'));
  const difference = useDifference(looked.data?.run.run_id, looked.data?.node);
  const changes = changesOf(difference.data);
  const title = t('compared', { from, to: to ?? t('version_now') });
  return (
    <>
      <h3>{title}</h3>
      <Outcome looked={looked} />
      <Failure error={difference.error} retry={() => void difference.refetch()} />
      {difference.isSuccess && changes.length === 0 && <p>{t('diff_same')}</p>}
      {changes.length > 0 && (
        <Scroll label={title}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t('col_kind')}</th>
                <th scope="col">{t('col_path')}</th>
                <th scope="col">{t('col_before')}</th>
                <th scope="col">{t('col_after')}</th>
              </tr>
            </thead>
            <tbody>
              {changes.map((c, i) => (
                <tr key={i}>
                  <td>{oneLine(c.kind.replaceAll('_', ' '))}</td>
                  <th scope="row">
                    <code>{oneLine(c.place)}</code>
                  </th>
                  <td>{c.before !== undefined && <del className="prose">{visible(c.before)}</del>}</td>
                  <td>{c.after !== undefined && <ins className="prose">{visible(c.after)}</ins>}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
      {looked.data && <Source looked={looked} />}
    </>
  );
}

interface RestoreProps {
  kind: Versioned;
  thing: string;
  version: string;
  onClose: () => void;
}

/** Restore shows what going back would do; it is a run like any other, behind its gate. */
function Restore({ kind, thing, version, onClose }: RestoreProps) {
  const t = useT();
  const navigate = useNavigate();
  const call = { domain: kind.domain, capability: kind.restore, parameters: { [kind.thing]: thing, version } };
  const plan = useQuery({
    queryKey: ['restore', call],
    queryFn: () => planCalls([call], { goal: t('restore', { what: version }) }),
    staleTime: 0,
    retry: false,
  });
  const start = useMutation({
    mutationFn: (hash: string) => runPlan(hash, 5),
    onSuccess: (s) => {
      const id = s.run_ids.at(-1);
      if (id) void navigate({ to: '/runs/$run', params: { run: id } });
    },
  });
  const hash = plan.data?.plan_hash;
  return (
    <>
      <p>{t('restore_text')}</p>
      {plan.isPending && <Loading />}
      <Failure error={plan.error ?? start.error} />
      {plan.data && !hash && <p className="prose">{visible(plan.data.message ?? '')}</p>}
      <ol>
        {plan.data?.rows?.map((row) => (
          <li key={row.node_id} className="prose">
            {visible(row.step)} {row.approval && <strong>{visible(row.approval)}</strong>}
          </li>
        ))}
      </ol>
      <div className="row">
        <button type="button" onClick={onClose}>
          {t('cancel')}
        </button>
        <button
          type="button"
          className="primary"
          disabled={!hash || start.isPending}
          onClick={() => hash && start.mutate(hash)}
        >
          {t('restore_ask')}
        </button>
      </div>
    </>
  );
}
