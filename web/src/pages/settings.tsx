import { useQuery } from '@tanstack/react-query';
import { ready, settings } from '../api/queries';
import type { Settings as Shown } from '../api/types';
import { useT } from '../i18n';
import { useSession } from '../session';
import { Card, Facts, Failure, Heading, Loading } from '../ui/parts';
import { HealthBadge } from '../ui/state';
import { At, duration } from '../ui/time';
import { Value, visible } from '../ui/value';

/** Settings shows what is set; nothing is changed here. */
export function Settings() {
  const t = useT();
  const who = useSession();
  const state = useQuery(ready);
  const scopes = who.user.scopes;
  const may = who.user.roles.some((r) => r === 'operator' || r === 'admin');
  const set = useQuery({ ...settings, enabled: may });
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
        <Failure error={state.error ?? set.error} />
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
        {set.data && <Started settings={set.data} />}
      </Card>
    </>
  );
}

function Started({ settings: s }: { settings: Shown }) {
  const t = useT();
  const on = (is: boolean) => t(is ? 'yes' : 'no');
  return (
    <>
      <Facts
        rows={[
          [t('store_kind'), s.store],
          [t('hears'), visible(s.hears)],
          [t('thinks'), visible(s.thinks)],
          [t('model'), [s.model, s.small_model].filter(Boolean).join(', ') || '–'],
          [
            t('flags'),
            Object.entries(s.flags ?? {})
              .map(([name, value]) => `${name}: ${value}`)
              .join(', ') || t('flags_all'),
          ],
          [t('approval_links'), on(s.approval_links)],
          ['Telegram', on(s.telegram)],
          [t('metrics'), on(s.metrics)],
          [t('traces'), s.trace_url ? visible(s.trace_url) : '–'],
          [t('limit_requests'), limit(s.limits.requests_per_minute)],
          [t('limit_sessions'), limit(s.limits.sessions_per_minute)],
          [t('limit_runs'), limit(s.limits.max_active_runs)],
          [t('retention'), s.limits.retention_s ? duration(s.limits.retention_s * 1000) : '–'],
        ]}
      />
      <h3>{t('site_policy')}</h3>
      <Value value={s.site} />
    </>
  );
}

/** A limit of 0 is the server's own. */
const limit = (n: number) => (n === 0 ? '–' : String(n));
