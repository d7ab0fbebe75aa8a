import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { versioned } from '../api/call';
import { api, segment } from '../api/client';
import { capabilities, domainDiff, domain as domainQuery } from '../api/queries';
import type { CapabilityView, DomainDetail, DomainReport } from '../api/types';
import { type Key, useT } from '../i18n';
import { useSession } from '../session';
import { Icon } from '../ui/icon';
import { Card, Empty, Facts, Failure, Heading, Loading, Scroll, Tabs } from '../ui/parts';
import { SearchField } from '../ui/search-field';
import { HealthBadge, OutcomeBadge, RiskBadge } from '../ui/state';
import { Ago } from '../ui/time';
import { oneLine, Value, visible } from '../ui/value';
import { Versions } from './versions';

interface Registration {
  trust?: string;
  mcp?: unknown;
  openapi?: unknown;
  pack?: unknown;
}

type Findings = NonNullable<DomainDetail['findings']>;

export function Domain() {
  const t = useT();
  const navigate = useNavigate({ from: '/domains/$domain' });
  const client = useQueryClient();
  const { domain: name } = useParams({ from: '/domains/$domain' });
  const { tab = 'capabilities' } = useSearch({ from: '/domains/$domain' });
  const detail = useQuery(domainQuery(name));
  const kind = versioned(useQuery(capabilities).data?.items ?? [], name);
  const admin = useSession().user.roles.includes('admin');
  const refresh = useMutation({
    mutationFn: () => api<DomainReport>('POST', `/v1/domains/${segment(name)}/refresh`),
    onSettled: () => void client.invalidateQueries({ queryKey: ['domain', name] }),
  });
  const d = detail.data;
  if (!d) {
    return (
      <>
        <Heading title={name} />
        {detail.error ? <Failure error={detail.error} retry={() => void detail.refetch()} /> : <Loading />}
        <Link to="/domains">{t('nav_domains')}</Link>
      </>
    );
  }
  return (
    <>
      <Heading title={oneLine(d.title || d.domain)}>
        <HealthBadge status={d.health} />
        <OutcomeBadge outcome={d.outcome} />
        {admin && (
          <div className="actions">
            <button type="button" disabled={refresh.isPending} onClick={() => refresh.mutate()}>
              {t('refresh')}
            </button>
          </div>
        )}
      </Heading>
      <Failure error={refresh.error} />
      {d.detail && (
        <div className="notice tone-warn">
          <Icon name="warning" />
          <p className="prose">{visible(d.detail)}</p>
        </div>
      )}
      {d.pending_digest && tab !== 'change' && (
        <div className="notice tone-ask">
          <Icon name="asks" />
          <div>
            <strong>{t('change_waits')}</strong>{' '}
            <Link to="/domains/$domain" params={{ domain: name }} search={{ tab: 'change' }}>
              {t('review')}
            </Link>
          </div>
        </div>
      )}
      <Card title={t('summary')} id="summary">
        {d.description && <p className="prose">{visible(d.description)}</p>}
        <Facts
          rows={[
            [t('service'), t(kindOf(d))],
            [t('address'), visible(d.url)],
            [t('version'), d.version ?? '–'],
            [t('managed_by'), d.managed_by],
            [t('trust'), registrationOf(d).trust ?? 'full'],
            [t('capabilities'), String(d.capabilities)],
            [t('col_changed'), <Ago key="u" at={d.updated_at} />],
            [t('digest'), <code key="d">{d.active_digest?.slice(0, 16) ?? '–'}</code>],
          ]}
        />
        <Checks checks={d.checks ?? {}} />
        <FindingList findings={d.findings ?? []} />
      </Card>
      <Tabs
        label={t('views')}
        current={tab}
        onChange={(next) =>
          void navigate({ search: { tab: next === 'capabilities' ? undefined : next }, replace: true })
        }
        tabs={[
          { id: 'capabilities', name: t('capabilities') },
          ...(kind ? [{ id: 'versions' as const, name: t('versions') }] : []),
          { id: 'change', name: t('change') },
          { id: 'manifest', name: t('col_manifest') },
        ]}
      />
      {tab === 'capabilities' && <Capabilities domain={name} />}
      {tab === 'versions' && kind && <Versions kind={kind} />}
      {tab === 'change' && <Change name={name} pending={d.pending_digest} admin={admin} />}
      {tab === 'manifest' && <Value value={d.manifest ?? ''} />}
    </>
  );
}

const registrationOf = (d: DomainDetail) => d.registration as Registration;

/** kindOf says what a domain is: a service of its own, a bridge inside the server, or workflows alone. */
function kindOf(d: DomainDetail): Key {
  const r = registrationOf(d);
  if (r.mcp) return 'service_mcp';
  if (r.openapi) return 'service_openapi';
  return r.pack ? 'service_pack' : 'service_http';
}

/** Checks are what a domain says of its own health: a bridge tells here which tools it does not serve, and why. */
function Checks({ checks }: { checks: NonNullable<DomainDetail['checks']> }) {
  const t = useT();
  const rows = Object.entries(checks);
  if (rows.length === 0) return null;
  return (
    <>
      <h3>{t('col_health')}</h3>
      <Scroll label={t('col_health')}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t('col_check')}</th>
              <th scope="col">{t('col_result')}</th>
              <th scope="col">{t('col_detail')}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(([name, check]) => (
              <tr key={name}>
                <th scope="row">{visible(name)}</th>
                <td>
                  <HealthBadge status={check.status} />
                </td>
                <td className="prose">{visible(check.detail ?? '')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </>
  );
}

function FindingList({ findings }: { findings: Findings }) {
  const t = useT();
  if (findings.length === 0) return null;
  return (
    <>
      <h3>{t('findings')}</h3>
      <ul className="plain">
        {findings.map((f) => (
          <li key={f.pointer + f.message}>
            <span
              className={`badge tone-${f.severity === 'error' ? 'bad' : f.severity === 'confirm' ? 'ask' : 'warn'}`}
            >
              {t(
                f.severity === 'error'
                  ? 'severity_error'
                  : f.severity === 'confirm'
                    ? 'severity_confirm'
                    : 'severity_warning',
              )}
            </span>{' '}
            <code>{visible(f.pointer)}</code> {visible(f.message)}
          </li>
        ))}
      </ul>
    </>
  );
}

function Capabilities({ domain }: { domain: string }) {
  const t = useT();
  const navigate = useNavigate({ from: '/domains/$domain' });
  const { q } = useSearch({ from: '/domains/$domain' });
  const all = useQuery(capabilities);
  const words = q?.toLowerCase() ?? '';
  const rows = (all.data?.items ?? []).filter(
    (c) => c.domain === domain && `${c.name} ${c.description} ${c.examples?.join(' ')}`.toLowerCase().includes(words),
  );
  return (
    <>
      <search className="filters">
        <SearchField
          label={t('search')}
          value={q}
          onChange={(next) => void navigate({ search: (s) => ({ ...s, q: next }), replace: true })}
        />
      </search>
      <Failure error={all.error} retry={() => void all.refetch()} />
      {all.isPending && <Loading />}
      {all.isSuccess && rows.length === 0 && <Empty title={t('capabilities_none')} />}
      {rows.length > 0 && (
        <Scroll label={t('capabilities')}>
          <table className="list">
            <thead>
              <tr>
                <th scope="col">{t('capability')}</th>
                <th scope="col">{t('col_detail')}</th>
                <th scope="col">{t('policy_class')}</th>
                <th scope="col">{t('col_risk')}</th>
                <th scope="col">{t('policy_approval')}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((c) => (
                <CapabilityRow key={c.ref} capability={c} />
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </>
  );
}

function CapabilityRow({ capability: c }: { capability: CapabilityView }) {
  const t = useT();
  const { approval } = c.policy;
  return (
    <tr>
      <th scope="row">
        <code>{c.name}</code>
      </th>
      <td>
        {visible(c.description ?? '')}{' '}
        <Link to="/try" search={{ capability: c.ref }}>
          {t('plan_call', { what: c.name })}
        </Link>
        <details>
          <summary>{t('schema_examples')}</summary>
          <ul className="plain">
            {c.examples?.slice(0, 10).map((e) => (
              <li key={e}>
                <Link to="/try" search={{ say: e }}>
                  {visible(e)}
                </Link>
              </li>
            ))}
          </ul>
          <Value value={c.schema} />
        </details>
      </td>
      <td>{c.policy.side_effect_class}</td>
      <td>
        <RiskBadge risk={c.policy.risk_level} />
      </td>
      <td>
        {c.policy.approval_required
          ? `${approval.quorum > 1 ? `${approval.quorum} × ` : ''}${approval.roles.join(', ')}${approval.four_eyes ? `, ${t('four_eyes')}` : ''}`
          : t('no')}
      </td>
    </tr>
  );
}

function Change({ name, pending, admin }: { name: string; pending: string | undefined; admin: boolean }) {
  const t = useT();
  const client = useQueryClient();
  const diff = useQuery(domainDiff(name));
  const confirm = useMutation({
    mutationFn: (digest: string) =>
      api<DomainReport>('POST', `/v1/domains/${segment(name)}/confirm`, { body: { digest } }),
    onSettled: () => {
      void client.invalidateQueries({ queryKey: ['domain', name] });
      void client.invalidateQueries({ queryKey: ['domains'] });
      void client.invalidateQueries({ queryKey: ['capabilities'] });
    },
  });
  if (diff.isPending) return <Loading />;
  const d = diff.data;
  if (!d) return <Failure error={diff.error} retry={() => void diff.refetch()} />;
  const same = !d.added?.length && !d.removed?.length && !d.changed?.length && !d.findings?.length;
  // What is confirmed is what is shown: the digest is that of this comparison.
  const shown = pending && d.to === pending ? pending : undefined;
  return (
    <Card title={t('change')} id="change">
      {same && <p>{t('change_none')}</p>}
      <Names title={t('change_added')} names={d.added} />
      <Names title={t('change_removed')} names={d.removed} />
      {d.changed?.map((c) => (
        <div key={c.capability}>
          <h3>
            <code>{visible(c.capability)}</code>
          </h3>
          {c.loosens?.map((l) => (
            <p key={l} className="urgent">
              <Icon name="warning" /> {t('loosens')}: {visible(l)}
            </p>
          ))}
          <Scroll label={c.capability}>
            <table>
              <thead>
                <tr>
                  <th scope="col">{t('col_path')}</th>
                  <th scope="col">{t('col_before')}</th>
                  <th scope="col">{t('col_after')}</th>
                </tr>
              </thead>
              <tbody>
                {c.differences.map((f) => (
                  <tr key={f.pointer}>
                    <th scope="row">
                      <code>{visible(f.pointer)}</code>
                    </th>
                    <td>
                      <del>
                        <Value value={f.before} />
                      </del>
                    </td>
                    <td>
                      <ins>
                        <Value value={f.after} />
                      </ins>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
        </div>
      ))}
      <FindingList findings={d.findings ?? []} />
      <Failure error={confirm.error} />
      {pending && admin && (
        <p className="row">
          <button
            type="button"
            className="primary"
            disabled={!shown || confirm.isPending}
            onClick={() => shown && confirm.mutate(shown)}
          >
            {t('change_confirm')}
          </button>
          <code>{pending.slice(0, 16)}…</code>
        </p>
      )}
      {pending && !admin && <p className="muted">{t('change_admin')}</p>}
    </Card>
  );
}

function Names({ title, names }: { title: string; names: string[] | undefined }) {
  if (!names || names.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul className="inline">
        {names.map((n) => (
          <li key={n}>
            <code>{visible(n)}</code>
          </li>
        ))}
      </ul>
    </>
  );
}
