/** The shapes are drawn here: fonts differ from machine to machine, and some lack them. */
const paths = {
  planned: 'M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11Z',
  running: 'M5 3v10l8-5z',
  asks: 'M5 3v10M11 3v10',
  check: 'M3 8.5l3.5 3.5L13 4.5',
  warning: 'M8 2 14.5 13.5h-13zM8 6.5v3.2M8 11.6v.6',
  cross: 'M4 4l8 8M12 4l-8 8',
  blocked: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2ZM5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4',
  skipped: 'M3 4l5 4-5 4M12.5 3.5v9',
  cancelled: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2ZM3.8 12.2l8.4-8.4',
  unknown: 'M5.5 6a2.5 2.5 0 1 1 3.6 2.2C8.3 8.6 8 9 8 10M8 12.4v.4',
  shield: 'M8 2l5 2v4c0 3-2.2 5-5 6-2.8-1-5-3-5-6V4z',
  diamond: 'M8 2l6 6-6 6-6-6z',
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM10.5 10.5l3.5 3.5',
  undo: 'M6 4L3 7l3 3M3 7h6a4 4 0 0 1 0 8H7',
  menu: 'M2.5 4h11M2.5 8h11M2.5 12h11',
} as const;

export type IconName = keyof typeof paths;

const filled: ReadonlySet<IconName> = new Set(['running', 'diamond']);

export function Icon({ name, className = '' }: { name: IconName; className?: string }) {
  return (
    <svg
      className={`icon ${filled.has(name) ? 'icon-filled' : ''} ${className}`}
      viewBox="0 0 16 16"
      aria-hidden="true"
    >
      <path d={paths[name]} />
    </svg>
  );
}
