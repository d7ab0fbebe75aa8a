import dagre from '@dagrejs/dagre';

export interface LayoutIn {
  boxes: { id: string; after: string[] }[];
}
export interface LayoutOut {
  places: Record<string, { x: number; y: number }>;
  lines: Record<string, { x: number; y: number }[]>;
  width: number;
  height: number;
}

export const boxWidth = 208;
export const boxHeight = 60;

const [nodeGap, rankGap, margin] = [16, 44, 12];

/** Up to so many boxes dagre keeps lines short and apart; its time grows with the square of the boxes. */
const mostForDagre = 400;

/** layout places boxes from left to right; it depends on what waits for what, and on no state. */
export const layout = (input: LayoutIn): LayoutOut =>
  input.boxes.length > mostForDagre ? layered(input) : byDagre(input);

function byDagre({ boxes }: LayoutIn): LayoutOut {
  const g = new dagre.graphlib.Graph();
  g.setGraph({ rankdir: 'LR', nodesep: nodeGap, ranksep: rankGap, marginx: margin, marginy: margin });
  g.setDefaultEdgeLabel(() => ({}));
  const known = new Set(boxes.map((b) => b.id));
  for (const box of boxes) g.setNode(box.id, { width: boxWidth, height: boxHeight });
  for (const box of boxes) for (const from of box.after) if (known.has(from)) g.setEdge(from, box.id);
  dagre.layout(g);
  const out: LayoutOut = { places: {}, lines: {}, width: g.graph().width ?? 0, height: g.graph().height ?? 0 };
  for (const id of g.nodes()) {
    const { x, y } = g.node(id);
    out.places[id] = { x: x - boxWidth / 2, y: y - boxHeight / 2 };
  }
  for (const edge of g.edges()) out.lines[`${edge.v}>${edge.w}`] = g.edge(edge).points ?? [];
  return out;
}

/**
 * layered is a layout in time proportional to boxes and lines: a column for each length of the longest
 * way to a box, and in it each box as near as possible to the middle of what it waits for. Lines are straight.
 */
export function layered({ boxes }: LayoutIn): LayoutOut {
  const columns = ranks(boxes);
  const middles = new Map<string, number>();
  for (const column of columns) {
    for (const [id, y] of spread(column, middles)) middles.set(id, y);
  }
  let [top, bottom] = [0, 0];
  for (const y of middles.values()) [top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
  const places: LayoutOut['places'] = {};
  columns.forEach((column, rank) => {
    const x = margin + rank * (boxWidth + rankGap);
    for (const { id } of column) places[id] = { x, y: margin + (middles.get(id) ?? 0) - top };
  });
  const width = 2 * margin + columns.length * (boxWidth + rankGap) - rankGap;
  return { places, lines: {}, width, height: 2 * margin + bottom - top + boxHeight };
}

/** spread gives the middles of a column's boxes, by those of the columns before it. */
function spread(column: LayoutIn['boxes'], middles: Map<string, number>): [string, number][] {
  let last = 0;
  const wanted = column.map(({ id, after }): [string, number] => {
    const from = after.flatMap((before) => middles.get(before) ?? []);
    if (from.length > 0) last = from.reduce((a, b) => a + b, 0) / from.length;
    return [id, last]; // what waits for nothing stays beside the box before it
  });
  wanted.sort((a, b) => a[1] - b[1]);
  let [free, moved] = [Number.NEGATIVE_INFINITY, 0];
  const apart = wanted.map(([id, y]): [string, number] => {
    const at = Math.max(y, free);
    free = at + boxHeight + nodeGap;
    moved += at - y;
    return [id, at];
  });
  return apart.map(([id, y]) => [id, y - moved / column.length]);
}

/** ranks are the boxes by the longest way that leads to each. */
function ranks(boxes: LayoutIn['boxes']): LayoutIn['boxes'][] {
  const known = new Map(boxes.map((b) => [b.id, b]));
  const next = new Map<string, string[]>(boxes.map((b) => [b.id, []]));
  const waits = new Map<string, number>();
  for (const box of boxes) {
    const after = box.after.filter((id) => known.has(id));
    waits.set(box.id, after.length);
    for (const id of after) next.get(id)?.push(box.id);
  }
  const out: LayoutIn['boxes'][] = [];
  let free = boxes.filter((b) => waits.get(b.id) === 0);
  while (free.length > 0) {
    out.push(free);
    const freed: LayoutIn['boxes'] = [];
    for (const { id } of free) {
      for (const later of next.get(id) ?? []) {
        const left = (waits.get(later) ?? 0) - 1;
        waits.set(later, left);
        const box = known.get(later);
        if (left === 0 && box) freed.push(box);
      }
    }
    free = freed;
  }
  return out;
}
