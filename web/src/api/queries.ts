import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { ApiError, api, query, segment, setCSRF } from './client';
import type * as T from './types';

/** What lists are asked anew for while somebody looks at them. */
const every = 4000;

export const session = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }) => {
    try {
      const s = await api<T.Session | undefined>('GET', '/v1/session', { signal, anonymous: true });
      if (!s) return null;
      setCSRF(s.csrf);
      return s;
    } catch (err) {
      if (err instanceof ApiError && err.status === 401) return null;
      throw err;
    }
  },
  staleTime: 60_000,
});

export interface RunFilter {
  state?: T.RunState;
  all?: boolean;
  q?: string;
  domain?: string;
  owner?: string;
  before?: string;
  score_below?: number;
  session_id?: string;
}

export const runs = (filter: RunFilter) =>
  infiniteQueryOptions({
    queryKey: ['runs', filter],
    queryFn: ({ pageParam, signal }) =>
      api<T.Page<T.RunSummary>>('GET', `/v1/runs${query({ ...filter, timing: true, cursor: pageParam })}`, { signal }),
    initialPageParam: '',
    getNextPageParam: (page) => page.next,
    refetchInterval: every,
  });

/** runCounts counts the runs in each state, by the filters but the state. */
export const runCounts = ({ state: _, score_below: __, ...filter }: RunFilter) =>
  queryOptions({
    queryKey: ['runs', 'counts', filter],
    queryFn: ({ signal }) => api<T.RunCounts>('GET', `/v1/runs/counts${query(filter)}`, { signal }),
    refetchInterval: every,
  });

export const run = (id: string) =>
  queryOptions({
    queryKey: ['run', id],
    queryFn: ({ signal }) => api<T.RunView>('GET', `/v1/runs/${segment(id)}`, { signal }),
  });

export const figures = (id: string) =>
  queryOptions({
    queryKey: ['figures', id],
    queryFn: ({ signal }) => api<T.RunMetrics>('GET', `/v1/runs/${segment(id)}/figures`, { signal }),
  });

export const ledger = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['ledger', id],
    queryFn: ({ pageParam, signal }) =>
      api<T.Page<T.LedgerEntry>>('GET', `/v1/runs/${segment(id)}/ledger${query({ limit: 500, cursor: pageParam })}`, {
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: (page) => page.next,
  });

/** eventsAfter gives all events of a run after a place; onPage sees what there is so far with each page. */
export async function eventsAfter(id: string, after: number, onPage?: (soFar: T.Event[]) => void): Promise<T.Event[]> {
  const out: T.Event[] = [];
  let cursor: string | undefined;
  do {
    const at = cursor === undefined ? { after, limit: 1000 } : { cursor, limit: 1000 };
    const page = await api<T.Page<T.Event>>('GET', `/v1/runs/${segment(id)}/events${query(at)}`);
    out.push(...page.items);
    cursor = page.next;
    onPage?.(out.slice());
  } while (cursor !== undefined);
  return out;
}

export interface GateFilter {
  status?: T.InterruptStatus;
  run_id?: string;
  session_id?: string;
}

export const gates = (filter: GateFilter) =>
  infiniteQueryOptions({
    queryKey: ['gates', filter],
    queryFn: ({ pageParam, signal }) =>
      api<T.Page<T.Interrupt>>('GET', `/v1/gates${query({ ...filter, limit: 100, cursor: pageParam })}`, { signal }),
    initialPageParam: '',
    getNextPageParam: (page) => page.next,
    refetchInterval: every,
  });

export const gate = (id: string) =>
  queryOptions({
    queryKey: ['gate', id],
    queryFn: ({ signal }) => api<T.Interrupt>('GET', `/v1/gates/${segment(id)}`, { signal }),
    refetchInterval: every,
  });

export const sheet = (id: string) =>
  queryOptions({
    queryKey: ['gate', id, 'sheet'],
    queryFn: ({ signal }) => api<T.GateView>('GET', `/v1/gates/${segment(id)}/sheet`, { signal }),
  });

export const capabilities = queryOptions({
  queryKey: ['capabilities'],
  queryFn: ({ signal }) => api<T.Page<T.CapabilityView>>('GET', '/v1/capabilities', { signal }),
  staleTime: 60_000,
});

export const domains = queryOptions({
  queryKey: ['domains'],
  queryFn: ({ signal }) => api<T.Page<T.DomainView>>('GET', '/v1/domains', { signal }),
  refetchInterval: 10_000,
});

export const domain = (name: string) =>
  queryOptions({
    queryKey: ['domain', name],
    queryFn: ({ signal }) => api<T.DomainDetail>('GET', `/v1/domains/${segment(name)}`, { signal }),
    refetchInterval: 10_000,
  });

export const domainDiff = (name: string) =>
  queryOptions({
    queryKey: ['domain', name, 'diff'],
    queryFn: ({ signal }) => api<T.DomainDiff>('GET', `/v1/domains/${segment(name)}/diff`, { signal }),
  });

export const stats = (filter: { all?: boolean; domain?: string; last?: number }) =>
  queryOptions({
    queryKey: ['stats', filter],
    queryFn: ({ signal }) => api<T.Stats>('GET', `/v1/stats${query(filter)}`, { signal }),
    refetchInterval: 10_000,
  });

export const conversation = (id: string) =>
  queryOptions({
    queryKey: ['conversation', id],
    queryFn: ({ signal }) => api<T.SessionResponse>('GET', `/v1/sessions/${segment(id)}`, { signal }),
    refetchInterval: 2000,
  });

export interface Ready {
  ready: boolean;
  version?: string;
  store: string;
  active_runs: number;
  domains?: Record<string, string>;
}

export const ready = queryOptions({
  queryKey: ['ready'],
  queryFn: ({ signal }) => api<Ready>('GET', '/ready', { signal }),
});

export const settings = queryOptions({
  queryKey: ['settings'],
  queryFn: ({ signal }) => api<T.Settings>('GET', '/v1/settings', { signal }),
});
