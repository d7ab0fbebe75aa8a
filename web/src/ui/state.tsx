import type { InterruptStatus, NodeState, RiskLevel, RunState } from '../api/types';
import { type Key, useT } from '../i18n';
import { Icon, type IconName } from './icon';

/** Tone is how a state is drawn: a border and a pattern beside the colour, an icon and a word. */
export type Tone = 'idle' | 'run' | 'ask' | 'ok' | 'warn' | 'bad' | 'off';
interface Look {
  tone: Tone;
  icon: IconName;
  word: Key;
}

export const nodeLooks: Record<NodeState, Look> = {
  pending: { tone: 'idle', icon: 'planned', word: 'state_planned' },
  ready: { tone: 'idle', icon: 'planned', word: 'state_ready' },
  queued: { tone: 'idle', icon: 'planned', word: 'state_queued' },
  running: { tone: 'run', icon: 'running', word: 'state_running' },
  awaiting_approval: { tone: 'ask', icon: 'asks', word: 'state_approval' },
  awaiting_input: { tone: 'ask', icon: 'asks', word: 'state_input' },
  blocked: { tone: 'off', icon: 'blocked', word: 'state_blocked' },
  outcome_unknown: { tone: 'warn', icon: 'unknown', word: 'state_unknown' },
  completed: { tone: 'ok', icon: 'check', word: 'state_completed' },
  failed: { tone: 'bad', icon: 'cross', word: 'state_failed' },
  skipped: { tone: 'off', icon: 'skipped', word: 'state_skipped' },
  rejected: { tone: 'bad', icon: 'blocked', word: 'state_rejected' },
  cancelled: { tone: 'off', icon: 'cancelled', word: 'state_cancelled' },
};

export const runLooks: Record<RunState, Look> = {
  running: nodeLooks.running,
  waiting: { tone: 'ask', icon: 'asks', word: 'state_waiting' },
  cancelling: { tone: 'off', icon: 'cancelled', word: 'state_cancelling' },
  completed: nodeLooks.completed,
  degraded: { tone: 'warn', icon: 'warning', word: 'state_degraded' },
  failed: nodeLooks.failed,
  rejected: nodeLooks.rejected,
  cancelled: nodeLooks.cancelled,
};

export const gateLooks: Record<InterruptStatus, Look> = {
  open: { tone: 'ask', icon: 'asks', word: 'gate_open' },
  approved: { tone: 'ok', icon: 'check', word: 'gate_approved' },
  rejected: { tone: 'bad', icon: 'blocked', word: 'gate_rejected' },
  answered: { tone: 'ok', icon: 'check', word: 'gate_answered' },
  expired: { tone: 'off', icon: 'cancelled', word: 'gate_expired' },
  superseded: { tone: 'off', icon: 'skipped', word: 'gate_superseded' },
};

const verdictLooks: Record<string, Look> = {
  verified: { tone: 'ok', icon: 'shield', word: 'verdict_verified' },
  degraded_but_acceptable: { tone: 'warn', icon: 'warning', word: 'verdict_degraded' },
  retry_recommended: { tone: 'warn', icon: 'undo', word: 'verdict_retry' },
  blocked: { tone: 'bad', icon: 'blocked', word: 'verdict_blocked' },
};
const unverified: Look = { tone: 'idle', icon: 'planned', word: 'verdict_none' };

const healthLooks: Record<string, Look> = {
  ok: { tone: 'ok', icon: 'check', word: 'health_ok' },
  degraded: { tone: 'warn', icon: 'warning', word: 'health_degraded' },
  down: { tone: 'bad', icon: 'cross', word: 'health_down' },
  starting: { tone: 'run', icon: 'running', word: 'health_starting' },
};

const outcomeLooks: Record<string, Look> = {
  active: { tone: 'ok', icon: 'check', word: 'outcome_active' },
  unchanged: { tone: 'ok', icon: 'check', word: 'outcome_active' },
  pending: { tone: 'ask', icon: 'asks', word: 'outcome_pending' },
  refused: { tone: 'bad', icon: 'cross', word: 'outcome_refused' },
  starting: { tone: 'run', icon: 'running', word: 'health_starting' },
};

const riskLooks: Record<RiskLevel, Look> = {
  read: { tone: 'idle', icon: 'search', word: 'risk_read' },
  low: { tone: 'idle', icon: 'diamond', word: 'risk_low' },
  medium: { tone: 'warn', icon: 'diamond', word: 'risk_medium' },
  high: { tone: 'bad', icon: 'warning', word: 'risk_high' },
  critical: { tone: 'bad', icon: 'warning', word: 'risk_critical' },
};

export function Badge({ look, title }: { look: Look; title?: string }) {
  const t = useT();
  return (
    <span className={`badge tone-${look.tone}`} title={title}>
      <Icon name={look.icon} />
      {t(look.word)}
    </span>
  );
}

export const RunBadge = ({ state }: { state: RunState }) => <Badge look={runLooks[state]} />;
export const NodeBadge = ({ state }: { state: NodeState }) => <Badge look={nodeLooks[state]} />;
export const GateBadge = ({ status }: { status: InterruptStatus }) => <Badge look={gateLooks[status]} />;
export const VerdictBadge = ({ status }: { status: string | undefined }) => (
  <Badge look={(status && verdictLooks[status]) || unverified} />
);
export const HealthBadge = ({ status }: { status: string }) => <Badge look={healthLooks[status] ?? unverified} />;
export const OutcomeBadge = ({ outcome }: { outcome: string }) => <Badge look={outcomeLooks[outcome] ?? unverified} />;
export const RiskBadge = ({ risk }: { risk: RiskLevel }) => <Badge look={riskLooks[risk]} />;

/** Legend is made of the same table as what it explains. */
export function Legend({ looks }: { looks: Look[] }) {
  const t = useT();
  const seen = new Map(looks.map((look) => [look.word, look]));
  return (
    <ul className="legend" aria-label={t('legend')}>
      {[...seen.values()].map((look) => (
        <li key={look.word}>
          <span className={`swatch bar tone-${look.tone}`} aria-hidden="true" />
          <Badge look={look} />
        </li>
      ))}
    </ul>
  );
}
