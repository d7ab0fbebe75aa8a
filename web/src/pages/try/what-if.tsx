import { useQuery } from '@tanstack/react-query';
import { type Call, type PlanOptions, planCalls } from '../../api/call';
import { capabilities } from '../../api/queries';
import type { PlanPreview } from '../../api/types';
import { useT } from '../../i18n';
import { Card, Scroll } from '../../ui/parts';
import { visible } from '../../ui/value';
import { CallForm } from './call-form';

/** Options are what else a plan depends on: whether it only pretends, and whether somebody is there. */
export function Options({ options, onOptions }: { options: PlanOptions; onOptions: (next: PlanOptions) => void }) {
  const t = useT();
  return (
    <>
      {(['dry_run', 'unattended'] as const).map((name) => (
        <label key={name} className="check">
          <input
            type="checkbox"
            checked={options[name] ?? false}
            onChange={(e) => onOptions({ ...options, [name]: e.target.checked || undefined })}
          />
          {t(name)}
        </label>
      ))}
    </>
  );
}

interface Props {
  preview: PlanPreview;
  /** The plan that this one is a change of. */
  before: PlanPreview | undefined;
  options: PlanOptions;
  pending: boolean;
  onOptions: (next: PlanOptions) => void;
  onPlan: (plan: () => Promise<PlanPreview>) => void;
}

/** WhatIf plans what was understood once more, with other values, and tells what differs. */
export function WhatIf({ preview, before, options, pending, onOptions, onPlan }: Props) {
  const t = useT();
  const known = useQuery(capabilities).data?.items ?? [];
  const intents = preview.intents ?? [];
  const calls = intents.map(
    ({ domain, capability, parameters }): Call => ({ domain, capability, parameters: parameters ?? {} }),
  );
  if (calls.length === 0) return null;
  const goal = preview.plan?.goal;
  return (
    <Card title={t('what_if')} id="what-if">
      <p className="muted">{t('what_if_text')}</p>
      <div className="row">
        <Options options={options} onOptions={onOptions} />
      </div>
      {calls.map((call, i) => {
        const found = known.find((c) => c.domain === call.domain && c.name === call.capability);
        return (
          found && (
            <details key={`${found.ref}${i}`} open={calls.length === 1}>
              <summary>
                <code>{found.ref}</code>
              </summary>
              <CallForm
                capability={found}
                values={call.parameters}
                pending={pending}
                onPlan={(parameters) =>
                  onPlan(() => planCalls(calls.with(i, { ...call, parameters }), { ...options, goal }))
                }
              />
            </details>
          )
        );
      })}
      {before && <Differences before={before} after={preview} />}
    </Card>
  );
}

/** traits are what people compare two plans by. */
function traits(preview: PlanPreview, t: ReturnType<typeof useT>): [string, string][] {
  const values = (preview.intents ?? []).flatMap((intent) =>
    Object.entries(intent.parameters ?? {}).map(([name, value]): [string, string] => [
      `${intent.capability}.${name}`,
      JSON.stringify(value),
    ]),
  );
  const asked = preview.forecast?.asked?.map(
    (a) => `${a.count} × ${a.type}${a.roles ? ` (${a.roles.join(', ')})` : ''}`,
  );
  return [
    ...values,
    [t('steps'), (preview.rows ?? []).map((row) => row.tool ?? row.step).join(', ')],
    [t('who_asked_then'), asked?.join('; ') || t('nobody')],
    [
      t('policy_approval'),
      [...new Set((preview.rows ?? []).map((r) => r.approval).filter(Boolean))].join('; ') || t('no'),
    ],
    [t('dry_run'), t(preview.plan?.dry_run ? 'yes' : 'no')],
    [t('plan_hash'), preview.plan_hash?.slice(0, 16) ?? '–'],
  ];
}

function Differences({ before, after }: { before: PlanPreview; after: PlanPreview }) {
  const t = useT();
  const old = new Map(traits(before, t));
  const now = new Map(traits(after, t));
  const names = [...new Set([...old.keys(), ...now.keys()])].filter((name) => old.get(name) !== now.get(name));
  return (
    <>
      <h3 id="differs">{t('what_differs')}</h3>
      {names.length === 0 ? (
        <p>{t('diff_same')}</p>
      ) : (
        <Scroll label={t('what_differs')}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t('name')}</th>
                <th scope="col">{t('col_before')}</th>
                <th scope="col">{t('col_after')}</th>
              </tr>
            </thead>
            <tbody>
              {names.map((name) => (
                <tr key={name}>
                  <th scope="row">{visible(name)}</th>
                  <td>
                    <del>{visible(old.get(name) ?? '')}</del>
                  </td>
                  <td>
                    <ins>{visible(now.get(name) ?? '')}</ins>
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
