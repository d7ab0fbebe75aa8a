import { lazy, Suspense, useMemo } from 'react';
import type { Intent, NodeView, PlanPreview } from '../../api/types';
import { useT } from '../../i18n';
import { Icon } from '../../ui/icon';
import { Card, Facts, Loading, Scroll } from '../../ui/parts';
import { RiskBadge } from '../../ui/state';
import { duration } from '../../ui/time';
import { oneLine, Value, visible } from '../../ui/value';
import { Sentence } from '../gate/sheet';

const Graph = lazy(() => import('../run/graph'));
const nothing: ReadonlySet<string> = new Set();

interface Props {
  preview: PlanPreview;
  pending: boolean;
  onRun: (hash: string) => void;
}

/** Preview is what would be done, who would be asked, and why it was understood so. */
export function Preview({ preview, pending, onRun }: Props) {
  const t = useT();
  const hash = preview.plan_hash;
  return (
    <>
      {preview.outcome !== 'accept' && (
        <div className="notice tone-warn" role="status">
          <Icon name="warning" />
          <div>
            <strong>{t(preview.outcome === 'clarify' ? 'outcome_clarify' : 'outcome_decline')}</strong>
            <p className="prose">{visible(preview.message ?? '')}</p>
          </div>
        </div>
      )}
      {preview.questions?.map((q, i) => (
        <div className="notice tone-ask" key={i}>
          <Icon name="asks" />
          <div>
            <strong>{t('needs_answer')}</strong>
            <p className="prose">{visible(q.prompt)}</p>
          </div>
        </div>
      ))}
      {preview.choices && preview.choices.length > 0 && (
        <Card title={t('choices')} id="choices">
          <Choices choices={preview.choices} />
        </Card>
      )}
      {preview.intents?.map((intent) => (
        <Understood key={intent.id} intent={intent} />
      ))}
      {preview.plan && (
        <Card
          title={t('plan')}
          id="plan"
          actions={
            hash && (
              <button type="button" className="primary" disabled={pending} onClick={() => onRun(hash)}>
                {t('run_this')}
              </button>
            )
          }
        >
          <Forecast preview={preview} />
          <Suspense fallback={<Loading />}>
            <Picture preview={preview} />
          </Suspense>
          <Rows preview={preview} />
        </Card>
      )}
    </>
  );
}

function Understood({ intent }: { intent: Intent }) {
  const t = useT();
  return (
    <Card title={t('understood', { what: `${intent.domain}.${intent.capability}` })} id={`intent-${intent.id}`}>
      {intent.said && <Sentence said={intent.said} />}
      <Facts
        rows={[
          [t('confidence'), `${Math.round(intent.confidence * 100)} %`],
          [
            t('read_by'),
            t(
              intent.source === 'llm'
                ? 'read_by_model'
                : intent.source === 'caller'
                  ? 'read_by_caller'
                  : 'read_by_local',
            ),
          ],
          ...(intent.missing?.length ? ([[t('missing'), intent.missing.join(', ')]] as [string, string][]) : []),
          ...Object.entries(intent.parameters).map(([name, value]): [string, React.ReactNode] => {
            const e = intent.evidence?.[name];
            return [
              visible(name),
              <span key={name}>
                <Value value={value} />{' '}
                {e && (
                  <span className="muted">
                    ({e.kind}, {Math.round(e.p * 100)} %)
                  </span>
                )}
              </span>,
            ];
          }),
        ]}
      />
      {intent.alternatives && intent.alternatives.length > 0 && (
        <>
          <h3>{t('why_not')}</h3>
          <Choices choices={intent.alternatives} />
        </>
      )}
    </Card>
  );
}

function Choices({ choices }: { choices: NonNullable<PlanPreview['choices']> }) {
  const t = useT();
  return (
    <Scroll label={t('choices')}>
      <table>
        <thead>
          <tr>
            <th scope="col">{t('capability')}</th>
            <th scope="col">{t('col_detail')}</th>
            <th scope="col" className="number">
              {t('confidence')}
            </th>
          </tr>
        </thead>
        <tbody>
          {choices.map((c) => (
            <tr key={`${c.domain}.${c.capability}`}>
              <th scope="row">
                <code>
                  {c.domain}.{c.capability}
                </code>
              </th>
              <td>{oneLine(c.description ?? '')}</td>
              <td className="number">{Math.round(c.confidence * 100)} %</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function Forecast({ preview: { forecast, cost, plan } }: { preview: PlanPreview }) {
  const t = useT();
  if (!forecast) return null;
  const asked = forecast.asked?.map(
    (a) => `${a.count} × ${a.type}${a.roles ? ` (${a.roles.join(', ')})` : ''}${a.perhaps ? ` ${t('perhaps')}` : ''}`,
  );
  return (
    <Facts
      rows={[
        [t('steps'), String(plan?.nodes.length ?? 0)],
        [t('who_asked_then'), asked?.join('; ') || t('nobody')],
        [
          t('forecast'),
          forecast.runs === 0
            ? t('forecast_none')
            : t('forecast_text', {
                n: forecast.runs,
                machine: duration(forecast.machine_ms.p50),
                people: duration(forecast.human_ms.p50),
              }),
        ],
        [t('cost'), cost?.usd ? `${cost.usd} USD` : cost?.tokens ? `${cost.tokens} ${t('col_tokens')}` : t('nothing')],
      ]}
    />
  );
}

function Picture({ preview }: { preview: PlanPreview }) {
  const nodes = useMemo(
    () =>
      preview.plan?.nodes.map(
        (n): NodeView => ({ ...n, state: n.policy?.approval_required ? 'awaiting_approval' : 'pending', attempts: 0 }),
      ) ?? [],
    [preview.plan],
  );
  return <Graph nodes={nodes} critical={nothing} bright={() => true} step={undefined} onStep={() => {}} />;
}

function Rows({ preview }: { preview: PlanPreview }) {
  const t = useT();
  return (
    <Scroll label={t('steps')}>
      <table id="steps">
        <thead>
          <tr>
            <th scope="col">{t('col_number')}</th>
            <th scope="col">{t('col_step')}</th>
            <th scope="col">{t('capability')}</th>
            <th scope="col">{t('waited_for')}</th>
            <th scope="col">{t('col_risk')}</th>
            <th scope="col">{t('policy_approval')}</th>
          </tr>
        </thead>
        <tbody>
          {preview.rows?.map((r) => (
            <tr key={r.node_id}>
              <td>{r.node_id}</td>
              <th scope="row">
                {visible(r.step)}
                {r.say && <p className="muted prose">{visible(r.say)}</p>}
              </th>
              <td>{r.tool ? <code>{r.tool}</code> : '–'}</td>
              <td>{r.depends_on?.join(', ') ?? '–'}</td>
              <td>{r.risk ? <RiskBadge risk={r.risk} /> : '–'}</td>
              <td>{r.approval ? visible(r.approval) : t('no')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
