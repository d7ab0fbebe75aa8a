import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { gates } from '../api/queries';
import type { Interrupt, InterruptStatus } from '../api/types';
import { useT } from '../i18n';
import { Empty, Failure, Heading, Loading, Scroll, Tabs } from '../ui/parts';
import { GateBadge, RiskBadge } from '../ui/state';
import { Ago, Expiry } from '../ui/time';
import { oneLine } from '../ui/value';

const risks = ['read', 'low', 'medium', 'high', 'critical'];

/** urgent orders what waits: what ends first, then what does most harm. */
function urgent(a: Interrupt, b: Interrupt): number {
  const byEnd = (a.expires_at ?? '9').slice(0, 13).localeCompare((b.expires_at ?? '9').slice(0, 13));
  return (
    byEnd ||
    risks.indexOf(b.risk_level ?? '') - risks.indexOf(a.risk_level ?? '') ||
    a.created_at.localeCompare(b.created_at)
  );
}

export function Approvals() {
  const t = useT();
  const navigate = useNavigate({ from: '/approvals' });
  const { status = 'open' } = useSearch({ from: '/approvals' });
  const list = useInfiniteQuery(gates({ status }));
  const all = list.data?.pages.flatMap((p) => p.items) ?? [];
  const rows = status === 'open' ? [...all].sort(urgent) : [...all].reverse();
  const tabs: { id: InterruptStatus; name: string }[] = [
    { id: 'open', name: t('gate_open') },
    { id: 'approved', name: t('gate_approved') },
    { id: 'rejected', name: t('gate_rejected') },
    { id: 'answered', name: t('gate_answered') },
    { id: 'superseded', name: t('gate_superseded') },
    { id: 'expired', name: t('gate_expired') },
  ];
  return (
    <>
      <Heading title={t('nav_approvals')}>
        <Tabs
          label={t('filter_state')}
          tabs={tabs}
          current={status}
          onChange={(next) => void navigate({ search: { status: next === 'open' ? undefined : next } })}
        />
      </Heading>
      <Failure error={list.error} retry={() => void list.refetch()} />
      {list.isPending && <Loading />}
      {rows.length > 0 && (
        <Scroll label={t('approvals_table')}>
          <table className="list">
            <thead>
              <tr>
                <th scope="col">{t('col_kind')}</th>
                <th scope="col">{t('col_what')}</th>
                <th scope="col">{t('col_risk')}</th>
                <th scope="col">{t('col_owner')}</th>
                <th scope="col">{t('col_asked')}</th>
                <th scope="col">{status === 'open' ? t('ends_at') : t('col_decided')}</th>
                <th scope="col">{t('code')}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((g) => (
                <tr key={g.interrupt_id}>
                  <td>
                    {status === 'open' ? (
                      t(g.action ? 'kind_approval' : 'kind_question')
                    ) : (
                      <GateBadge status={g.status} />
                    )}
                  </td>
                  <th scope="row">
                    <Link to="/approvals/$gate" params={{ gate: g.interrupt_id }} data-row>
                      {oneLine(g.prompt)}
                    </Link>
                  </th>
                  <td>{g.risk_level ? <RiskBadge risk={g.risk_level} /> : '–'}</td>
                  <td>{g.initiator ?? g.requesters?.join(', ') ?? '–'}</td>
                  <td>
                    <Ago at={g.created_at} />
                  </td>
                  <td>
                    {status === 'open' ? (
                      <Expiry at={g.expires_at} />
                    ) : (
                      (g.decisions?.map((d) => d.decided_by).join(', ') ?? '–')
                    )}
                  </td>
                  <td>
                    <code>{g.code}</code>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
      {list.isSuccess && rows.length === 0 && (
        <Empty title={t(status === 'open' ? 'approvals_none' : 'approvals_none_fit')} />
      )}
      {list.hasNextPage && (
        <button type="button" onClick={() => void list.fetchNextPage()}>
          {t('load_more')}
        </button>
      )}
    </>
  );
}
