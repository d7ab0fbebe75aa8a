import { useMemo, useRef } from 'react';
import type { NodeView } from '../../api/types';
import type { LayoutIn } from './layout';
import { type Box, boxes, moved, samePlan } from './model';

interface Boxes {
  all: Box[];
  /** What the layout is made of: the same object as long as the plan is the same. */
  shape: LayoutIn;
}

/** useBoxes folds the steps of a run once for each plan, and then only follows their states. */
export function useBoxes(nodes: NodeView[]): Boxes {
  const kept = useRef<Boxes & { nodes: NodeView[] }>(undefined);
  return useMemo(() => {
    const before = kept.current;
    if (before && samePlan(before.nodes, nodes)) {
      kept.current = { nodes, all: moved(before.all, nodes), shape: before.shape };
    } else {
      const all = boxes(nodes);
      kept.current = { nodes, all, shape: { boxes: all.map(({ id, after }) => ({ id, after })) } };
    }
    return kept.current;
  }, [nodes]);
}
