import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, Navigate, Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { api } from './api/client';
import { gates, session } from './api/queries';
import type { Session } from './api/types';
import { type Language, languages, useT, useWords } from './i18n';
import { Icon } from './ui/icon';
import { keysOn, setKeysOn, step, useKeys } from './ui/keys';
import { Dialog, Empty, Failure, Heading, Loading } from './ui/parts';
import { applyTheme, type Theme, theme } from './ui/theme';

/** Shell is what stands around each page; it shows none to somebody who is not signed in. */
export function Shell() {
  const t = useT();
  const who = useQuery(session);
  const { pathname, href } = useLocation();
  if (pathname === '/sign-in') return <Outlet />;
  if (who.isPending) return <Loading />;
  if (who.isError) {
    return (
      <main className="alone">
        <Failure error={who.error} retry={() => void who.refetch()} />
      </main>
    );
  }
  if (!who.data) return <Navigate to="/sign-in" search={{ next: href === '/' ? undefined : href }} replace />;
  return (
    <>
      <a className="skip" href="#main">
        {t('skip')}
      </a>
      <Header who={who.data} />
      <main id="main" tabIndex={-1}>
        <Outlet />
      </main>
    </>
  );
}

export function Missing() {
  const t = useT();
  return (
    <>
      <Heading title={t('page_missing')} />
      <Empty title={t('page_missing_text')}>
        <Link to="/runs">{t('nav_runs')}</Link>
      </Empty>
    </>
  );
}

const pages = [
  { to: '/runs', word: 'nav_runs', key: 'r' },
  { to: '/approvals', word: 'nav_approvals', key: 'a' },
  { to: '/try', word: 'nav_try', key: 't' },
  { to: '/domains', word: 'nav_domains', key: 'd' },
  { to: '/figures', word: 'nav_figures', key: 'm' },
  { to: '/settings', word: 'nav_settings', key: 's' },
] as const;

function Header({ who }: { who: Session }) {
  const t = useT();
  const navigate = useNavigate();
  const [openAt, setOpenAt] = useState('');
  const [help, setHelp] = useState(false);
  const waiting = useInfiniteQuery(gates({ status: 'open' }));
  const count = waiting.data?.pages.reduce((n, page) => n + page.items.length, 0) ?? 0;
  const { pathname } = useLocation();
  const open = openAt === pathname;
  useEffect(() => marked(count), [count]);
  const keys = useMemo(() => {
    const out: Record<string, () => void> = {
      '?': () => setHelp(true),
      j: () => step(1),
      k: () => step(-1),
      '/': () => document.querySelector<HTMLElement>('input[type=search]')?.focus(),
    };
    for (const page of pages) out[`g ${page.key}`] = () => void navigate({ to: page.to });
    return out;
  }, [navigate]);
  useKeys(keys);
  return (
    <header className="top">
      <Link to="/runs" className="brand">
        <img src="/favicon.svg" alt="" width="20" height="20" />
        Manifold
      </Link>
      <button
        type="button"
        className="quiet menu-button"
        aria-expanded={open}
        aria-controls="menu"
        onClick={() => setOpenAt(open ? '' : pathname)}
      >
        <Icon name="menu" />
        {t('menu')}
      </button>
      <nav id="menu" className={open ? 'open' : ''} aria-label={t('nav')}>
        {pages.map((page) => (
          <Link key={page.to} to={page.to} activeProps={{ 'aria-current': 'page' }}>
            {t(page.word)}
            {page.to === '/approvals' && count > 0 && (
              <span className="count">
                <span className="hidden">{t('waiting_count', { n: count })}</span>
                <span aria-hidden="true">{count}</span>
              </span>
            )}
          </Link>
        ))}
      </nav>
      <div className="who">
        <button type="button" className="quiet" onClick={() => setHelp(true)} aria-label={t('keys_title')}>
          ?
        </button>
        <Preferences />
        <SignOut who={who} />
      </div>
      <Dialog title={t('keys_title')} open={help} onClose={() => setHelp(false)}>
        <Keys />
      </Dialog>
    </header>
  );
}

/** marked says in the title of the tab how much waits. */
function marked(count: number): void {
  const apply = () => {
    const bare = document.title.replace(/^\(\d+\) /, '');
    const want = count > 0 ? `(${count}) ${bare}` : bare;
    if (document.title !== want) document.title = want;
  };
  apply();
  observer?.disconnect();
  const title = document.querySelector('title');
  if (!title) return;
  observer = new MutationObserver(apply);
  observer.observe(title, { childList: true });
}
let observer: MutationObserver | undefined;

export function Preferences() {
  const { t, language, setLanguage } = useWords();
  const [look, setLook] = useState<Theme>(theme);
  return (
    <>
      <select aria-label={t('language')} value={language} onChange={(e) => setLanguage(e.target.value as Language)}>
        {Object.entries(languages).map(([id, name]) => (
          <option key={id} value={id} lang={id}>
            {name}
          </option>
        ))}
      </select>
      <select
        aria-label={t('theme')}
        value={look}
        onChange={(e) => {
          const next = e.target.value as Theme;
          setLook(next);
          applyTheme(next);
        }}
      >
        <option value="auto">{t('theme_auto')}</option>
        <option value="light">{t('theme_light')}</option>
        <option value="dark">{t('theme_dark')}</option>
      </select>
    </>
  );
}

function SignOut({ who }: { who: Session }) {
  const t = useT();
  const client = useQueryClient();
  const leave = useMutation({
    mutationFn: () => api('DELETE', '/v1/session'),
    onSettled: () => {
      client.setQueryData(session.queryKey, null);
      client.removeQueries({ predicate: (q) => q.queryKey[0] !== 'session' });
    },
  });
  return (
    <>
      <span className="person" title={who.user.roles.join(', ')}>
        {who.user.name ?? who.user.id}
      </span>
      <button type="button" className="quiet" onClick={() => leave.mutate()}>
        {t('sign_out')}
      </button>
    </>
  );
}

function Keys() {
  const t = useT();
  const [on, setOn] = useState(keysOn);
  const rows = [
    ...pages.map((page) => [`g ${page.key}`, t(page.word)]),
    ['j / k', t('key_row')],
    ['Enter', t('key_open')],
    ['Esc', t('key_close')],
    ['/', t('key_search')],
    ['1 2 3 4', t('key_views')],
    ['← → ↑ ↓', t('key_graph')],
    ['n', t('key_next')],
    ['c', t('key_critical')],
    ['+ − 0', t('key_zoom')],
    ['p', t('key_pause')],
    ['?', t('keys_title')],
  ];
  return (
    <>
      <table>
        <tbody>
          {rows.map(([key, what]) => (
            <tr key={key}>
              <th scope="row">
                <kbd>{key}</kbd>
              </th>
              <td>{what}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="muted">{t('keys_no_decision')}</p>
      <label className="check">
        <input
          type="checkbox"
          checked={on}
          onChange={(e) => {
            setOn(e.target.checked);
            setKeysOn(e.target.checked);
          }}
        />
        {t('keys_on')}
      </label>
    </>
  );
}
