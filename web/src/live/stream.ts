import type { Event } from '../api/types';

/** What a stream is doing, for people. */
export type LiveState = 'connecting' | 'live' | 'reconnecting' | 'polling' | 'paused' | 'ended';

/** Source is the part of EventSource that is used here. */
export interface Source {
  readonly readyState: number;
  addEventListener(type: string, listener: (event: { data?: unknown }) => void): void;
  close(): void;
}

/** Place is leave to hold one of the browser's few streams. */
export type Place = { release(): void };

export interface World {
  open(url: string): Source;
  /** take gives a place, or undefined if other tabs hold all. */
  take(): Promise<Place | undefined>;
  later(ms: number, f: () => void): () => void;
  random(): number;
  now(): number;
}

interface Config {
  url(after: number): string;
  /** Called with what came in, in order, without gaps or repeats, at most every 250 ms. */
  onEvents(events: Event[]): void;
  onState(state: LiveState): void;
  /** Called when what is shown may be old: read it anew. */
  onStale(): void;
}

const batch = 250;
const firstWait = 1000;
const longestWait = 30_000;
const pollEvery = 3000;
const beat = 5000;
const slept = 20_000;
const closed = 2;

/**
 * Stream follows the events of a run through whatever happens to the connection. The browser's
 * EventSource gives up for good after one refusal and forgets its place when made anew, so both are
 * kept here. A tab that is hidden or paused holds no connection. Browsers allow six to one server:
 * when other tabs hold the places that there are, this one asks every few seconds.
 */
export class Stream {
  private source: Source | undefined;
  private place: Place | undefined;
  private buffer: Event[] = [];
  private cancelFlush: (() => void) | undefined;
  private cancelRetry: (() => void) | undefined;
  private cancelBeat: (() => void) | undefined;
  private wait = firstWait;
  private running = false;
  private turn = 0;
  private lastBeat = 0;
  after: number;

  private readonly config: Config;
  private readonly world: World;

  constructor(config: Config, world: World, after = 0) {
    this.config = config;
    this.world = world;
    this.after = after;
  }

  start(): void {
    if (this.running) return;
    this.running = true;
    this.wait = firstWait;
    this.lastBeat = this.world.now();
    this.watch();
    void this.connect('connecting');
  }

  /** stop lets go of the connection; start goes on where it was. */
  stop(state: LiveState): void {
    this.running = false;
    this.turn++;
    this.drop();
    this.cancelBeat?.();
    this.flush();
    this.config.onState(state);
  }

  /** hurry tries at once, as when the network is back. */
  hurry(): void {
    if (!this.running || this.source?.readyState === 1) return;
    this.wait = firstWait;
    this.drop();
    this.config.onStale();
    void this.connect('reconnecting');
  }

  private async connect(state: LiveState): Promise<void> {
    const turn = ++this.turn;
    this.config.onState(state);
    const place = await this.world.take();
    if (turn !== this.turn) {
      place?.release();
      return;
    }
    if (!place) {
      this.poll();
      return;
    }
    this.place = place;
    const source = this.world.open(this.config.url(this.after));
    this.source = source;
    source.addEventListener('open', () => {
      if (source !== this.source) return;
      this.wait = firstWait;
      this.config.onState('live');
      if (state === 'reconnecting') this.config.onStale();
    });
    source.addEventListener('message', (e) => source === this.source && this.take(e.data));
    source.addEventListener('reset', () => {
      if (source !== this.source) return;
      this.flush();
      this.after = 0;
      this.config.onStale();
      this.retry();
    });
    source.addEventListener('bye', () => {
      if (source !== this.source) return;
      this.flush();
      this.config.onStale();
      this.retry();
    });
    source.addEventListener('error', () => source === this.source && this.failed(source));
  }

  private failed(source: Source): void {
    this.config.onState('reconnecting');
    if (source.readyState === closed) this.retry();
  }

  private retry(): void {
    this.drop();
    if (!this.running) return;
    this.config.onState('reconnecting');
    const wait = this.wait * (0.5 + this.world.random() / 2);
    this.wait = Math.min(this.wait * 2, longestWait);
    this.cancelRetry = this.world.later(wait, () => void this.connect('reconnecting'));
  }

  private poll(): void {
    this.config.onState('polling');
    this.config.onStale();
    this.cancelRetry = this.world.later(pollEvery, () => void this.connect('polling'));
  }

  private take(data: unknown): void {
    let event: Event;
    try {
      event = JSON.parse(String(data)) as Event;
    } catch {
      return;
    }
    if (!(event.seq > this.after)) return;
    this.after = event.seq;
    this.buffer.push(event);
    this.cancelFlush ??= this.world.later(batch, () => this.flush());
  }

  private flush(): void {
    this.cancelFlush?.();
    this.cancelFlush = undefined;
    const events = this.buffer;
    this.buffer = [];
    if (events.length > 0) this.config.onEvents(events);
  }

  /** watch notices that the machine has slept: connections are then dead without an error. */
  private watch(): void {
    this.cancelBeat = this.world.later(beat, () => {
      const now = this.world.now();
      const away = now - this.lastBeat;
      this.lastBeat = now;
      this.watch();
      if (away > slept) {
        this.drop();
        this.config.onStale();
        void this.connect('reconnecting');
      }
    });
  }

  private drop(): void {
    this.cancelRetry?.();
    this.cancelRetry = undefined;
    this.source?.close();
    this.source = undefined;
    this.place?.release();
    this.place = undefined;
  }
}

const places = ['manifold-stream-1', 'manifold-stream-2', 'manifold-stream-3'];

/** takePlace takes one of the places for streams that all tabs of a browser share. */
async function takePlace(): Promise<Place | undefined> {
  if (!navigator.locks) return { release: () => {} };
  for (const name of places) {
    const place = await new Promise<Place | undefined>((resolve) => {
      void navigator.locks.request(name, { ifAvailable: true }, (lock) => {
        if (!lock) {
          resolve(undefined);
          return undefined;
        }
        return new Promise<void>((done) => resolve({ release: done }));
      });
    });
    if (place) return place;
  }
  return undefined;
}

export const browser: World = {
  open: (url) => new EventSource(url),
  take: takePlace,
  later: (ms, f) => {
    const id = window.setTimeout(f, ms);
    return () => window.clearTimeout(id);
  },
  random: Math.random,
  now: Date.now,
};
