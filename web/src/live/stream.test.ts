import { describe, expect, test } from 'vitest';
import type { Event } from '../api/types';
import { type LiveState, type Source, Stream, type World } from './stream';

class Fake implements Source {
  readyState = 0;
  private listeners = new Map<string, (event: { data?: unknown }) => void>();
  readonly url: string;
  constructor(url: string) {
    this.url = url;
  }
  addEventListener(type: string, listener: (event: { data?: unknown }) => void) {
    this.listeners.set(type, listener);
  }
  close() {
    this.readyState = 2;
  }
  say(type: string, data?: unknown) {
    this.listeners.get(type)?.({ data });
  }
  open() {
    this.readyState = 1;
    this.say('open');
  }
  event(seq: number) {
    this.say('message', JSON.stringify({ seq, type: 'node_start' }));
  }
  refuse() {
    this.readyState = 2;
    this.say('error');
  }
}

/** A world in which time passes when it is told to. */
function world(places = 3) {
  let now = 0;
  let free = places;
  const timers: { at: number; f: () => void }[] = [];
  const opened: Fake[] = [];
  const w: World = {
    open: (url) => {
      const fake = new Fake(url);
      opened.push(fake);
      return fake;
    },
    take: async () => {
      if (free === 0) return undefined;
      free--;
      return { release: () => free++ };
    },
    later: (ms, f) => {
      const timer = { at: now + ms, f };
      timers.push(timer);
      return () => {
        const at = timers.indexOf(timer);
        if (at >= 0) timers.splice(at, 1);
      };
    },
    random: () => 1,
    now: () => now,
  };
  const settle = async () => {
    for (let i = 0; i < 5; i++) await Promise.resolve();
  };
  const pass = async (ms: number) => {
    const end = now + ms;
    for (;;) {
      const next = timers.filter((t) => t.at <= end).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      timers.splice(timers.indexOf(next), 1);
      now = Math.max(now, next.at);
      next.f();
      await settle();
    }
    now = end;
  };
  const sleep = (ms: number) => {
    now += ms;
  };
  return { w, opened, pass, settle, sleep, places: () => free };
}

function stream(w: World) {
  const seen: number[] = [];
  const states: LiveState[] = [];
  let stale = 0;
  const s = new Stream(
    {
      url: (after) => `/s?after=${after}`,
      onEvents: (events: Event[]) => seen.push(...events.map((e) => e.seq)),
      onState: (state) => states.push(state),
      onStale: () => stale++,
    },
    w,
  );
  return { s, seen, states, stale: () => stale };
}

describe('a stream', () => {
  test('gives events in batches, once each', async () => {
    const { w, opened, pass, settle } = world();
    const { s, seen, states } = stream(w);
    s.start();
    await settle();
    opened[0]?.open();
    opened[0]?.event(1);
    opened[0]?.event(2);
    opened[0]?.event(2);
    expect(seen).toEqual([]);
    await pass(250);
    expect(seen).toEqual([1, 2]);
    expect(states.at(-1)).toBe('live');
  });

  test('that is refused comes back by itself, from where it was, ever more slowly', async () => {
    const { w, opened, pass, settle } = world();
    const { s, seen, states } = stream(w);
    s.start();
    await settle();
    opened[0]?.open();
    opened[0]?.event(7);
    opened[0]?.refuse();
    expect(states.at(-1)).toBe('reconnecting');
    await pass(1000);
    expect(opened[1]?.url).toBe('/s?after=7');
    opened[1]?.refuse();
    await pass(1000);
    expect(opened).toHaveLength(2);
    await pass(1000);
    expect(opened).toHaveLength(3);
    opened[2]?.open();
    opened[2]?.event(8);
    await pass(250);
    expect(seen).toEqual([7, 8]);
  });

  test('without a place asks every few seconds, and streams once there is one', async () => {
    const { w, opened, pass, settle } = world(1);
    const first = stream(w);
    const second = stream(w);
    first.s.start();
    await settle();
    second.s.start();
    await settle();
    expect(second.states.at(-1)).toBe('polling');
    await pass(9000);
    expect(second.stale()).toBe(4);
    first.s.stop('paused');
    await pass(3000);
    expect(opened).toHaveLength(2);
  });

  test('gives its place back when it stops, and goes on from where it was', async () => {
    const { w, opened, pass, settle, places } = world(3);
    const { s, seen } = stream(w);
    s.start();
    await settle();
    opened[0]?.open();
    opened[0]?.event(3);
    s.stop('paused');
    expect(seen).toEqual([3]);
    expect(places()).toBe(3);
    s.start();
    await settle();
    expect(opened[1]?.url).toBe('/s?after=3');
    opened[0]?.event(4);
    await pass(250);
    expect(seen).toEqual([3]);
  });

  test('notices that the machine has slept', async () => {
    const { w, opened, pass, settle, sleep } = world();
    const { s, stale } = stream(w);
    s.start();
    await settle();
    opened[0]?.open();
    await pass(5000);
    sleep(60_000);
    await pass(5000);
    expect(stale()).toBe(1);
    expect(opened).toHaveLength(2);
  });

  test('whose place is lost begins anew', async () => {
    const { w, opened, pass, settle } = world();
    const { s, stale } = stream(w);
    s.start();
    await settle();
    opened[0]?.open();
    opened[0]?.event(9);
    opened[0]?.say('reset', '{}');
    await pass(1000);
    expect(opened[1]?.url).toBe('/s?after=0');
    expect(stale()).toBe(1);
  });
});
