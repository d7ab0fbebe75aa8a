import type { Event, NodeState, NodeView, RunView } from '../api/types';

/** stateAfter is what an event says that a node has become; undefined if it says nothing of it. */
function stateAfter(event: Event): NodeState | undefined {
  switch (event.type) {
    case 'node_start':
    case 'tool_call_start':
      return 'running';
    case 'node_error':
      return 'failed';
    case 'node_end':
      return (event.status as NodeState | undefined) ?? 'completed';
    default:
      return undefined;
  }
}

/** known are the states that events may name; what else they say is left to the next reading. */
const known: ReadonlySet<string> = new Set<NodeState>([
  'pending',
  'ready',
  'queued',
  'running',
  'awaiting_approval',
  'awaiting_input',
  'blocked',
  'outcome_unknown',
  'completed',
  'failed',
  'skipped',
  'rejected',
  'cancelled',
]);

/**
 * applyEvents brings a run forward by events, so that the page moves at once; the whole is read anew
 * soon after. Nodes that did not change stay the same objects.
 */
export function applyEvents(run: RunView, events: Event[]): RunView {
  const next = new Map<string, NodeState>();
  for (const event of events) {
    const state = stateAfter(event);
    if (event.node_id && state && known.has(state)) next.set(event.node_id, state);
  }
  let changed = false;
  const nodes = run.nodes.map((node): NodeView => {
    const state = next.get(node.node_id);
    if (!state || state === node.state) return node;
    changed = true;
    return { ...node, state };
  });
  return changed ? { ...run, nodes } : run;
}

/** tells whether something came that needs reading: a question, an end, new nodes. */
export const needsReading = (events: Event[]) =>
  events.some(
    (e) =>
      e.type === 'interrupt' ||
      e.type === 'interrupt_resolved' ||
      e.type === 'expand' ||
      e.type === 'verdict' ||
      e.type === 'done',
  );
