import type { NodeView, RunMetrics } from '../../api/types';
import { useT } from '../../i18n';
import { Scroll } from '../../ui/parts';
import { duration } from '../../ui/time';
import { visible } from '../../ui/value';
import { titleOf } from './model';

interface Part {
  node: NodeView;
  kind: 'people' | 'machine';
  ms: number;
}

/** parts are the stretches of the critical path that took time, people's and machines' apart. */
export function parts(nodes: NodeView[], path: string[]): Part[] {
  const known = new Map(nodes.map((n) => [n.node_id, n]));
  return path.flatMap((id): Part[] => {
    const node = known.get(id);
    if (!node) return [];
    const out: Part[] = [];
    if (node.human_ms) out.push({ node, kind: 'people', ms: node.human_ms });
    if (node.machine_ms) out.push({ node, kind: 'machine', ms: node.machine_ms });
    return out;
  });
}

/** shares gives whole percentages that add up to 100. */
export function shares(sizes: number[]): number[] {
  const total = sizes.reduce((a, b) => a + b, 0);
  if (total === 0) return sizes.map(() => 0);
  const exact = sizes.map((s) => (s / total) * 100);
  const out = exact.map(Math.floor);
  const left = 100 - out.reduce((a, b) => a + b, 0);
  const byRest = exact.map((e, i) => [e - Math.floor(e), i] as const).sort((a, b) => b[0] - a[0]);
  for (const [, i] of byRest.slice(0, left)) out[i] = (out[i] ?? 0) + 1;
  return out;
}

export function Critical({
  nodes,
  figures,
  onStep,
}: {
  nodes: NodeView[];
  figures: RunMetrics;
  onStep: (id: string) => void;
}) {
  const t = useT();
  const all = parts(nodes, figures.critical_path.nodes);
  const percent = shares(all.map((p) => p.ms));
  if (all.length === 0) return <p className="muted">{t('critical_none')}</p>;
  const { human_ms: people, machine_ms: machine } = figures.critical_path;
  return (
    <>
      <p>
        {people > 0
          ? t('critical_people', {
              share: Math.round((people / (people + machine)) * 100),
              whole: duration(people + machine),
              rest: duration(machine),
            })
          : t('critical_machine', { whole: duration(machine) })}{' '}
        {figures.parallelism > 1 && t('parallelism', { n: figures.parallelism.toFixed(1) })}
      </p>
      <Scroll label={t('critical_path')}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t('col_step')}</th>
              <th scope="col">{t('col_part')}</th>
              <th scope="col" className="number">
                {t('col_took')}
              </th>
              <th scope="col" className="number">
                {t('col_share')}
              </th>
              <th scope="col" className="wide">
                {t('col_time')}
              </th>
            </tr>
          </thead>
          <tbody>
            {all.map((part, i) => (
              <tr key={i}>
                <th scope="row">
                  <button type="button" className="link" onClick={() => onStep(part.node.node_id)}>
                    {visible(titleOf(part.node))}
                  </button>
                </th>
                <td>{t(part.kind === 'people' ? 'part_people' : 'part_work')}</td>
                <td className="number">{duration(part.ms)}</td>
                <td className="number">{percent[i]} %</td>
                <td className="wide">
                  <span className="track" aria-hidden="true">
                    <span
                      className={`bar segment tone-${part.kind === 'people' ? 'ask' : 'run'}`}
                      style={{ left: 0, width: `max(4px, ${percent[i]}%)` }}
                    />
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </>
  );
}
