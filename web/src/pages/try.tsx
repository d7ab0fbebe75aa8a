import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useEffect, useState } from 'react';
import { type PlanOptions, planCalls, runPlan as runPlanned } from '../api/call';
import { api, segment } from '../api/client';
import { capabilities, conversation } from '../api/queries';
import type { PlanPreview, SessionResponse } from '../api/types';
import { useT } from '../i18n';
import { AnswerView } from '../ui/answer';
import { GivenLink } from '../ui/link';
import { Card, Empty, Failure, Heading, Loading, RunLink } from '../ui/parts';
import { oneLine, visible } from '../ui/value';
import { CallForm } from './try/call-form';
import { Preview } from './try/preview';
import { Options, WhatIf } from './try/what-if';

const store = 'manifold.say';

/** Try takes a sentence: it shows what would be done before anything is, and asks for it. */
export function Try() {
  const t = useT();
  const navigate = useNavigate({ from: '/try' });
  const client = useQueryClient();
  const { session, say, capability } = useSearch({ from: '/try' });
  const [text, setText] = useState(() => say ?? sessionStorage.getItem(store) ?? '');
  const [options, setOptions] = useState<PlanOptions>({});
  const [before, setBefore] = useState<PlanPreview>();
  const [said, setSaid] = useState<string[]>([]);
  useEffect(() => sessionStorage.setItem(store, text), [text]);

  const preview = useMutation({
    mutationFn: (plan: () => Promise<PlanPreview>) => plan(),
  });
  const show = (plan: () => Promise<PlanPreview>, changed?: PlanPreview) => {
    setBefore(changed);
    preview.mutate(plan);
  };
  const planned = (body: unknown) => () => api<PlanPreview>('POST', '/v1/plans', { body });
  const taken = (s: SessionResponse, message?: string) => {
    client.setQueryData(conversation(s.session_id).queryKey, s);
    void client.invalidateQueries({ queryKey: ['runs'] });
    void client.invalidateQueries({ queryKey: ['gates'] });
    if (message) setSaid((old) => [...old, message]);
    setText('');
    preview.reset();
    void navigate({ search: { session: s.session_id }, replace: session === s.session_id });
  };
  const ask = useMutation({
    mutationFn: ({ message, key }: { message: string; key: string }) =>
      session
        ? api<SessionResponse>('POST', `/v1/sessions/${segment(session)}/messages`, {
            body: { message },
            wait: 10,
            key,
          })
        : api<SessionResponse>('POST', '/v1/sessions', {
            body: { message, ...options },
            wait: 10,
            key,
          }),
    onSuccess: (s, { message }) => taken(s, message),
  });
  const runPlan = useMutation({
    mutationFn: ({ hash, dry }: { hash: string; dry: boolean }) => runPlanned(hash, 5, dry ? { dry_run: true } : {}),
    onSuccess: (s) => taken(s, text),
  });
  const message = text.trim();
  const busy = ask.isPending || preview.isPending || runPlan.isPending;
  const send = (e?: FormEvent) => {
    e?.preventDefault();
    if (message && !busy) ask.mutate({ message, key: crypto.randomUUID() });
  };
  return (
    <>
      <Heading title={t('nav_try')}>
        {session && (
          <div className="actions">
            <Link to="/try" className="button" onClick={() => setSaid([])}>
              {t('new_conversation')}
            </Link>
          </div>
        )}
      </Heading>
      {session && <Conversation id={session} said={said} onTaken={taken} />}
      <form onSubmit={send} className="card ask">
        <label htmlFor="say">{t(session ? 'say_more' : 'say')}</label>
        <textarea
          id="say"
          rows={3}
          value={text}
          maxLength={32768}
          aria-describedby="say-note"
          onChange={(e) => setText(e.target.value)}
          onKeyDown={(e) => {
            if (e.key !== 'Enter' || e.shiftKey || e.nativeEvent.isComposing) return;
            e.preventDefault();
            send();
          }}
        />
        <p id="say-note" className="muted">
          {t('say_note')}
        </p>
        <div className="row">
          <button type="submit" className="primary" disabled={!message || busy}>
            {t('ask')}
          </button>
          <button type="button" disabled={!message || busy} onClick={() => show(planned({ message, ...options }))}>
            {t('preview')}
          </button>
          {!session && <Options options={options} onOptions={setOptions} />}
        </div>
      </form>
      {capability && <OneCall of={capability} options={options} pending={busy} onPlan={show} />}
      {busy && <Loading />}
      <Failure error={ask.error ?? preview.error ?? runPlan.error} />
      {preview.data && (
        <Preview
          preview={preview.data}
          pending={runPlan.isPending}
          onRun={(hash) => runPlan.mutate({ hash, dry: preview.data.plan?.dry_run ?? false })}
        />
      )}
      {preview.data && (
        <WhatIf
          key={preview.data.plan_hash}
          preview={preview.data}
          before={before}
          options={options}
          pending={preview.isPending}
          onOptions={setOptions}
          onPlan={(plan) => show(plan, preview.data)}
        />
      )}
    </>
  );
}

interface OneCallProps {
  of: string;
  options: PlanOptions;
  pending: boolean;
  onPlan: (plan: () => Promise<PlanPreview>) => void;
}

/** OneCall plans a call of one capability by its parameters, without a sentence. */
function OneCall({ of, options, pending, onPlan }: OneCallProps) {
  const t = useT();
  const all = useQuery(capabilities);
  const found = all.data?.items.find((c) => c.ref === of);
  if (all.isPending) return <Loading />;
  return (
    <Card title={t('plan_call', { what: of })} id="call">
      <Failure error={all.error} />
      {all.isSuccess && !found && <Empty title={t('capabilities_none')} />}
      {found && (
        <CallForm
          capability={found}
          values={nothing}
          pending={pending}
          onPlan={(parameters) =>
            onPlan(() =>
              planCalls([{ domain: found.domain, capability: found.name, parameters }], { ...options, goal: of }),
            )
          }
        />
      )}
    </Card>
  );
}

const nothing = {};

interface ConversationProps {
  id: string;
  said: string[];
  onTaken: (s: SessionResponse) => void;
}

function Conversation({ id, said, onTaken }: ConversationProps) {
  const t = useT();
  const query = useQuery(conversation(id));
  const answer = useMutation({
    mutationFn: ({ interrupt, response }: { interrupt: string; response: string }) =>
      api<SessionResponse>('POST', `/v1/sessions/${segment(id)}/resume`, {
        body: { interrupt_id: interrupt, response },
        wait: 10,
      }),
    onSuccess: (s) => onTaken(s),
  });
  const s = query.data;
  if (!s) return query.error ? <Failure error={query.error} /> : <Loading />;
  const words = said.length > 0 ? said : s.name ? [s.name] : [];
  return (
    <Card
      title={t('conversation')}
      id="conversation"
      actions={<span className="muted">{t(`session_${s.status}`)}</span>}
    >
      {words.map((w, i) => (
        <blockquote key={i} className="sentence">
          {visible(w)}
        </blockquote>
      ))}
      <div aria-live="polite">
        {s.interrupts.map((i) => (
          <div key={i.interrupt_id} className="notice tone-ask">
            <div>
              <strong>{t(i.action ? 'needs_approval' : 'needs_answer')}</strong>
              <p className="prose">{visible(i.prompt)}</p>
              {i.show?.link !== undefined && (
                <p>
                  <GivenLink to={i.show.link} />
                </p>
              )}
              <div className="row">
                {!i.action &&
                  !i.workflow &&
                  i.options?.slice(0, 8).map((o) => (
                    <button
                      key={o.id}
                      type="button"
                      disabled={answer.isPending}
                      onClick={() => answer.mutate({ interrupt: i.interrupt_id, response: o.id })}
                    >
                      {oneLine(o.label)}
                    </button>
                  ))}
                <Link to="/approvals/$gate" params={{ gate: i.interrupt_id }} className="button">
                  {t('review')}
                </Link>
              </div>
            </div>
          </div>
        ))}
        {s.answer && <AnswerView answer={s.answer} />}
      </div>
      <Failure error={answer.error} />
      {s.run_ids.length > 0 && (
        <p className="muted">
          {t('nav_runs')}:{' '}
          {s.run_ids.map((run) => (
            <span key={run}>
              <RunLink id={run} />{' '}
            </span>
          ))}
        </p>
      )}
    </Card>
  );
}
