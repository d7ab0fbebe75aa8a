import { visible } from './value';

const thisMachine: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Opened is where a link leads that a server gave: to https, or to this machine, and nowhere else. */
export function opened(text: unknown): string | undefined {
  if (typeof text !== 'string' || !URL.canParse(text)) return undefined;
  const to = new URL(text);
  const safe = to.protocol === 'https:' || (to.protocol === 'http:' && thisMachine.has(to.hostname));
  return safe && !to.username && !to.password ? to.href : undefined;
}

/** GivenLink is a link that a server gave; its text is the address itself, with letters that cannot be taken for others. */
export function GivenLink({ to }: { to: unknown }) {
  const href = opened(to);
  if (href === undefined) return typeof to === 'string' ? visible(to) : null;
  return (
    <a className="prose" href={href} target="_blank" rel="noopener noreferrer nofollow">
      {href}
    </a>
  );
}
