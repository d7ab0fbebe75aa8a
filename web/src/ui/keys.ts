import { useEffect } from 'react';

const store = 'manifold.keys';

/** Single keys can be switched off (WCAG 2.1.4). */
export const keysOn = () => localStorage.getItem(store) !== 'off';
export const setKeysOn = (on: boolean) => localStorage.setItem(store, on ? 'on' : 'off');

/** typing tells whether a key belongs to what has the focus. */
function typing(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.closest('dialog') !== null)
  );
}

/** useKeys listens to single keys, and to pairs such as "g r". */
export function useKeys(keys: Record<string, (event: KeyboardEvent) => void>): void {
  useEffect(() => {
    let first = '';
    let since = 0;
    const pressed = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || !keysOn())
        return;
      const pair = event.timeStamp - since < 1500 ? `${first} ${event.key}` : '';
      const run = keys[pair] ?? keys[event.key];
      first = event.key;
      since = event.timeStamp;
      if (!run) return;
      event.preventDefault();
      first = '';
      run(event);
    };
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  }, [keys]);
}

/** step moves the focus to the next or previous row of the page's list. */
export function step(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')];
  const at = rows.findIndex((row) => row === document.activeElement || row.contains(document.activeElement));
  const next = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(Math.max(at + by, 0), rows.length - 1)];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}
