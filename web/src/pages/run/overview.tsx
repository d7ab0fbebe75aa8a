import { Panel, useReactFlow, useStore } from '@xyflow/react';
import type { PointerEvent } from 'react';
import { useT } from '../../i18n';
import type { Tone } from '../../ui/state';
import { boxHeight, boxWidth, type LayoutOut } from './layout';

interface Props {
  placed: LayoutOut;
  /** The tone of each box, by its id. */
  tones: ReadonlyMap<string, Tone>;
}

/** Overview is the whole graph in little, one path for each tone, with what is in view. */
export function Overview({ placed, tones }: Props) {
  const t = useT();
  const flow = useReactFlow();
  const [x, y, zoom] = useStore((s) => s.transform);
  const width = useStore((s) => s.width);
  const height = useStore((s) => s.height);
  const paths = new Map<Tone, string>();
  for (const [id, tone] of tones) {
    const at = placed.places[id];
    if (at) paths.set(tone, `${paths.get(tone) ?? ''}M${at.x} ${at.y}h${boxWidth}v${boxHeight}h-${boxWidth}z`);
  }
  const go = (event: PointerEvent<SVGSVGElement>) => {
    if (event.buttons === 0) return;
    const frame = event.currentTarget.getBoundingClientRect();
    const [toX, toY] = [(event.clientX - frame.left) / frame.width, (event.clientY - frame.top) / frame.height];
    void flow.setCenter(toX * placed.width, toY * placed.height, { zoom });
  };
  return (
    <Panel position="bottom-right" className="overview">
      <svg
        role="img"
        aria-label={t('graph_map')}
        viewBox={`0 0 ${placed.width} ${placed.height}`}
        preserveAspectRatio="none"
        onPointerDown={go}
        onPointerMove={go}
      >
        {[...paths].map(([tone, d]) => (
          <path key={tone} className={`tone-${tone}`} d={d} />
        ))}
        <rect className="in-view" x={-x / zoom} y={-y / zoom} width={width / zoom} height={height / zoom} />
      </svg>
    </Panel>
  );
}
