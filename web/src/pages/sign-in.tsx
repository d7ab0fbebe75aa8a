import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useEffect, useState } from 'react';
import { api, setCSRF } from '../api/client';
import { session } from '../api/queries';
import type { Session } from '../api/types';
import { useT } from '../i18n';
import { Preferences } from '../shell';
import { Failure, Heading, Loading } from '../ui/parts';

/** takeLink takes the token out of the address, so that it stays neither there nor in the history. */
function takeLink(): string | undefined {
  const token = window.location.hash.slice(1);
  if (token === '') return undefined;
  window.history.replaceState(window.history.state, '', window.location.pathname + window.location.search);
  return token;
}

/** inside is a place of this page that one may be led to; any other is not followed. */
export function inside(next: string | undefined): string {
  return next && /^\/(?![/\\])/.test(next) && !next.startsWith('/sign-in') ? next : '/runs';
}

let taken: string | undefined;

export function SignIn() {
  const t = useT();
  const client = useQueryClient();
  const navigate = useNavigate();
  const { next } = useSearch({ from: '/sign-in' });
  const [key, setKey] = useState('');
  const who = useQuery(session);
  const enter = useMutation({
    mutationFn: (body: { key: string } | { link: string }) =>
      api<Session>('POST', '/v1/session', { body, anonymous: true }),
    onSuccess: (s) => {
      client.removeQueries({ predicate: (q) => q.queryKey[0] !== 'session' });
      setCSRF(s.csrf);
      client.setQueryData(session.queryKey, s);
      void navigate({ href: inside(next), replace: true });
    },
    onSettled: () => setKey(''),
  });
  const { mutate } = enter;
  useEffect(() => {
    const token = takeLink();
    if (token === undefined || token === taken) return;
    taken = token; // it counts once, and so is sent once
    mutate({ link: token });
  }, [mutate]);
  const signedIn = who.data;
  useEffect(() => {
    if (signedIn && !enter.isPending && taken === undefined) void navigate({ href: inside(next), replace: true });
  }, [signedIn, next, navigate, enter.isPending]);

  const submit = (e: FormEvent) => {
    e.preventDefault();
    enter.mutate({ key: key.trim() });
  };
  return (
    <main className="alone">
      <p className="brand">
        <img src="/favicon.svg" alt="" width="24" height="24" /> Manifold
      </p>
      <Heading title={t('sign_in')} />
      <p>{t('sign_in_link')}</p>
      <pre className="value">manifold open</pre>
      <form onSubmit={submit} className="column">
        <label htmlFor="key">{t('key_label')}</label>
        <input
          id="key"
          type="password"
          autoComplete="off"
          spellCheck={false}
          required
          value={key}
          onChange={(e) => setKey(e.target.value)}
          aria-describedby="key-note"
        />
        <p id="key-note" className="muted">
          {t('key_note')}
        </p>
        <button type="submit" className="primary" disabled={enter.isPending}>
          {t('sign_in')}
        </button>
      </form>
      {enter.isPending && <Loading />}
      <Failure error={enter.error} />
      <div className="row">
        <Preferences />
      </div>
    </main>
  );
}
