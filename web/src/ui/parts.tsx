import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { ApiError, unreachable } from '../api/client';
import { type Key, useT } from '../i18n';
import { Icon } from './icon';

/** Heading is the h1 of a page; it takes the focus when somebody comes to the page. */
export function Heading({ title, page, children }: { title: string; page?: string; children?: ReactNode }) {
  const ref = useRef<HTMLHeadingElement>(null);
  const named = page ?? title;
  useEffect(() => {
    document.title = `${named} – Manifold`;
  }, [named]);
  useEffect(() => {
    if (document.activeElement === document.body || document.activeElement?.closest('nav'))
      ref.current?.focus({ preventScroll: true });
  }, []);
  return (
    <div className="heading">
      <h1 ref={ref} tabIndex={-1}>
        {title}
      </h1>
      {children}
    </div>
  );
}

const errorWords: Partial<Record<string, Key>> = {
  [unreachable]: 'error_unreachable',
  forbidden: 'error_forbidden',
  not_found: 'error_not_found',
  rate_limited: 'error_rate_limited',
  unavailable: 'error_unavailable',
  stale_approval: 'error_stale',
  internal: 'error_internal',
};

/** Failure says what went wrong, in our words and in the server's, and what one can do. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  const t = useT();
  if (!error) return null;
  const known = error instanceof ApiError ? error : undefined;
  const word = known && errorWords[known.code];
  return (
    <div className="notice tone-bad" role="alert">
      <Icon name="cross" />
      <div>
        <strong>{t(word ?? 'error_other')}</strong>
        {known?.message && <p>{known.message}</p>}
        {known?.problem?.faults && (
          <ul>
            {known.problem.faults.map((f) => (
              <li key={f.pointer + f.message}>
                <code>{f.pointer}</code> {f.message}
              </li>
            ))}
          </ul>
        )}
        {known?.problem?.request_id && <p className="muted">{t('request_id', { id: known.problem.request_id })}</p>}
        {retry && (
          <button type="button" onClick={retry}>
            {t('retry')}
          </button>
        )}
      </div>
    </div>
  );
}

/** Copy puts a text where one can paste it. Browsers allow it only to pages by https, or of this machine. */
export function Copy({ text, name, children }: { text: () => string; name?: string; children: ReactNode }) {
  const t = useT();
  const [done, setDone] = useState(false);
  if (!navigator.clipboard) return null;
  const copy = async () => {
    await navigator.clipboard.writeText(text());
    setDone(true);
    setTimeout(() => setDone(false), 2000);
  };
  return (
    <>
      <button type="button" className="quiet" aria-label={name} onClick={() => void copy()}>
        {children}
      </button>
      <span className="muted" role="status">
        {done && t('copied')}
      </span>
    </>
  );
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <p>{title}</p>
      {children}
    </div>
  );
}

export function Loading() {
  const t = useT();
  return (
    <p className="muted" role="status">
      {t('loading')}
    </p>
  );
}

/** Scroll holds what may be wider than the window: it can be reached and scrolled by keyboard. */
export function Scroll({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a group that is no landmark and no part of a form
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <div className="scroll" role="group" aria-label={label} tabIndex={0}>
      {children}
    </div>
  );
}

export function Card({
  title,
  id,
  actions,
  children,
}: {
  title: string;
  id: string;
  actions?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section className="card" aria-labelledby={id}>
      <div className="card-head">
        <h2 id={id}>{title}</h2>
        {actions}
      </div>
      {children}
    </section>
  );
}

/** Facts are names with values, on one line each where there is room. */
export function Facts({ rows }: { rows: [string, ReactNode][] }) {
  return (
    <dl className="facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function RunLink({ id, children }: { id: string; children?: ReactNode }) {
  return (
    <Link to="/runs/$run" params={{ run: id }}>
      {children ?? id}
    </Link>
  );
}

interface DialogProps {
  title: string;
  open: boolean;
  onClose: () => void;
  children: ReactNode;
}

/** Dialog is the browser's own: it keeps the focus in, and gives it back. */
export function Dialog({ title, open, onClose, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const t = useT();
  useEffect(() => {
    const dialog = ref.current;
    if (open && !dialog?.open) dialog?.showModal();
    if (!open && dialog?.open) dialog.close();
  }, [open]);
  return (
    <dialog ref={ref} onClose={onClose} aria-label={title}>
      {open && (
        <>
          <div className="card-head">
            <h2>{title}</h2>
            <button type="button" className="quiet" onClick={onClose} aria-label={t('close')}>
              <Icon name="cross" />
            </button>
          </div>
          {children}
        </>
      )}
    </dialog>
  );
}

interface TabsProps<T extends string> {
  label: string;
  tabs: { id: T; name: string }[];
  current: T;
  onChange: (id: T) => void;
}

/** Tabs is a group of toggles; which one is on is part of the URL. */
export function Tabs<T extends string>({ label, tabs, current, onChange }: TabsProps<T>) {
  return (
    <fieldset className="tabs" aria-label={label}>
      {tabs.map((tab) => (
        <button key={tab.id} type="button" aria-pressed={tab.id === current} onClick={() => onChange(tab.id)}>
          {tab.name}
        </button>
      ))}
    </fieldset>
  );
}
