import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Event } from '../../api/types';
import { useWords } from '../../i18n';
import { LongTable } from '../../ui/long-table';
import { Empty } from '../../ui/parts';
import { SearchField } from '../../ui/search-field';
import { oneLine } from '../../ui/value';

/** Events is the log of a run, the newest first. */
export function Events({ events, onStep }: { events: Event[]; onStep: (id: string) => void }) {
  const { t, language } = useWords();
  const navigate = useNavigate({ from: '/runs/$run' });
  const { q } = useSearch({ from: '/runs/$run' });
  const words = q?.toLowerCase() ?? '';
  const rows = useMemo(
    () =>
      events
        .filter(
          (e) =>
            !words || `${e.type} ${e.node_name} ${e.node_id} ${e.status} ${e.summary}`.toLowerCase().includes(words),
        )
        .reverse(),
    [events, words],
  );
  const clock = new Intl.DateTimeFormat(language, {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    fractionalSecondDigits: 3,
  });
  return (
    <>
      <search className="filters">
        <SearchField
          label={t('filter_events')}
          value={q}
          onChange={(next) => void navigate({ search: (s) => ({ ...s, q: next }), replace: true })}
        />
        <p className="muted" role="status">
          {t('events_count', { n: rows.length, all: events.length })}
        </p>
      </search>
      {rows.length === 0 ? (
        <Empty title={t('events_none')} />
      ) : (
        <LongTable
          label={t('events')}
          columns={5}
          rows={rows}
          keyOf={(e) => String(e.seq)}
          head={
            <tr>
              <th scope="col" className="number">
                {t('col_number')}
              </th>
              <th scope="col">{t('col_at')}</th>
              <th scope="col">{t('col_event')}</th>
              <th scope="col">{t('col_step')}</th>
              <th scope="col" className="wide">
                {t('col_detail')}
              </th>
            </tr>
          }
          row={(e) => (
            <>
              <td className="number">{e.seq}</td>
              <td>
                <time dateTime={e.at}>{clock.format(new Date(e.at))}</time>
              </td>
              <td>
                <code>{e.type}</code>
              </td>
              <td>
                {e.node_id && (
                  <button type="button" className="link" onClick={() => onStep(e.node_id ?? '')}>
                    {oneLine(e.node_name || e.node_id)}
                  </button>
                )}
              </td>
              <td className="wide text">
                {[e.status, e.summary]
                  .filter(Boolean)
                  .map((s) => oneLine(s ?? ''))
                  .join(' · ')}
              </td>
            </>
          )}
        />
      )}
    </>
  );
}
