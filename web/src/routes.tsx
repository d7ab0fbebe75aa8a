import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import type { InterruptStatus, RunState } from './api/types';
import { Missing, Shell } from './shell';

const root = createRootRouteWithContext<{ client: QueryClient }>()({ component: Shell, notFoundComponent: Missing });

export type RunTab = 'graph' | 'timeline' | 'events' | 'ledger';
export type RunShow = 'attention' | 'critical';
export type DomainTab = 'capabilities' | 'versions' | 'change' | 'manifest';
type Search = Record<string, unknown>;
const text = (value: unknown) =>
  typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined;
const yes = (value: unknown) => (value === true || value === 'true' || value === 1 || undefined) as true | undefined;

/** among is a value of a search parameter that is one of a few, and else is not there. */
function among<T extends string>(value: unknown, ...all: T[]): T | undefined {
  return all.find((one) => one === value);
}

const runStates: RunState[] = [
  'running',
  'waiting',
  'cancelling',
  'failed',
  'rejected',
  'cancelled',
  'degraded',
  'completed',
];
const gateStates: InterruptStatus[] = ['open', 'approved', 'rejected', 'answered', 'expired', 'superseded'];

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/runs', replace: true });
  },
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: (s: Search): { next?: string } => ({ next: text(s.next) }),
  component: lazyRouteComponent(() => import('./pages/sign-in'), 'SignIn'),
});

const runs = createRoute({
  getParentRoute: () => root,
  path: '/runs',
  validateSearch: (
    s: Search,
  ): { state?: RunState; all?: true; q?: string; domain?: string; owner?: string; before?: string } => ({
    state: among(s.state, ...runStates),
    all: yes(s.all),
    q: text(s.q),
    domain: text(s.domain),
    owner: text(s.owner),
    before: text(s.before),
  }),
  component: lazyRouteComponent(() => import('./pages/runs'), 'Runs'),
});

const run = createRoute({
  getParentRoute: () => root,
  path: '/runs/$run',
  validateSearch: (s: Search): { view?: RunTab; show?: RunShow; step?: string; attempt?: number; q?: string } => ({
    view: among(s.view, 'graph', 'timeline', 'events', 'ledger'),
    show: among(s.show, 'attention', 'critical'),
    step: text(s.step),
    attempt: Number(s.attempt) > 0 ? Number(s.attempt) : undefined,
    q: text(s.q),
  }),
  component: lazyRouteComponent(() => import('./pages/run'), 'Run'),
});

const print = createRoute({
  getParentRoute: () => root,
  path: '/runs/$run/print',
  component: lazyRouteComponent(() => import('./pages/run/print'), 'Print'),
});

const approvals = createRoute({
  getParentRoute: () => root,
  path: '/approvals',
  validateSearch: (s: Search): { status?: InterruptStatus } => ({ status: among(s.status, ...gateStates) }),
  component: lazyRouteComponent(() => import('./pages/approvals'), 'Approvals'),
});

const approval = createRoute({
  getParentRoute: () => root,
  path: '/approvals/$gate',
  component: lazyRouteComponent(() => import('./pages/gate'), 'Gate'),
});

const tryIt = createRoute({
  getParentRoute: () => root,
  path: '/try',
  validateSearch: (s: Search): { session?: string; say?: string; capability?: string } => ({
    session: text(s.session),
    say: text(s.say),
    capability: text(s.capability),
  }),
  component: lazyRouteComponent(() => import('./pages/try'), 'Try'),
});

const domains = createRoute({
  getParentRoute: () => root,
  path: '/domains',
  component: lazyRouteComponent(() => import('./pages/domains'), 'Domains'),
});

const domain = createRoute({
  getParentRoute: () => root,
  path: '/domains/$domain',
  validateSearch: (s: Search): { tab?: DomainTab; q?: string; thing?: string; from?: string; to?: string } => ({
    tab: among(s.tab, 'capabilities', 'versions', 'change', 'manifest'),
    q: text(s.q),
    thing: text(s.thing),
    from: text(s.from),
    to: text(s.to),
  }),
  component: lazyRouteComponent(() => import('./pages/domain'), 'Domain'),
});

const figures = createRoute({
  getParentRoute: () => root,
  path: '/figures',
  validateSearch: (s: Search): { all?: true; domain?: string; last?: number } => ({
    all: yes(s.all),
    domain: text(s.domain),
    last: typeof s.last === 'number' ? s.last : undefined,
  }),
  component: lazyRouteComponent(() => import('./pages/figures'), 'Figures'),
});

const settings = createRoute({
  getParentRoute: () => root,
  path: '/settings',
  component: lazyRouteComponent(() => import('./pages/settings'), 'Settings'),
});

const tree = root.addChildren([
  home,
  signIn,
  runs,
  run,
  print,
  approvals,
  approval,
  tryIt,
  domains,
  domain,
  figures,
  settings,
]);

export function makeRouter(client: QueryClient) {
  return createRouter({ routeTree: tree, context: { client }, defaultPreload: 'intent', scrollRestoration: true });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
}
