import { parseExact } from './json';
import type { Problem } from './types';

/** ApiError is what went wrong with a request: the server's problem, or that there was no answer. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly problem: Problem | undefined;

  constructor(status: number, code: string, message: string, problem?: Problem) {
    super(message);
    this.status = status;
    this.code = code;
    this.problem = problem;
  }
}

export const unreachable = 'unreachable';

let csrf = '';
let onSignedOut: () => void = () => {};

/** setCSRF keeps the token of the session, in memory only. */
export function setCSRF(token: string): void {
  csrf = token;
}

/** whenSignedOut is called when a request finds that the session has ended. */
export function whenSignedOut(f: () => void): void {
  onSignedOut = f;
}

interface Options {
  body?: unknown;
  /** How long the server may hold the answer back until there is something to tell. */
  wait?: number;
  signal?: AbortSignal;
  /** A request that is repeated with the same key is done once. */
  key?: string;
  /** A 401 is an answer and not the end of the session. */
  anonymous?: boolean;
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

export async function api<T>(method: Method, path: string, options: Options = {}): Promise<T> {
  const headers: Record<string, string> = { Accept: 'application/json' };
  if (method !== 'GET') headers['X-CSRF-Token'] = csrf;
  if (options.body !== undefined) headers['Content-Type'] = 'application/json';
  if (options.wait) headers.Prefer = `wait=${options.wait}`;
  if (options.key) headers['Idempotency-Key'] = options.key;
  const body = options.body === undefined ? undefined : JSON.stringify(options.body);
  let response: Response;
  let text: string;
  try {
    response = await fetch(path, {
      method,
      headers,
      body,
      signal: options.signal,
      credentials: 'same-origin',
      cache: 'no-store',
    });
    text = await response.text();
  } catch (err) {
    if (options.signal?.aborted) throw err;
    throw new ApiError(0, unreachable, '');
  }
  if (response.ok) return (text === '' ? undefined : parseExact(text)) as T;
  const problem = readProblem(text);
  if (response.status === 401 && !options.anonymous) onSignedOut();
  throw new ApiError(response.status, problem?.code ?? 'internal', problem?.detail ?? response.statusText, problem);
}

function readProblem(text: string): Problem | undefined {
  try {
    const value = JSON.parse(text) as Problem;
    return typeof value.detail === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** query writes parameters; what is not set is left out, since the server refuses empty ones. */
export function query(params: Record<string, string | number | boolean | undefined>): string {
  const out = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== '' && value !== false) out.set(name, String(value));
  }
  const text = out.toString();
  return text && `?${text}`;
}

export const segment = encodeURIComponent;
