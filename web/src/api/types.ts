import type { components } from './schema';

type S = components['schemas'];
export type Action = S['Action'];
export type Answer = S['Answer'];
export type Block = S['Block'];
export type CapabilityView = S['CapabilityView'];
export type DomainDetail = S['DomainDetail'];
export type DomainDiff = S['DomainDiff'];
export type DomainReport = S['DomainReport'];
export type DomainView = S['DomainView'];
export type Event = S['Event'];
export type EvidenceItem = S['EvidenceItem'];
export type FieldDifference = S['FieldDifference'];
export type GateView = S['GateView'];
export type GroupStats = S['GroupStats'];
export type Intent = S['Intent'];
export type Interrupt = S['Interrupt'];
export type InterruptStatus = S['InterruptStatus'];
export type LedgerEntry = S['LedgerEntry'];
export type NodeState = S['NodeState'];
export type NodeView = S['NodeView'];
export type PlanNode = S['Node'];
export type PlanPreview = S['PlanPreview'];
export type Problem = S['Problem'];
export type Provenance = S['Provenance'];
export type Resume = S['Resume'];
export type RiskLevel = S['RiskLevel'];
export type RunCounts = S['RunCounts'];
export type RunMetrics = S['RunMetrics'];
export type RunState = S['RunState'];
export type RunSummary = S['RunSummary'];
export type RunView = S['RunView'];
export type Utterance = S['Utterance'];
export type SessionResponse = S['SessionResponse'];
export type Settings = S['Settings'];
export type GateViewRow = S['GateViewRow'];
export type Stats = S['Stats'];
export type Verdict = S['Verdict'];

/** A page of a list; without next it is the last. */
export interface Page<T> {
  items: T[];
  next?: string;
}

/** Whom the browser is signed in as. */
export type Session = S['SignedIn'];
