import { describe, expect, test } from 'vitest';
import type { Event, NodeView } from '../../api/types';
import { applyEvents } from '../../live/apply';
import { shares } from './critical';
import { boxHeight, boxWidth, layout } from './layout';
import { axis, bars, boxes, fold, moved, neighbour, samePlan, stateOf } from './model';

const node = (id: string, after: string[] = [], more: Partial<NodeView> = {}): NodeView => ({
  node_id: id,
  kind: 'tool',
  required: true,
  state: 'pending',
  attempts: 0,
  depends_on: after,
  ...more,
});

describe('folding', () => {
  const many = (n: number) => [
    node('a'),
    ...Array.from({ length: n }, (_, i) =>
      node(`b${i}`, ['a'], { tool: 'x.y', state: i === 3 ? 'failed' : 'completed' }),
    ),
    ...Array.from({ length: n }, (_, i) => node(`c${i}`, [`b${i}`], { tool: 'x.z' })),
    node(
      'end',
      Array.from({ length: n }, (_, i) => `c${i}`),
    ),
  ];

  test('makes one box of many that are alike, and of what follows each', () => {
    const out = fold(many(40), 8);
    expect(out.map((b) => b.nodes.length)).toEqual([1, 40, 40, 1]);
    expect(out[3]?.after).toEqual([out[2]?.id]);
    expect(stateOf(out[1] as (typeof out)[number])).toBe('failed');
  });

  test('leaves a few as they are', () => {
    expect(fold(many(3), 8)).toHaveLength(8);
  });

  test('draws 5,000 steps as few boxes', () => {
    expect(boxes(many(2500)).length).toBeLessThan(10);
  });
});

test('arrow keys follow what waits for what', () => {
  const all = fold(
    [node('a'), node('b', ['a'], { tool: 'x.b' }), node('c', ['a'], { tool: 'x.c' }), node('d', ['b', 'c'])],
    8,
  );
  expect(neighbour(all, 'a', 'ArrowRight')).toBe('b');
  expect(neighbour(all, 'b', 'ArrowDown')).toBe('c');
  expect(neighbour(all, 'c', 'ArrowUp')).toBe('b');
  expect(neighbour(all, 'd', 'ArrowLeft')).toBe('b');
});

test('boxes stand right of what they wait for', () => {
  const out = layout({
    boxes: [
      { id: 'a', after: [] },
      { id: 'b', after: ['a'] },
      { id: 'c', after: ['b'] },
    ],
  });
  const x = (id: string) => out.places[id]?.x ?? Number.NaN;
  expect(x('a')).toBeLessThan(x('b'));
  expect(x('b')).toBeLessThan(x('c'));
});

test.each([30, 3000])('of %i boxes none covers another, and each stands right of what it waits for', (n) => {
  const shape = Array.from({ length: n }, (_, i) => ({
    id: `n${i}`,
    after: [i - 7, i % 5 === 0 ? i - 19 : -1, i % 11 === 0 ? Math.floor(i / 3) : -1]
      .filter((before) => before >= 0 && before < i)
      .map((before) => `n${before}`),
  }));
  const { places, width, height } = layout({ boxes: shape });
  expect(Object.keys(places)).toHaveLength(n);
  const columns = new Map<number, number[]>();
  for (const { id, after } of shape) {
    const at = places[id] ?? { x: Number.NaN, y: Number.NaN };
    columns.set(at.x, [...(columns.get(at.x) ?? []), at.y]);
    for (const before of after) expect(places[before]?.x).toBeLessThan(at.x - boxWidth);
    expect(at.x >= 0 && at.y >= 0 && at.x + boxWidth <= width && at.y + boxHeight <= height + 0.01).toBe(true);
  }
  for (const ys of columns.values()) {
    ys.sort((a, b) => a - b);
    for (let i = 1; i < ys.length; i++) expect((ys[i] ?? 0) - (ys[i - 1] ?? 0)).toBeGreaterThanOrEqual(boxHeight);
  }
});

test('a step that goes on changes its own box and no other', () => {
  const before = [node('a'), node('b', ['a']), node('c', ['a'])];
  const all = boxes(before);
  const after = before.map((n) => (n.node_id === 'b' ? { ...n, state: 'running' as const } : n));
  expect(samePlan(before, after)).toBe(true);
  const next = moved(all, after);
  expect(next.map((b, i) => b === all[i])).toEqual(all.map((b) => b.id !== 'b'));
  expect(next.find((b) => b.id === 'b')?.nodes[0]?.state).toBe('running');
  expect(samePlan(before, [node('a'), node('b', ['a']), node('c', ['b'])])).toBe(false);
  expect(samePlan(before, before.slice(1))).toBe(false);
});

describe('the timeline', () => {
  const at = (ms: number) => new Date(ms).toISOString();
  const event = (seq: number, ms: number, type: Event['type'], status = ''): Event => ({
    session_id: 's',
    seq,
    at: at(ms),
    type,
    node_id: 'n',
    status,
  });

  test('parts waiting, people and attempts', () => {
    const n = node('n', [], { started_at: at(100), finished_at: at(5000), attempts: 2 });
    const events = [
      event(1, 100, 'interrupt'),
      event(2, 3000, 'interrupt_resolved'),
      event(3, 3000, 'tool_call_start'),
      event(4, 3500, 'tool_call_end', 'error'),
      event(5, 4000, 'tool_call_start'),
      event(6, 5000, 'tool_call_end', 'result'),
    ];
    const [bar] = bars([n], events, 0, 6000);
    expect(bar?.segments.map((s) => [s.kind, s.from, s.to, s.failed ?? false])).toEqual([
      ['queued', 0, 100, false],
      ['people', 100, 3000, false],
      ['attempt', 3000, 3500, true],
      ['attempt', 4000, 5000, false],
    ]);
  });

  test('shortens what dwarfs all else, and stays in order', () => {
    const day = 86_400_000;
    const one = node('a', [], { started_at: at(0), finished_at: at(100) });
    const two = node('b', ['a'], { started_at: at(day), finished_at: at(day + 100) });
    const scale = axis(bars([one, two], [], 0, day + 100), 0, day + 100);
    expect(scale.gaps).toHaveLength(1);
    expect(scale.at(100)).toBeGreaterThan(0.3);
    expect(scale.at(day)).toBeGreaterThan(scale.at(100));
    expect(scale.at(day + 100)).toBeCloseTo(1);
  });
});

test('shares add up to 100', () => {
  for (const sizes of [
    [1, 1, 1],
    [7, 2, 90, 1],
    [1, 1, 1, 1, 1, 1, 1],
  ])
    expect(shares(sizes).reduce((a, b) => a + b)).toBe(100);
  expect(shares([0, 0])).toEqual([0, 0]);
});

test('events move only the steps that they name', () => {
  const run = { nodes: [node('a'), node('b')] } as unknown as Parameters<typeof applyEvents>[0];
  const events = [
    { type: 'node_start', node_id: 'a' },
    { type: 'node_end', node_id: 'a', status: 'completed' },
    { type: 'node_end', node_id: 'b', status: 'what?' },
  ] as Event[];
  const next = applyEvents(run, events);
  expect(next.nodes.map((n) => n.state)).toEqual(['completed', 'pending']);
  expect(next.nodes[1]).toBe(run.nodes[1]);
});
