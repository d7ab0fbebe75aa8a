import { useInfiniteQuery } from '@tanstack/react-query';
import { ledger } from '../../api/queries';
import { useWords } from '../../i18n';
import { LongTable } from '../../ui/long-table';
import { Failure, Loading } from '../../ui/parts';
import { absolute } from '../../ui/time';

/** Ledger is the hash chain of a run: what was planned, approved, sent and came back. */
export function Ledger({ id, ended }: { id: string; ended: boolean }) {
  const { t, language } = useWords();
  const list = useInfiniteQuery({ ...ledger(id), refetchInterval: ended ? false : 3000 });
  const rows = list.data?.pages.flatMap((p) => p.items) ?? [];
  const broken = rows.findIndex((e, i) => i > 0 && e.prev_hash !== rows[i - 1]?.hash);
  if (list.isPending) return <Loading />;
  return (
    <>
      <Failure error={list.error} retry={() => void list.refetch()} />
      <p className={broken < 0 ? 'muted' : 'urgent'}>
        {broken < 0 ? t('ledger_linked', { n: rows.length }) : t('ledger_broken', { n: broken + 1 })}
      </p>
      <LongTable
        label={t('ledger')}
        columns={6}
        rows={rows}
        keyOf={(e) => String(e.seq)}
        head={
          <tr>
            <th scope="col" className="number">
              {t('col_number')}
            </th>
            <th scope="col">{t('col_at')}</th>
            <th scope="col">{t('col_event')}</th>
            <th scope="col">{t('col_actor')}</th>
            <th scope="col">{t('col_step')}</th>
            <th scope="col">{t('col_hash')}</th>
          </tr>
        }
        row={(e) => (
          <>
            <td className="number">{e.seq}</td>
            <td>
              <time dateTime={e.at}>{absolute(language, e.at)}</time>
            </td>
            <td>
              <code>{e.kind}</code>
            </td>
            <td>{e.actor ?? '–'}</td>
            <td>
              {e.node_id ?? '–'} {e.tool && <code>{e.tool}</code>}
            </td>
            <td>
              <code title={e.hash}>{e.hash.slice(0, 16)}…</code>
            </td>
          </>
        )}
      />
      {list.hasNextPage && (
        <button type="button" onClick={() => void list.fetchNextPage()}>
          {t('load_more')}
        </button>
      )}
    </>
  );
}
