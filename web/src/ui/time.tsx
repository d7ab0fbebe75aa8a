import { useSyncExternalStore } from 'react';
import { useT, useWords } from '../i18n';

let now = Date.now();
const readers = new Set<() => void>();
setInterval(() => {
  now = Date.now();
  for (const read of readers) read();
}, 1000);
const subscribe = (read: () => void) => {
  readers.add(read);
  return () => readers.delete(read);
};

/** useNow is the time, once a second; with a step, once in so many seconds. */
export function useNow(step = 1): number {
  return useSyncExternalStore(subscribe, () => now - (now % (step * 1000)));
}

const units = [
  ['day', 86400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** ago says how far a time is from now, in words. */
export function ago(language: string, seconds: number): string {
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' });
  for (const [unit, size] of units) {
    if (Math.abs(seconds) >= size) return format.format(Math.trunc(seconds / size), unit);
  }
  return format.format(Math.trunc(seconds), 'second');
}

export const absolute = (language: string, at: string) =>
  new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' }).format(new Date(at));

/** Ago is a time as people say it; exactly in its title and when printed. */
export function Ago({ at }: { at: string }) {
  const { language } = useWords();
  const then = Date.parse(at);
  const current = useNow(Math.abs(Date.now() - then) < 120_000 ? 1 : 30);
  const exact = absolute(language, at);
  return (
    <time dateTime={at} title={exact}>
      <span className="screen-only">
        {ago(language, Math.min((then - current) / 1000, then > Date.now() ? Number.MAX_VALUE : 0))}
      </span>
      <span className="print-only">{exact}</span>
    </time>
  );
}

export function At({ at }: { at: string }) {
  const { language } = useWords();
  return <time dateTime={at}>{absolute(language, at)}</time>;
}

/** duration is the one style of all durations: "4 min 12 s". */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const s = Math.round(ms / 1000);
  const [d, h, m] = [Math.floor(s / 86400), Math.floor(s / 3600) % 24, Math.floor(s / 60) % 60];
  if (d > 0) return `${d} d ${h} h`;
  if (h > 0) return `${h} h ${m} min`;
  return `${m} min ${s % 60} s`;
}

/** Since is how long something is going on. */
export function Since({ at, until }: { at: string; until?: string }) {
  const current = useNow();
  return <>{duration((until ? Date.parse(until) : Math.max(current, Date.parse(at))) - Date.parse(at))}</>;
}

export function Expiry({ at }: { at: string | undefined }) {
  const t = useT();
  const { language } = useWords();
  const current = useNow(10);
  if (!at) return null;
  const left = Date.parse(at) - current;
  return (
    <span className={left < 3_600_000 ? 'urgent' : ''} title={absolute(language, at)}>
      {left <= 0 ? t('expired') : t('expires_in', { time: duration(Math.max(left, 60_000)).replace(/ \d+ s$/, '') })}
    </span>
  );
}
