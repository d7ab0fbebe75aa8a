import { useMemo } from 'react';
import type { Event, NodeView, RunView } from '../../api/types';
import { useT } from '../../i18n';
import { Icon } from '../../ui/icon';
import { LongTable } from '../../ui/long-table';
import { NodeBadge, nodeLooks } from '../../ui/state';
import { duration, useNow } from '../../ui/time';
import { visible } from '../../ui/value';
import { type Axis, axis, type Bar, bars, domainOf, type Segment, titleOf } from './model';

interface Props {
  view: RunView;
  nodes: NodeView[];
  events: Event[];
  critical: ReadonlySet<string>;
  step: string | undefined;
  /** The attempt of the step that is looked at. */
  attempt?: number | undefined;
  onStep: (id: string, attempt?: number) => void;
}

const tones: Record<Segment['kind'], string> = { queued: 'tone-idle', people: 'tone-ask', attempt: '', work: '' };

/** Timeline is a table first: the bar says nothing that its row does not say in words. */
export function Timeline({ view, nodes, events, critical, step, attempt, onStep }: Props) {
  const t = useT();
  const current = useNow();
  const begun = Date.parse(view.created_at);
  const end = view.finished_at ? Date.parse(view.finished_at) : Math.max(current, begun + 1);
  const all = useMemo(() => bars(nodes, events, begun, end), [nodes, events, begun, end]);
  const scale = useMemo(() => axis(all, begun, end), [all, begun, end]);
  return (
    <>
      <LongTable
        label={t('timeline')}
        columns={8}
        rows={all}
        keyOf={(b) => b.node.node_id}
        classOf={(b) => (b.node.node_id === step ? 'chosen' : '')}
        head={
          <tr>
            <th scope="col">{t('col_step')}</th>
            <th scope="col" className="minor">
              {t('col_domain')}
            </th>
            <th scope="col">{t('col_state')}</th>
            <th scope="col" className="number">
              {t('col_attempts')}
            </th>
            <th scope="col" className="number minor">
              {t('col_queued')}
            </th>
            <th scope="col" className="number">
              {t('col_people')}
            </th>
            <th scope="col" className="number">
              {t('col_machine')}
            </th>
            <th scope="col" className="wide">
              {t('col_time')}
            </th>
          </tr>
        }
        row={(bar) => (
          <Cells
            bar={bar}
            scale={scale}
            critical={critical.has(bar.node.node_id)}
            attempt={bar.node.node_id === step ? attempt : undefined}
            onStep={onStep}
          />
        )}
      />
      {scale.gaps.length > 0 && (
        <p className="muted">
          {t('gaps', { n: scale.gaps.length, time: scale.gaps.map((g) => duration(g.ms)).join(', ') })}
        </p>
      )}
      <ul className="legend" aria-label={t('legend')}>
        <li>
          <span className="swatch bar tone-idle" aria-hidden="true" /> {t('part_queued')}
        </li>
        <li>
          <span className="swatch bar tone-ask" aria-hidden="true" /> {t('part_people')}
        </li>
        <li>
          <span className="swatch bar tone-ok" aria-hidden="true" /> {t('part_work')}
        </li>
        <li>
          <Icon name="diamond" /> {t('critical_path')}
        </li>
      </ul>
    </>
  );
}

interface CellsProps {
  bar: Bar;
  scale: Axis;
  critical: boolean;
  attempt: number | undefined;
  onStep: (id: string, attempt?: number) => void;
}

function Cells({ bar: { node, segments }, scale, critical, attempt, onStep }: CellsProps) {
  const t = useT();
  const sum = (kind: Segment['kind']) =>
    segments.filter((s) => s.kind === kind).reduce((ms, s) => ms + s.to - s.from, 0);
  const queued = sum('queued');
  const tries = segments.filter((s) => s.attempt !== undefined);
  return (
    <>
      <th scope="row">
        <button type="button" className="link" data-row onClick={() => onStep(node.node_id)}>
          {critical && <Icon name="diamond" />}
          {visible(titleOf(node))}
        </button>
        {critical && <span className="hidden">{t('critical_path')}</span>}
      </th>
      <td className="minor">{domainOf(node) || '–'}</td>
      <td>
        <NodeBadge state={node.state} />
      </td>
      <td className="number">
        {tries.length > 1
          ? tries.map((s) => (
              <button
                key={s.attempt}
                type="button"
                className={`quiet attempt ${s.failed ? 'bad' : ''}`}
                aria-pressed={s.attempt === attempt}
                aria-label={t(s.failed ? 'attempt_failed' : 'attempt_n', { n: s.attempt ?? 0 })}
                onClick={() => onStep(node.node_id, s.attempt)}
              >
                {s.attempt}
              </button>
            ))
          : node.attempts || '–'}
      </td>
      <td className="number minor">{queued >= 1 ? duration(queued) : '–'}</td>
      <td className="number">{node.human_ms ? duration(node.human_ms) : '–'}</td>
      <td className="number">{node.machine_ms ? duration(node.machine_ms) : '–'}</td>
      <td className="wide">
        <span className="track" aria-hidden="true">
          {scale.gaps.map((gap) => (
            <span key={gap.at} className="gap" style={{ left: `${gap.at * 100}%` }} />
          ))}
          {segments.map((s, i) => {
            const look = {
              className: `bar segment segment-${s.kind} ${tones[s.kind] || `tone-${s.failed ? 'bad' : nodeLooks[node.state].tone}`} ${s.attempt === attempt && attempt ? 'chosen' : ''}`,
              style: {
                left: `${scale.at(s.from) * 100}%`,
                width: `max(4px, ${(scale.at(s.to) - scale.at(s.from)) * 100}%)`,
              },
            };
            // What a pointer finds in the bar, the keyboard finds in the column of attempts.
            return s.attempt && tries.length > 1 ? (
              <button key={i} type="button" tabIndex={-1} {...look} onClick={() => onStep(node.node_id, s.attempt)}>
                {s.attempt}
              </button>
            ) : (
              <span key={i} {...look} />
            );
          })}
        </span>
      </td>
    </>
  );
}
