// Calls of capabilities with parameters as data: a plan first, as for a sentence, then a run of exactly it.
import { ApiError, api, segment } from './client';
import type { CapabilityView, NodeView, PlanPreview, RunView, SessionResponse } from './types';

export interface Call {
  domain: string;
  capability: string;
  parameters: Record<string, unknown>;
}

export interface PlanOptions {
  goal?: string;
  dry_run?: true;
  unattended?: true;
}

/** planCalls tells what would be done for some calls; nothing is run. */
export function planCalls(calls: Call[], options: PlanOptions = {}): Promise<PlanPreview> {
  const intents = calls.map((call, i) => ({ id: `i${i + 1}`, ...call, confidence: 1 }));
  return api<PlanPreview>('POST', '/v1/plans', { body: { ...options, intents } });
}

/** runPlan runs exactly a plan that was looked at, once. */
export const runPlan = (hash: string, wait: number, options: { dry_run?: true; session_id?: string } = {}) =>
  api<SessionResponse>('POST', '/v1/runs', {
    body: { plan_hash: hash, ...options },
    wait,
    key: crypto.randomUUID(),
  });

/** Looked is what a read has found, and the run that it was made by. */
export interface Looked {
  run: RunView;
  node: NodeView | undefined;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** look makes one read by a run of its own, and waits until it has ended or waits for a person. */
export async function look(call: Call, goal: string, signal: AbortSignal): Promise<Looked> {
  const preview = await planCalls([call], { goal });
  if (!preview.plan_hash) throw new ApiError(0, 'unplanned', preview.message ?? preview.questions?.[0]?.prompt ?? '');
  const session = await runPlan(preview.plan_hash, 20);
  const id = session.run_ids.at(-1) ?? '';
  let run = await api<RunView>('GET', `/v1/runs/${segment(id)}`, { signal });
  while (!run.finished_at && run.state !== 'waiting') {
    await pause(500);
    run = await api<RunView>('GET', `/v1/runs/${segment(id)}`, { signal });
  }
  return { run, node: run.nodes.find((n) => n.tool === `${call.domain}.${call.capability}` && !n.role) };
}

/** Versioned says by which capabilities a domain tells of the versions of its things. */
export interface Versioned {
  domain: string;
  /** The parameter that names a thing. */
  thing: string;
  list: string;
  search: boolean;
  restore: string;
}

interface Parameters {
  properties?: Record<string, unknown>;
  required?: string[];
}

/**
 * versioned finds out whether things of a domain have versions, by the names of capabilities and of
 * their parameters alone: list_Xs, list_versions(X_id), diff_versions(X_id, from, to) and
 * rollback_X(X_id, version).
 */
export function versioned(all: CapabilityView[], domain: string): Versioned | undefined {
  const mine = new Map(all.filter((c) => c.domain === domain).map((c) => [c.name, c.schema as Parameters]));
  const thing = mine.get('list_versions')?.required?.[0];
  const diff = mine.get('diff_versions')?.properties;
  if (!thing?.endsWith('_id') || !diff || !('from' in diff) || !('to' in diff)) return undefined;
  const kind = thing.slice(0, -'_id'.length);
  const list = `list_${kind}s`;
  const restore = `rollback_${kind}`;
  if (!mine.has(list) || !('version' in (mine.get(restore)?.properties ?? {}))) return undefined;
  return { domain, thing, list, search: 'query' in (mine.get(list)?.properties ?? {}), restore };
}

export type Row = Record<string, unknown>;

const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value);

/** rowsOf is the list among some facts, by its name or the only one there is. */
export function rowsOf(facts: Row | undefined, name?: string): Row[] {
  const lists = Object.entries(facts ?? {}).filter(([key, v]) => Array.isArray(v) && (!name || key === name));
  return ((lists[0]?.[1] as unknown[]) ?? []).filter(isRow);
}

/** Change is one difference between two versions: where, and from what to what. */
export interface Change {
  kind: string;
  place: string;
  before?: string;
  after?: string;
}

const text = (value: unknown) =>
  typeof value === 'string' ? value : value === undefined ? undefined : JSON.stringify(value);

/** changesOf reads a difference: lists by the kind of change, of texts or of records with before and after. */
export function changesOf(difference: unknown): Change[] {
  if (!isRow(difference)) return [];
  return Object.entries(difference).flatMap(([kind, list]) =>
    (Array.isArray(list) ? list : []).map((item): Change => {
      if (!isRow(item)) return { kind, place: text(item) ?? '' };
      const { before, after, ...where } = item;
      const places = [...new Set(Object.values(where).map((v) => text(v) ?? ''))].filter(Boolean);
      return { kind, place: places.join(' · '), before: text(before), after: text(after) };
    }),
  );
}
