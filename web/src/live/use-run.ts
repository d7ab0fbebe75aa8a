import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { segment } from '../api/client';
import { eventsAfter, figures, run } from '../api/queries';
import type { Event, RunView } from '../api/types';
import { applyEvents, needsReading } from './apply';
import { browser, type LiveState, Stream } from './stream';

export const over = (view: RunView | undefined) => view?.finished_at !== undefined;

/**
 * useRun gives a run with its events, live while it goes on. What the stream says is shown at once;
 * the run is read anew when something came that events do not tell, and otherwise at a pace that
 * leaves most of the time to the browser, however large the run.
 */
export function useRun(id: string, paused: boolean) {
  const client = useQueryClient();
  const view = useQuery(run(id));
  const [events, setEvents] = useState<Event[]>([]);
  const [live, setLive] = useState<LiveState>('connecting');
  const [heard, setHeard] = useState(() => Date.now());
  const stream = useRef<Stream>(undefined);
  const ended = over(view.data);

  useEffect(() => {
    let reading: Promise<unknown> | undefined;
    let again = false;
    let timer: number | undefined;
    const read = () => {
      window.clearTimeout(timer);
      timer = undefined;
      if (reading) {
        again = true;
        return;
      }
      const began = performance.now();
      reading = Promise.all([client.invalidateQueries(run(id)), client.invalidateQueries(figures(id))]).finally(() => {
        reading = undefined;
        const took = performance.now() - began;
        if (again) timer = window.setTimeout(read, Math.max(300, took * 4));
        again = false;
      });
    };
    const add = (more: Event[]) => {
      setHeard(Date.now());
      setEvents((before) => {
        const last = before.at(-1)?.seq ?? 0;
        const fresh = more.filter((e) => e.seq > last);
        return fresh.length > 0 ? before.concat(fresh) : before;
      });
    };
    const follow = new Stream(
      {
        url: (after) => `/v1/runs/${segment(id)}/stream?after=${after}`,
        onState: setLive,
        onEvents: (more) => {
          add(more);
          client.setQueryData(run(id).queryKey, (old) => old && applyEvents(old, more));
          if (needsReading(more)) read();
          else timer ??= window.setTimeout(read, 1500);
        },
        onStale: () => {
          read();
          void catchUp();
        },
      },
      browser,
    );
    /** catchUp reads the events themselves: where no stream is to be had, and once at the beginning. */
    const catchUp = async () => {
      const more = await eventsAfter(id, follow.after).catch(() => []);
      const last = more.at(-1)?.seq ?? 0;
      if (last > follow.after) follow.after = last;
      if (more.length > 0) add(more);
    };
    stream.current = follow;
    setEvents([]);
    return () => {
      window.clearTimeout(timer);
      follow.stop('ended');
      stream.current = undefined;
    };
  }, [id, client]);

  const known = view.isSuccess;
  useEffect(() => {
    const follow = stream.current;
    if (!known || !follow) return;
    let gone = false;
    if (ended) {
      void eventsAfter(id, 0, (soFar) => !gone && setEvents(soFar)).catch(() => {});
      follow.stop('ended');
      return () => {
        gone = true;
      };
    }
    const decide = () => {
      if (paused) follow.stop('paused');
      else if (document.visibilityState === 'visible') follow.start();
      else follow.stop('paused');
    };
    const back = () => follow.hurry();
    decide();
    document.addEventListener('visibilitychange', decide);
    window.addEventListener('online', back);
    return () => {
      gone = true;
      document.removeEventListener('visibilitychange', decide);
      window.removeEventListener('online', back);
    };
  }, [id, known, ended, paused]);

  return { view, events, live: ended ? ('ended' as const) : live, heard };
}
