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

/** layout places boxes from left to right; it depends on what waits for what, and on no state. */
export function layout({ boxes }: LayoutIn): LayoutOut {
  const g = new dagre.graphlib.Graph();
  g.setGraph({ rankdir: 'LR', nodesep: 16, ranksep: 44, marginx: 12, marginy: 12 });
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
