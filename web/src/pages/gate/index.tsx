import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { ApiError, api, segment } from '../../api/client';
import { gate as gateQuery, sheet as sheetQuery } from '../../api/queries';
import type { GateView, Interrupt, Resume } from '../../api/types';
import { useT } from '../../i18n';
import { Icon } from '../../ui/icon';
import { Card, Failure, Heading, Loading, RunLink } from '../../ui/parts';
import { GateBadge, RiskBadge } from '../../ui/state';
import { Expiry } from '../../ui/time';
import { oneLine, visible } from '../../ui/value';
import { Decide } from './decide';
import { Question } from './question';
import { After, Difference, Evidence, People, Sent, Sentence, Whole } from './sheet';

/** What somebody has before their eyes: the gate and its sheet, as they were read together. */
export interface Shown {
  gate: Interrupt;
  sheet: GateView;
}

export function Gate() {
  const t = useT();
  const { gate: id } = useParams({ from: '/approvals/$gate' });
  const now = useQuery(gateQuery(id));
  const sheet = useQuery(sheetQuery(id));
  const [shown, setShown] = useState<Shown>();
  const client = useQueryClient();
  const both = now.data && sheet.data ? { gate: now.data, sheet: sheet.data } : undefined;
  if (both && shown?.gate.interrupt_id !== both.gate.interrupt_id) setShown(both);

  // What is shown stays as it was read until somebody asks for what is new: no value changes
  // under the eyes of whoever is about to approve it.
  const changed = both !== undefined && shown !== undefined && signature(both.gate) !== signature(shown.gate);
  const settled = changed && both.gate.status !== 'open';
  useEffect(() => {
    if (settled && both) setShown(both);
  }, [settled, both]);
  const again = async () => {
    await client.invalidateQueries({ queryKey: ['gate', id] });
    const gate = client.getQueryData(gateQuery(id).queryKey);
    const next = client.getQueryData(sheetQuery(id).queryKey);
    if (gate && next) setShown({ gate, sheet: next });
  };

  if (!shown) {
    const error = now.error ?? sheet.error;
    return error ? (
      <>
        <Heading title={t('nav_approvals')} />
        <Failure error={error} retry={() => void again()} />
        <Link to="/approvals">{t('nav_approvals')}</Link>
      </>
    ) : (
      <Loading />
    );
  }
  return (
    <>
      {changed && !settled && (
        <div className="notice tone-warn" role="alert">
          <Icon name="warning" />
          <div>
            <strong>{t('gate_changed')}</strong>
            <button type="button" onClick={() => void again()}>
              {t('gate_look')}
            </button>
          </div>
        </div>
      )}
      <Page
        key={shown.gate.interrupt_id + shown.gate.action_sha256}
        shown={shown}
        stale={changed && !settled}
        onAgain={() => void again()}
      />
    </>
  );
}

const signature = (g: Interrupt) =>
  JSON.stringify([g.interrupt_id, g.action_sha256, g.status, g.decisions?.length ?? 0, g.expires_at]);

function Page({ shown: { gate, sheet }, stale, onAgain }: { shown: Shown; stale: boolean; onAgain: () => void }) {
  const t = useT();
  const client = useQueryClient();
  const decide = useMutation({
    mutationFn: (body: Resume) =>
      api<Interrupt>('POST', `/v1/gates/${segment(gate.interrupt_id)}/decision`, { body, wait: 5 }),
    onSettled: () => {
      void client.invalidateQueries({ queryKey: ['gates'] });
      void client.invalidateQueries({ queryKey: ['gate'] });
      void client.invalidateQueries({ queryKey: ['runs'] });
      onAgain();
    },
  });
  const [whole, end] = useSeen();
  const approval = gate.action !== undefined;
  return (
    <>
      <Heading title={oneLine(sheet.asks)} page={`${t('gate')} ${gate.code}`}>
        <GateBadge status={gate.status} />
        {gate.risk_level && <RiskBadge risk={gate.risk_level} />}
        <span className="muted">
          {t('code')} <code>{gate.code}</code>
        </span>
        {gate.status === 'open' && <Expiry at={gate.expires_at} />}
      </Heading>
      <Conflict error={decide.error} />
      {decide.data && <Result gate={decide.data} />}
      {sheet.mark && <Note text={sheet.mark} />}
      {gate.warning && <Note text={gate.warning} />}
      <Difference gate={gate} />
      <div className="split">
        <div>
          {approval ? (
            <>
              <Card title={t('sent')} id="sent" actions={<code>{gate.action?.capability}</code>}>
                <Sent gate={gate} sheet={sheet} />
              </Card>
              {gate.action?.said && (
                <Card title={t('said')} id="said">
                  <Sentence said={gate.action.said} />
                </Card>
              )}
              <Card title={t('evidence')} id="evidence">
                <p className="muted">{t('evidence_note')}</p>
                <Evidence gate={gate} />
              </Card>
            </>
          ) : (
            <Card title={t('question')} id="question">
              <Question.Shown gate={gate} sheet={sheet} />
            </Card>
          )}
          {approval && (
            <Card title={t('after')} id="after">
              <After gate={gate} sheet={sheet} />
            </Card>
          )}
          <Card title={t('people')} id="people">
            <People gate={gate} sheet={sheet} />
            {gate.reason && (
              <p>
                {t('policy_reason')}: {visible(gate.reason)}
              </p>
            )}
            {gate.run_id && (
              <p>
                {t('run')}: <RunLink id={gate.run_id} />
              </p>
            )}
            {approval && <Whole gate={gate} />}
          </Card>
          <div ref={end} className="end" />
        </div>
        <div className="decision">
          {approval ? (
            <Decide
              gate={gate}
              sheet={sheet}
              seen={whole}
              stale={stale}
              pending={decide.isPending}
              onDecide={decide.mutate}
            />
          ) : (
            <Question gate={gate} sheet={sheet} stale={stale} pending={decide.isPending} onAnswer={decide.mutate} />
          )}
        </div>
      </div>
    </>
  );
}

/** useSeen tells whether the end of what there is to read has been on the screen. */
function useSeen(): [boolean, React.RefObject<HTMLDivElement | null>] {
  const end = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    if (!end.current) return;
    const watch = new IntersectionObserver((entries) => {
      if (entries.some((e) => e.isIntersecting)) setSeen(true);
    });
    watch.observe(end.current);
    return () => watch.disconnect();
  }, []);
  return [seen, end];
}

const Note = ({ text }: { text: string }) => (
  <div className="notice tone-warn">
    <Icon name="warning" />
    <p className="prose">{visible(text)}</p>
  </div>
);

/** Conflict says what stands against a decision: who was faster, or what has changed. */
function Conflict({ error }: { error: unknown }) {
  const t = useT();
  if (!error) return null;
  const decided =
    error instanceof ApiError && error.status === 409
      ? (error.problem?.data as Interrupt | undefined)?.decisions?.at(-1)
      : undefined;
  return (
    <>
      <Failure error={error} />
      {decided && <p>{t(`did_${decided.decision}`, { who: decided.decided_by })}</p>}
    </>
  );
}

function Result({ gate }: { gate: Interrupt }) {
  const t = useT();
  const words = {
    approved: 'done_approved',
    rejected: 'done_rejected',
    answered: 'done_answered',
    superseded: 'done_edited',
    open: 'done_more',
    expired: 'gate_expired',
  } as const;
  return (
    <div className="notice tone-ok" role="status">
      <Icon name="check" />
      <div>
        <strong>{t(words[gate.status])}</strong>
        <p className="row">
          {gate.run_id && <RunLink id={gate.run_id}>{t('show_run')}</RunLink>}
          <Link to="/approvals">{t('nav_approvals')}</Link>
        </p>
      </div>
    </div>
  );
}
