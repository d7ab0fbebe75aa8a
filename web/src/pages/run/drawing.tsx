import type { NodeView } from '../../api/types';
import { useT } from '../../i18n';
import { nodeLooks, type Tone } from '../../ui/state';
import { visible } from '../../ui/value';
import { boxHeight, boxWidth } from './layout';
import { counts, stateOf, titleOf } from './model';
import { useBoxes } from './use-boxes';
import { useLayout } from './use-layout';

/** A tone is told by its border, so that it is seen in black and white. */
const borders: Record<Tone, { dash?: string; width: number }> = {
  idle: { dash: '6 4', width: 1 },
  run: { width: 2 },
  ask: { dash: '2 3', width: 2 },
  ok: { width: 1 },
  warn: { dash: '10 3 2 3', width: 2 },
  bad: { width: 4 },
  off: { dash: '1 4', width: 1 },
};

const clip = (text: string, length: number) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

/** Drawing is the graph as it stands, for paper and files: nothing in it moves or needs a style sheet. */
export function Drawing({ nodes, critical }: { nodes: NodeView[]; critical: ReadonlySet<string> }) {
  const t = useT();
  const { all, shape } = useBoxes(nodes);
  const placed = useLayout(shape);
  if (!placed || all.length === 0) return null;
  return (
    <svg
      xmlns="http://www.w3.org/2000/svg"
      className="drawing"
      role="img"
      aria-label={t('graph')}
      viewBox={`0 0 ${placed.width} ${placed.height}`}
      fontFamily="sans-serif"
      fontSize="12"
    >
      <rect width="100%" height="100%" fill="#fff" />
      {Object.entries(placed.lines).map(([id, points]) => (
        <polyline
          key={id}
          points={points.map((p) => `${p.x},${p.y}`).join(' ')}
          fill="none"
          stroke="#333"
          strokeWidth={id.split('>').every((end) => critical.has(end)) ? 3 : 1}
        />
      ))}
      {all.map((box) => {
        const first = box.nodes[0];
        const at = placed.places[box.id];
        if (!first || !at) return null;
        const look = nodeLooks[stateOf(box)];
        const many = box.nodes.length > 1;
        const told = many
          ? counts(box.nodes)
              .map(([state, n]) => `${n} ${t(nodeLooks[state].word)}`)
              .join(', ')
          : t(look.word);
        const mark = box.nodes.some((n) => critical.has(n.node_id)) ? '◆ ' : '';
        const title = many ? `${first.tool ?? titleOf(first)} × ${box.nodes.length}` : titleOf(first);
        return (
          <g key={box.id} transform={`translate(${at.x} ${at.y})`}>
            <title>{`${visible(title)}: ${told}`}</title>
            <rect
              width={boxWidth}
              height={boxHeight}
              rx="4"
              fill="#fff"
              stroke="#111"
              strokeWidth={borders[look.tone].width}
              strokeDasharray={borders[look.tone].dash}
            />
            <text x="10" y="24" fontWeight="bold" fill="#111">
              {mark + clip(visible(title), 30)}
            </text>
            <text x="10" y="44" fill="#333">
              {clip(told, 34)}
            </text>
          </g>
        );
      })}
    </svg>
  );
}
