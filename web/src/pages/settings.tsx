import { useQuery } from '@tanstack/react-query';
import { ready } from '../api/queries';
import { useT } from '../i18n';
import { useSession } from '../session';
import { Card, Facts, Failure, Heading, Loading } from '../ui/parts';
import { HealthBadge } from '../ui/state';
import { At } from '../ui/time';

/** Settings shows what is set; nothing is changed here. */
export function Settings() {
  const t = useT();
  const who = useSession();
  const state = useQuery(ready);
  const scopes = who.user.scopes;
  return (
    <>
      <Heading title={t('nav_settings')} />
      <Card title={t('you')} id="you">
        <Facts
          rows={[
            [t('name'), who.user.id],
            [t('roles'), who.user.roles.join(', ')],
            [t('reaches'), [...(scopes?.domains ?? []), ...(scopes?.classes ?? [])].join(', ') || t('everything')],
            [t('session_idle'), <At key="i" at={who.expires_at} />],
            [t('session_end'), <At key="e" at={who.ends_at} />],
          ]}
        />
      </Card>
      <Card title={t('server')} id="server">
        <Failure error={state.error} />
        {state.isPending && <Loading />}
        {state.data && (
          <Facts
            rows={[
              [t('version'), state.data.version || '–'],
              [t('store'), <HealthBadge key="s" status={state.data.store} />],
              [t('active_runs'), String(state.data.active_runs)],
            ]}
          />
        )}
      </Card>
    </>
  );
}
