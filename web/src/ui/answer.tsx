import type { Answer, Block, Verdict } from '../api/types';
import { useT } from '../i18n';
import { Icon } from './icon';
import { Scroll } from './parts';
import { VerdictBadge } from './state';
import { plain, visible } from './value';

/** AnswerView shows what a run found. All of it is text of domains and models: it is never markup. */
export function AnswerView({ answer }: { answer: Answer }) {
  return (
    <>
      {answer.blocks.map((block, i) => (
        <BlockView key={i} block={block} />
      ))}
    </>
  );
}

function BlockView({ block }: { block: Block }) {
  const t = useT();
  const title = block.title && <h3>{visible(block.title)}</h3>;
  switch (block.kind) {
    case 'table':
      return (
        <>
          {title}
          <Scroll label={block.title || t('answer_table')}>
            <table>
              <thead>
                <tr>
                  {block.columns?.map((c, i) => (
                    <th scope="col" key={i} className={numeric(block, i) ? 'number' : ''}>
                      {visible(c.title)}
                      {c.unit && ` (${visible(c.unit)})`}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {block.rows?.map((row, i) => (
                  <tr key={i}>
                    {row.map((cell, j) => (
                      <td key={j} className={numeric(block, j) ? 'number' : ''}>
                        {visible(plain(cell))}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
        </>
      );
    case 'list':
      return (
        <>
          {title}
          <ul>
            {block.items?.map((item, i) => (
              <li key={i} className="prose">
                {visible(item)}
              </li>
            ))}
          </ul>
        </>
      );
    case 'error':
    case 'note':
      return (
        <div className={`notice ${block.kind === 'error' ? 'tone-bad' : 'tone-warn'}`}>
          <Icon name={block.kind === 'error' ? 'cross' : 'warning'} />
          <div>
            {block.title && <strong>{visible(block.title)}</strong>}
            <p className="prose">{visible(block.text ?? '')}</p>
          </div>
        </div>
      );
    default:
      return (
        <>
          {title}
          <p className="prose">{visible(block.text ?? '')}</p>
        </>
      );
  }
}

const numeric = (block: Block, column: number) => block.rows?.every((row) => typeof row[column] === 'number') ?? false;

/** VerdictView says how far a result can be trusted, check by check. It is never green without a check. */
export function VerdictView({ verdict }: { verdict: Verdict | undefined }) {
  const t = useT();
  if (!verdict) return <VerdictBadge status={undefined} />;
  const checks = verdict.checks ?? [];
  return (
    <details className="verdict">
      <summary>
        <VerdictBadge status={verdict.shadow || checks.length === 0 ? undefined : verdict.status} />{' '}
        {t('checks_passed', { n: checks.length, ok: checks.filter((c) => c.ok).length })}
      </summary>
      {verdict.reasons?.map((reason) => (
        <p key={reason} className="prose">
          {visible(reason)}
        </p>
      ))}
      <Scroll label={t('checks')}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t('col_check')}</th>
              <th scope="col">{t('col_result')}</th>
              <th scope="col">{t('col_detail')}</th>
            </tr>
          </thead>
          <tbody>
            {checks.map((check, i) => (
              <tr key={i}>
                <th scope="row">{visible(check.name)}</th>
                <td>
                  <span className={`badge tone-${check.ok ? 'ok' : 'bad'}`}>
                    <Icon name={check.ok ? 'check' : 'cross'} />
                    {t(check.ok ? 'check_ok' : 'check_failed')}
                  </span>
                </td>
                <td className="prose">{visible(check.detail ?? '')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {verdict.judge?.reasons?.map((reason) => (
        <p key={reason} className="prose muted">
          {t('judge')}: {visible(reason)}
        </p>
      ))}
    </details>
  );
}
