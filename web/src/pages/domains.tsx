import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { domains } from '../api/queries';
import { useT } from '../i18n';
import { Empty, Failure, Heading, Loading, Scroll } from '../ui/parts';
import { HealthBadge, OutcomeBadge } from '../ui/state';
import { Ago } from '../ui/time';
import { oneLine } from '../ui/value';

export function Domains() {
  const t = useT();
  const list = useQuery(domains);
  const ill = (health: string) => (health === 'down' ? 0 : health === 'degraded' ? 1 : 2);
  const rows = [...(list.data?.items ?? [])].sort(
    (a, b) => ill(a.health) - ill(b.health) || a.domain.localeCompare(b.domain),
  );
  return (
    <>
      <Heading title={t('nav_domains')} />
      <Failure error={list.error} retry={() => void list.refetch()} />
      {list.isPending && <Loading />}
      {list.isSuccess && rows.length === 0 && <Empty title={t('domains_none')} />}
      {rows.length > 0 && (
        <Scroll label={t('domains_table')}>
          <table className="list">
            <thead>
              <tr>
                <th scope="col">{t('col_domain')}</th>
                <th scope="col">{t('col_health')}</th>
                <th scope="col">{t('col_manifest')}</th>
                <th scope="col" className="number">
                  {t('capabilities')}
                </th>
                <th scope="col">{t('version')}</th>
                <th scope="col">{t('col_detail')}</th>
                <th scope="col">{t('col_changed')}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((d) => (
                <tr key={d.domain}>
                  <th scope="row">
                    <Link to="/domains/$domain" params={{ domain: d.domain }} data-row>
                      {oneLine(d.title || d.domain)}
                    </Link>{' '}
                    <code className="muted">{d.domain}</code>
                  </th>
                  <td>
                    <HealthBadge status={d.health} />
                  </td>
                  <td>
                    <OutcomeBadge outcome={d.outcome} />
                    {d.pending_digest && (
                      <>
                        {' '}
                        <Link to="/domains/$domain" params={{ domain: d.domain }} search={{ tab: 'change' }}>
                          {t('review')}
                        </Link>
                      </>
                    )}
                  </td>
                  <td className="number">{d.capabilities}</td>
                  <td>{d.version ?? '–'}</td>
                  <td className="text">{oneLine(d.detail ?? d.description ?? '')}</td>
                  <td>
                    <Ago at={d.updated_at} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </>
  );
}
