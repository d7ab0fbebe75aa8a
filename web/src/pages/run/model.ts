// What the views of a run are made of: functions of what the API gives, without a browser.
import type { Event, NodeState, NodeView } from '../../api/types';

export interface Segment {
  kind: 'queued' | 'people' | 'attempt' | 'work';
  from: number;
  to: number;
  attempt?: number;
  failed?: boolean;
}

export interface Bar {
  node: NodeView;
  segments: Segment[];
}

const time = (at: string | undefined) => (at === undefined ? undefined : Date.parse(at));

/**
 * bars gives the time of each step in parts: waiting for its turn since what it depends on ended,
 * asking people, and each attempt. Where events tell nothing, the step's own times stand.
 */
export function bars(nodes: NodeView[], events: Event[], begun: number, now: number): Bar[] {
  const ends = new Map(nodes.map((n) => [n.node_id, time(n.finished_at)]));
  const told = new Map<string, Event[]>();
  for (const event of events) {
    if (!event.node_id) continue;
    const those = told.get(event.node_id);
    if (those) those.push(event);
    else told.set(event.node_id, [event]);
  }
  return nodes.map((node) => ({ node, segments: segmentsOf(node, told.get(node.node_id) ?? [], ends, begun, now) }));
}

function segmentsOf(
  node: NodeView,
  events: Event[],
  ends: Map<string, number | undefined>,
  begun: number,
  now: number,
): Segment[] {
  const start = time(node.started_at);
  if (start === undefined) return [];
  const end = time(node.finished_at) ?? now;
  const free = Math.max(begun, ...(node.depends_on ?? []).map((id) => ends.get(id) ?? begun));
  const out: Segment[] = [];
  if (start - free > 0) out.push({ kind: 'queued', from: free, to: start });
  const parts: Segment[] = [];
  let asked: number | undefined;
  let call: Segment | undefined;
  for (const event of events) {
    const at = Date.parse(event.at);
    if (event.type === 'interrupt') asked ??= at;
    if (event.type === 'interrupt_resolved' && asked !== undefined) {
      parts.push({ kind: 'people', from: asked, to: at });
      asked = undefined;
    }
    if (event.type === 'tool_call_start') {
      call = { kind: 'attempt', from: at, to: end, attempt: parts.filter((p) => p.kind === 'attempt').length + 1 };
      parts.push(call);
    }
    if (event.type === 'tool_call_end' && call) {
      call.to = at;
      call.failed = event.status === 'error';
      call = undefined;
    }
  }
  if (asked !== undefined) parts.push({ kind: 'people', from: asked, to: end });
  if (parts.length === 0)
    parts.push({ kind: node.kind === 'human' && (node.human_ms ?? 0) > 0 ? 'people' : 'work', from: start, to: end });
  return out.concat(parts);
}

/** Axis maps times to shares of a width, with the stretches in which nothing happened made short. */
export interface Axis {
  at(time: number): number;
  gaps: { at: number; ms: number }[];
}

/** A stretch without activity that is longer than this share of the whole is shortened to that share. */
const idleShare = 0.2;

/** axis makes the axis of some bars. Waiting for people is shortened too where it dwarfs all else. */
export function axis(all: Bar[], from: number, to: number): Axis {
  const total = Math.max(1, to - from);
  const busy = all
    .flatMap((b) => b.segments)
    .filter((s) => s.kind === 'attempt' || s.kind === 'work')
    .map((s): [number, number] => [Math.max(from, s.from), Math.min(to, s.to)])
    .sort((a, b) => a[0] - b[0]);
  const idle: [number, number][] = [];
  let reached = from;
  for (const [start, end] of busy) {
    if (start - reached > total * idleShare) idle.push([reached, start]);
    reached = Math.max(reached, end);
  }
  if (to - reached > total * idleShare) idle.push([reached, to]);
  const cut = idle.reduce((sum, [a, b]) => sum + b - a, 0);
  const kept = total - cut;
  if (kept <= 0 || idle.length === 0) return { at: (t) => clamp((t - from) / total), gaps: [] };
  const share = idleShare / (1 + idle.length * idleShare);
  const gap = (kept * share) / (1 - share * idle.length);
  const length = kept + gap * idle.length;
  const at = (t: number) => {
    let x = t - from;
    for (const [a, b] of idle) {
      if (t <= a) break;
      x -= (Math.min(t, b) - a) * (1 - gap / (b - a));
    }
    return clamp(x / length);
  };
  return { at, gaps: idle.map(([a, b]) => ({ at: (at(a) + at(b)) / 2, ms: b - a })) };
}

const clamp = (x: number) => Math.min(1, Math.max(0, x));

const asking: ReadonlySet<NodeState> = new Set<NodeState>([
  'awaiting_approval',
  'awaiting_input',
  'outcome_unknown',
  'failed',
  'rejected',
]);

/** needsAttention tells whether somebody should look at a step. */
export const needsAttention = (node: NodeView) => asking.has(node.state) || (node.checks?.some((c) => !c.ok) ?? false);

const unimportant: ReadonlySet<NodeState> = new Set<NodeState>(['completed', 'skipped', 'cancelled']);

/** Box is a node of the picture: a step, or many alike that are folded into one. */
export interface Box {
  id: string;
  nodes: NodeView[];
  after: string[];
}

/**
 * fold makes boxes of steps. Steps of one kind that wait for the same are one box when there are more
 * than limit of them; what waits for the copies of such a box folds likewise.
 */
export function fold(nodes: NodeView[], limit: number): Box[] {
  const known = new Map(nodes.map((n) => [n.node_id, n]));
  const waits = (n: NodeView) =>
    [...new Set([...(n.depends_on ?? []), ...(n.after ?? [])])].filter((id) => known.has(id));
  const boxOf = new Map<string, string>();
  const out: Box[] = [];
  for (const level of levels(nodes, waits)) {
    const groups = new Map<string, { after: string[]; nodes: NodeView[] }>();
    for (const node of level) {
      const after = [...new Set(waits(node).map((id) => boxOf.get(id) ?? id))].sort();
      const key = JSON.stringify([node.kind, node.tool, node.role, after]);
      const group = groups.get(key) ?? { after, nodes: [] };
      group.nodes.push(node);
      groups.set(key, group);
    }
    for (const group of groups.values()) {
      const boxes = group.nodes.length > limit ? [group.nodes] : group.nodes.map((n) => [n]);
      for (const members of boxes) {
        const first = members[0];
        if (!first) continue;
        for (const member of members) boxOf.set(member.node_id, first.node_id);
        out.push({ id: first.node_id, nodes: members, after: group.after });
      }
    }
  }
  return out;
}

/** levels orders steps by how many others they wait for, one after the other. */
function levels(nodes: NodeView[], waits: (n: NodeView) => string[]): NodeView[][] {
  const known = new Map(nodes.map((n) => [n.node_id, n]));
  const depth = new Map<string, number>();
  const open = new Map(nodes.map((n) => [n.node_id, waits(n).length]));
  const next = new Map<string, string[]>();
  for (const n of nodes) {
    for (const id of waits(n)) {
      const those = next.get(id);
      if (those) those.push(n.node_id);
      else next.set(id, [n.node_id]);
    }
  }
  const queue = nodes.filter((n) => open.get(n.node_id) === 0).map((n) => n.node_id);
  for (const id of queue) depth.set(id, 0);
  const out: NodeView[][] = [];
  for (let i = 0; i < queue.length; i++) {
    const id = queue[i] as string;
    const node = known.get(id);
    const level = depth.get(id) ?? 0;
    if (node) {
      out[level] ??= [];
      out[level].push(node);
    }
    for (const later of next.get(id) ?? []) {
      depth.set(later, Math.max(depth.get(later) ?? 0, level + 1));
      const left = (open.get(later) ?? 1) - 1;
      open.set(later, left);
      if (left === 0) queue.push(later);
    }
  }
  return out;
}

/** mostBoxes is how many boxes are drawn at most; steps are folded more the more there are. */
const mostBoxes = 300;

export function boxes(nodes: NodeView[]): Box[] {
  for (const limit of [8, 3, 1]) {
    const out = fold(nodes, limit);
    if (out.length <= mostBoxes || limit === 1) return out;
  }
  return [];
}

/** moved gives the boxes of a plan whose steps have gone on; those in which nothing happened stay the same objects. */
export function moved(before: Box[], nodes: NodeView[]): Box[] {
  const now = new Map(nodes.map((n) => [n.node_id, n]));
  return before.map((box) => {
    const members = box.nodes.map((n) => now.get(n.node_id) ?? n);
    return members.every((n, i) => n === box.nodes[i]) ? box : { ...box, nodes: members };
  });
}

/** samePlan tells whether steps are the same and wait for the same, whatever their states. */
export const samePlan = (a: NodeView[], b: NodeView[]) =>
  a.length === b.length &&
  a.every((n, i) => {
    const m = b[i];
    return (
      n === m ||
      (n.node_id === m?.node_id &&
        n.kind === m.kind &&
        n.tool === m.tool &&
        n.role === m.role &&
        sameIDs(n.depends_on, m.depends_on) &&
        sameIDs(n.after, m.after))
    );
  });

const sameIDs = (a: string[] | undefined, b: string[] | undefined) =>
  a === b || (a?.length === b?.length && (a?.every((id, i) => id === b?.[i]) ?? true));

/** stateOf is the state that a box shows: the one of its steps that matters most. */
export function stateOf(box: Box): NodeState {
  const order: NodeState[] = [
    'awaiting_approval',
    'awaiting_input',
    'outcome_unknown',
    'failed',
    'rejected',
    'running',
    'queued',
    'ready',
    'pending',
    'blocked',
    'completed',
    'skipped',
    'cancelled',
  ];
  return order.find((state) => box.nodes.some((n) => n.state === state)) ?? 'pending';
}

/** counts are how many steps are in each state, the first seen first. */
export function counts(nodes: NodeView[]): [NodeState, number][] {
  const out = new Map<NodeState, number>();
  for (const n of nodes) out.set(n.state, (out.get(n.state) ?? 0) + 1);
  return [...out];
}

/** done is how many steps there is nothing more to be done for. */
export const done = (nodes: NodeView[]) =>
  nodes.filter((n) => unimportant.has(n.state) || n.state === 'failed' || n.state === 'rejected').length;

export const domainOf = (node: { tool?: string }) => node.tool?.split('.')[0] ?? '';

/** title is how a step is called. */
export const titleOf = (node: { title?: string; tool?: string; node_id: string }) =>
  node.title || node.tool || node.node_id;

/** neighbour is the box that an arrow key leads to. */
export function neighbour(all: Box[], id: string, key: string): string | undefined {
  const box = all.find((b) => b.id === id);
  if (!box) return all[0]?.id;
  if (key === 'ArrowLeft') return box.after[0];
  if (key === 'ArrowRight') return all.find((b) => b.after.includes(id))?.id;
  const beside = all.filter(
    (b) => b.after.join() === box.after.join() || (b.after.length > 0 && b.after[0] === box.after[0]),
  );
  const at = beside.findIndex((b) => b.id === id);
  return beside[at + (key === 'ArrowDown' ? 1 : -1)]?.id;
}
