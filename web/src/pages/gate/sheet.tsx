import type { GateView, Interrupt, Provenance, Utterance } from '../../api/types';
import { type Key, useT } from '../../i18n';
import { Icon } from '../../ui/icon';
import { Facts, Scroll } from '../../ui/parts';
import { Ago, At } from '../../ui/time';
import { oneLine, Value, visible } from '../../ui/value';
import { pieces } from './sentence';

const sources: Record<Provenance, Key> = {
  said: 'from_said',
  carried: 'from_carried',
  answered: 'from_answered',
  looked_up: 'from_looked_up',
  default: 'from_default',
  computed: 'from_computed',
  model: 'from_model',
};

/** Sent is what will be sent, value by value, with where each comes from; nothing is left out. */
export function Sent({ gate, sheet }: { gate: Interrupt; sheet: GateView }) {
  const t = useT();
  const sent = { ...gate.action?.parameters, ...gate.action?.bound };
  const told = new Map(sheet.rows?.map((row) => [row.parameter, row]));
  const first = sheet.rows?.map((row) => row.parameter) ?? [];
  const names = [...first, ...Object.keys(sent).filter((name) => !told.has(name))];
  return (
    <Scroll label={t('sent')}>
      <table className="sheet">
        <thead>
          <tr>
            <th scope="col">{t('col_parameter')}</th>
            <th scope="col">{t('col_value')}</th>
            <th scope="col">{t('col_source')}</th>
          </tr>
        </thead>
        <tbody>
          {names.map((name) => {
            const row = told.get(name);
            const value = sent[name];
            const bound = gate.action?.bound && name in gate.action.bound;
            return (
              <tr key={name}>
                <th scope="row">{visible(row?.name ?? name)}</th>
                <td>
                  {row?.label ? (
                    <>
                      <strong className="text">{oneLine(row.label)}</strong>
                      <div className="muted raw">
                        <Value value={value} whole />
                      </div>
                    </>
                  ) : (
                    <Value value={value} whole />
                  )}
                </td>
                <td>
                  <Source from={row?.from} bound={bound ?? false} words={wordsFor(gate.action?.said, name)} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Scroll>
  );
}

/** wordsFor are the words of the message that a value was read from. */
function wordsFor(said: Utterance | undefined, parameter: string): string {
  if (!said) return '';
  return pieces(said)
    .filter((p) => p.use?.parameter === parameter)
    .map((p) => p.text)
    .join(' … ');
}

function Source({ from, bound, words }: { from: Provenance | undefined; bound: boolean; words: string }) {
  const t = useT();
  if (bound) return <>{t('from_bound')}</>;
  return (
    <>
      {from ? t(sources[from]) : t('from_request')}
      {words && <q className="said-words">{visible(words)}</q>}
    </>
  );
}

const uses: Record<NonNullable<Utterance['words']>[number]['class'], Key> = {
  value: 'word_value',
  command: 'word_command',
  other_request: 'word_other',
  courtesy: 'word_courtesy',
  aside: 'word_aside',
  beside: 'word_beside',
  binding: 'word_binding',
};

/** Sentence is what was said, with what became of each of its words. */
export function Sentence({ said }: { said: Utterance }) {
  const t = useT();
  const all = pieces(said);
  return (
    <>
      <blockquote className="sentence">
        {all.map((p, i) =>
          p.use ? (
            <mark
              key={i}
              className={`word word-${p.use.class}`}
              title={[t(uses[p.use.class]), p.use.parameter].filter(Boolean).join(': ')}
            >
              {visible(p.text)}
            </mark>
          ) : (
            <span key={i}>{visible(p.text)}</span>
          ),
        )}
      </blockquote>
      <details>
        <summary>{t('words')}</summary>
        <ul className="plain">
          {all.map(
            (p, i) =>
              p.use && (
                <li key={i}>
                  “{visible(p.text)}”: {t(uses[p.use.class])}
                  {p.use.parameter && ` (${visible(p.use.parameter)})`}
                  {p.use.agreed && `, ${t('word_agreed')}`}
                </li>
              ),
          )}
        </ul>
      </details>
    </>
  );
}

/** Evidence are the values that an action was computed from, with the step that found each. */
export function Evidence({ gate }: { gate: Interrupt }) {
  const t = useT();
  const all = gate.evidence ?? [];
  if (all.length === 0) return <p className="muted">{t('evidence_none')}</p>;
  return (
    <Scroll label={t('evidence')}>
      <table>
        <thead>
          <tr>
            <th scope="col">{t('col_value')}</th>
            <th scope="col">{t('col_step')}</th>
            <th scope="col">{t('col_path')}</th>
          </tr>
        </thead>
        <tbody>
          {all.map((e, i) => (
            <tr key={i}>
              <td>
                <Value value={e.value} whole />
              </td>
              <td>{e.node_id}</td>
              <td>
                <code>{visible(e.path)}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

/** Difference is what is not the same as in the gate before. */
export function Difference({ gate }: { gate: Interrupt }) {
  const t = useT();
  if (!gate.difference || gate.difference.length === 0) return null;
  return (
    <div className="notice tone-warn">
      <Icon name="warning" />
      <div>
        <strong>{t('difference')}</strong>
        <Scroll label={t('difference')}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t('col_parameter')}</th>
                <th scope="col">{t('col_before')}</th>
                <th scope="col">{t('col_after')}</th>
              </tr>
            </thead>
            <tbody>
              {gate.difference.map((d) => (
                <tr key={d.pointer}>
                  <th scope="row">
                    <code>{visible(d.pointer)}</code>
                  </th>
                  <td>
                    <del>
                      <Value value={d.before} whole />
                    </del>
                  </td>
                  <td>
                    <ins>
                      <Value value={d.after} whole />
                    </ins>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      </div>
    </div>
  );
}

/** secondPerson is the text for who must approve besides the requester. */
function secondPerson(gate: Interrupt, sheet: GateView) {
  if (gate.review === 'own_authority') return 'own_authority';
  if (gate.four_eyes || gate.review === 'four_eyes' || gate.review === 'strict') return 'four_eyes_yes';
  return sheet.people > 1 ? 'two_persons' : 'no';
}

/** People says who asked, who may decide, and who has. */
export function People({ gate, sheet }: { gate: Interrupt; sheet: GateView }) {
  const t = useT();
  const rows: [string, React.ReactNode][] = [
    [t('who_asked'), gate.initiator ?? gate.requesters?.[0] ?? '–'],
    [t('who_part'), gate.requesters?.join(', ') || '–'],
    [t('on_behalf'), gate.action?.on_behalf_of || '–'],
    [t('who_may'), [gate.roles?.join(', '), gate.reviewers?.join(', ')].filter(Boolean).join(': ') || '–'],
    [t('approvals_count'), t('n_of_m', { n: sheet.approvals, m: sheet.people })],
    [t('four_eyes'), t(secondPerson(gate, sheet))],
    [t('asked_at'), <Ago key="c" at={gate.created_at} />],
    [t('ends_at'), gate.expires_at ? <At key="e" at={gate.expires_at} /> : t('never')],
  ];
  if (gate.decidable_at) rows.push([t('decidable_at'), <At key="d" at={gate.decidable_at} />]);
  if (gate.escalate_at)
    rows.push([
      t('escalates'),
      <span key="x">
        <At at={gate.escalate_at} /> → {gate.escalate_to?.join(', ')}
      </span>,
    ]);
  return (
    <>
      <Facts rows={rows} />
      {gate.decisions && gate.decisions.length > 0 && (
        <ul className="plain">
          {gate.decisions.map((d) => (
            <li key={d.decided_at + d.decided_by}>
              {t(`did_${d.decision}`, { who: d.decided_by })} <Ago at={d.decided_at} /> {d.via && `(${d.via})`}{' '}
              {d.comment && `“${oneLine(d.comment)}”`}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** After says what happens once it is approved, and what if not. */
export function After({ gate, sheet }: { gate: Interrupt; sheet: GateView }) {
  const t = useT();
  const policy = gate.action?.policy;
  const irreversible = policy?.side_effect_class === 'write_irreversible';
  return (
    <ul className="after">
      <li>
        {t(sheet.people - sheet.approvals > 1 ? 'after_more' : 'after_sent', { n: sheet.people - sheet.approvals - 1 })}
      </li>
      <li>{sheet.verify ? t('after_verify', { what: sheet.verify }) : t('after_no_verify')}</li>
      <li>
        {irreversible ? t('after_final') : sheet.undo ? t('after_undo', { what: sheet.undo }) : t('after_no_undo')}
      </li>
      {sheet.after && sheet.after.length > 0 && (
        <li>
          {t('after_steps', { n: sheet.after.length })}{' '}
          {sheet.after
            .slice(0, 6)
            .map((s) => visible(s.title || s.tool || s.node_id))
            .join(', ')}
        </li>
      )}
      <li>{t('after_reject')}</li>
    </ul>
  );
}

export function Whole({ gate }: { gate: Interrupt }) {
  const t = useT();
  return (
    <details>
      <summary>{t('whole_action')}</summary>
      <Facts
        rows={[
          [t('action_hash'), <code key="h">{gate.action_sha256}</code>],
          [t('capability_digest'), <code key="d">{gate.action?.capability_digest}</code>],
          [t('instance'), gate.action?.instance || t('instance_default')],
        ]}
      />
      <pre className="value">{visible(JSON.stringify(gate.action, null, 2))}</pre>
    </details>
  );
}
