import {
  BaseEdge,
  type Edge,
  type EdgeProps,
  Handle,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
} from '@xyflow/react';
import '@xyflow/react/dist/base.css';
import { type KeyboardEvent, memo, useCallback, useEffect, useMemo, useRef } from 'react';
import type { NodeState, NodeView } from '../../api/types';
import { useT } from '../../i18n';
import { Icon } from '../../ui/icon';
import { useKeys } from '../../ui/keys';
import { Legend, nodeLooks } from '../../ui/state';
import { visible } from '../../ui/value';
import { boxHeight, boxWidth, type LayoutIn } from './layout';
import { type Box, counts, domainOf, neighbour, stateOf, titleOf } from './model';
import { Overview } from './overview';
import { useBoxes } from './use-boxes';
import { useLayout } from './use-layout';

interface Shown extends Record<string, unknown> {
  title: string;
  under: string;
  state: NodeState;
  tally: string;
  critical: boolean;
  chosen: boolean;
  faint: boolean;
}
type Card = Node<Shown, 'step'>;
type Line = Edge<{ points: { x: number; y: number }[]; critical: boolean; faint: boolean }, 'line'>;

const StepCard = memo(function StepCard({ data }: NodeProps<Card>) {
  const t = useT();
  const look = nodeLooks[data.state];
  const classes = [
    'step',
    `tone-${look.tone}`,
    data.critical && 'critical',
    data.chosen && 'chosen',
    data.faint && 'faint',
  ];
  return (
    <div className={classes.filter(Boolean).join(' ')}>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <span className="step-title">
        {data.critical && <Icon name="diamond" />}
        {data.title}
      </span>
      <span className="step-state">
        <Icon name={look.icon} />
        {data.tally || t(look.word)}
        <span className="step-under">{data.under}</span>
        {data.critical && <span className="hidden">{t('critical_path')}</span>}
      </span>
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  );
});

function StepLine({ id, data, markerEnd }: EdgeProps<Line>) {
  const path = (data?.points ?? []).map((p, i) => `${i === 0 ? 'M' : 'L'}${p.x} ${p.y}`).join(' ');
  const classes = ['line', data?.critical && 'critical', data?.faint && 'faint'];
  return (
    <BaseEdge
      id={id}
      path={path}
      markerEnd={markerEnd}
      className={classes.filter(Boolean).join(' ')}
      interactionWidth={0}
    />
  );
}

const nodeTypes = { step: StepCard };
const edgeTypes = { line: StepLine };

interface Props {
  nodes: NodeView[];
  critical: ReadonlySet<string>;
  /** Steps that are shown whole; the others are faint. */
  bright: (node: NodeView) => boolean;
  step: string | undefined;
  onStep: (id: string | undefined) => void;
}

export default function Graph(props: Props) {
  return (
    <ReactFlowProvider>
      <Picture {...props} />
    </ReactFlowProvider>
  );
}

function Picture({ nodes, critical, bright, step, onStep }: Props) {
  const t = useT();
  const flow = useReactFlow();
  const frame = useRef<HTMLDivElement>(null);
  const { all, shape } = useBoxes(nodes);
  const placed = useLayout(shape);
  const current = step && all.find((b) => b.nodes.some((n) => n.node_id === step))?.id;
  const cards = useCards(all, placed, { critical, bright, current });
  const lines = useLines(all, shape, placed, { critical, bright });
  const tones = useMemo(() => new Map(cards.map((c) => [c.id, nodeLooks[c.data.state].tone])), [cards]);

  /** look brings a box into view, and gives it the focus once it is drawn. */
  const look = useCallback(
    (id: string, focus: boolean) => {
      const at = placed?.places[id];
      if (!at) return;
      void flow.setCenter(at.x + boxWidth / 2, at.y + boxHeight / 2, { zoom: Math.max(flow.getZoom(), 0.6) });
      if (!focus) return;
      requestAnimationFrame(() =>
        requestAnimationFrame(() =>
          frame.current?.querySelector<HTMLElement>(`[data-id="${CSS.escape(id)}"]`)?.focus(),
        ),
      );
    },
    [flow, placed],
  );

  const entry =
    current ||
    (all.find((b) => ['awaiting_approval', 'awaiting_input', 'failed', 'running'].includes(stateOf(b))) ?? all[0])?.id;
  const begun = useRef<unknown>(undefined);
  useEffect(() => {
    if (!placed || begun.current === placed) return;
    begun.current = placed;
    const box = frame.current?.getBoundingClientRect();
    if (!box) return;
    const zoom = Math.min(1, (box.width - 24) / placed.width, (box.height - 24) / placed.height);
    if (zoom >= 0.55) {
      void flow.setViewport({ x: 0, y: Math.max(0, (box.height - placed.height * zoom) / 2), zoom });
      return;
    }
    const at = entry ? placed.places[entry] : undefined;
    void flow.setCenter((at?.x ?? 0) + boxWidth / 2, (at?.y ?? 0) + boxHeight / 2, { zoom: 0.7 });
  }, [placed, flow, entry]);

  const keys = useMemo(
    () => ({
      '+': () => void flow.zoomIn(),
      '-': () => void flow.zoomOut(),
      '0': () => void flow.fitView({ minZoom: 0.1, maxZoom: 1 }),
    }),
    [flow],
  );
  useKeys(keys);

  const pressed = (event: KeyboardEvent) => {
    const id = (event.target as HTMLElement).closest<HTMLElement>('.react-flow__node')?.dataset.id;
    if (!id) return;
    if (event.key.startsWith('Arrow')) {
      event.preventDefault();
      event.stopPropagation();
      const next = neighbour(all, id, event.key);
      if (next) look(next, true);
    } else if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      event.stopPropagation();
      onStep(id);
    }
  };

  return (
    <section aria-label={t('graph')}>
      <a className="skip" href="#steps">
        {t('graph_skip')}
      </a>
      <div className="graph" ref={frame} onKeyDownCapture={pressed}>
        {placed && (
          <ReactFlow
            nodes={cards}
            edges={lines}
            nodeTypes={nodeTypes}
            edgeTypes={edgeTypes}
            nodesDraggable={false}
            nodesConnectable={false}
            edgesFocusable={false}
            elementsSelectable={false}
            nodesFocusable
            onNodeClick={(_, node) => onStep(node.id)}
            minZoom={0.1}
            maxZoom={1.5}
            onlyRenderVisibleElements={cards.length > 60}
            disableKeyboardA11y
            preventScrolling={false}
            zoomOnScroll={false}
            proOptions={{ hideAttribution: true }}
          >
            {cards.length > 40 && <Overview placed={placed} tones={tones} />}
          </ReactFlow>
        )}
        <fieldset className="zoom" aria-label={t('key_zoom')}>
          <button type="button" aria-label={t('zoom_in')} onClick={() => void flow.zoomIn()}>
            +
          </button>
          <button type="button" aria-label={t('zoom_out')} onClick={() => void flow.zoomOut()}>
            −
          </button>
          <button
            type="button"
            aria-label={t('zoom_all')}
            onClick={() => void flow.fitView({ minZoom: 0.1, maxZoom: 1 })}
          >
            ⤢
          </button>
        </fieldset>
      </div>
      <Legend looks={counts(nodes).map(([state]) => nodeLooks[state])} />
    </section>
  );
}

/** route is the way of a line: out of the middle of one box, past the others, into the middle of the next. */
function route(placed: ReturnType<typeof useLayout>, from: string, to: string): { x: number; y: number }[] {
  const [a, b] = [placed?.places[from], placed?.places[to]];
  if (!a || !b) return [];
  const between = placed?.lines[`${from}>${to}`]?.slice(1, -1) ?? [];
  const past = between.filter((p) => p.x > a.x + boxWidth + 4 && p.x < b.x - 4);
  return [{ x: a.x + boxWidth, y: a.y + boxHeight / 2 }, ...past, { x: b.x, y: b.y + boxHeight / 2 }];
}

interface Marks {
  critical: ReadonlySet<string>;
  bright: (node: NodeView) => boolean;
}

/** useKept gives what is made of each box; of a box that is the same object as before, the same as before. */
function useKept<T>(all: Box[], make: (box: Box) => T): T[] {
  const kept = useRef<{ make: (box: Box) => T; of: Map<Box, T> }>(undefined);
  return useMemo(() => {
    const before = kept.current?.make === make ? kept.current.of : undefined;
    const of = new Map(all.map((box) => [box, before?.get(box) ?? make(box)]));
    kept.current = { make, of };
    return [...of.values()];
  }, [all, make]);
}

/** useLines gives the lines between boxes: the same objects while only states of steps change. */
function useLines(
  all: Box[],
  shape: LayoutIn,
  placed: ReturnType<typeof useLayout>,
  { critical, bright }: Marks,
): Line[] {
  const faint = useMemo(() => JSON.stringify(all.filter((b) => !b.nodes.some(bright)).map((b) => b.id)), [all, bright]);
  return useMemo(() => {
    const isFaint = new Set<string>(JSON.parse(faint));
    return shape.boxes.flatMap(({ id, after }) =>
      after.map((from) => ({
        id: `${from}>${id}`,
        source: from,
        target: id,
        type: 'line',
        focusable: false,
        selectable: false,
        data: {
          points: route(placed, from, id),
          critical: critical.has(from) && critical.has(id),
          faint: isFaint.has(id),
        },
      })),
    );
  }, [shape, placed, critical, faint]);
}

/** Where lines end, so that a card need not be drawn to know. */
const handles: Card['handles'] = [
  { type: 'target', position: Position.Left, x: 0, y: boxHeight / 2, width: 1, height: 1 },
  { type: 'source', position: Position.Right, x: boxWidth, y: boxHeight / 2, width: 1, height: 1 },
];

/** useCards gives the card of each box; the chosen one alone is reached by the tab key. */
function useCards(
  all: Box[],
  placed: ReturnType<typeof useLayout>,
  { critical, bright, current }: Marks & { current: string | undefined },
): Card[] {
  const t = useT();
  const make = useCallback(
    (box: Box): Card | undefined => {
      const first = box.nodes[0];
      const position = placed?.places[box.id];
      if (!first || !position) return undefined;
      const many = box.nodes.length > 1;
      const tally = many
        ? counts(box.nodes)
            .map(([s, n]) => `${n} ${t(nodeLooks[s].word).toLowerCase()}`)
            .join(', ')
        : '';
      return {
        id: box.id,
        type: 'step',
        position,
        data: {
          title: many ? `${visible(first.tool ?? titleOf(first))} × ${box.nodes.length}` : visible(titleOf(first)),
          under: domainOf(first),
          state: stateOf(box),
          tally,
          critical: box.nodes.some((n) => critical.has(n.node_id)),
          chosen: false,
          faint: !box.nodes.some(bright),
        },
        handles,
        width: boxWidth,
        height: boxHeight,
        draggable: false,
        ariaRole: 'button',
        domAttributes: { tabIndex: -1, 'aria-roledescription': undefined, 'aria-describedby': undefined },
      };
    },
    [placed, critical, bright, t],
  );
  const made = useKept(all, make);
  const focusable = current ?? all[0]?.id;
  return useMemo(
    () =>
      made.flatMap((card) => {
        if (!card || card.id !== focusable) return card ?? [];
        const data = { ...card.data, chosen: card.id === current };
        return { ...card, data, domAttributes: { ...card.domAttributes, tabIndex: 0 } };
      }),
    [made, focusable, current],
  );
}
