import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useRef } from 'react';

interface Props<T> {
  label: string;
  head: ReactNode;
  columns: number;
  rows: T[];
  /** row gives the cells of a row. */
  row: (item: T, index: number) => ReactNode;
  keyOf: (item: T) => string;
  classOf?: (item: T) => string;
  /** Keep the end in view. */
  follow?: boolean;
}

/** From so many rows on, only those in view are drawn. */
const drawnWhole = 120;

/** LongTable is a table that scrolls by itself, however many rows it has. */
export function LongTable<T>({ label, head, columns, rows, row, keyOf, classOf }: Props<T>) {
  const frame = useRef<HTMLDivElement>(null);
  const whole = rows.length <= drawnWhole;
  const virtual = useVirtualizer({
    count: whole ? 0 : rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => 30,
    overscan: 12,
    getItemKey: (i) => keyOf(rows[i] as T),
  });
  const drawn = whole ? [] : virtual.getVirtualItems();
  const before = drawn[0]?.start ?? 0;
  const after = virtual.getTotalSize() - (drawn.at(-1)?.end ?? 0);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a group that is no landmark and no part of a form
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <div className={whole ? 'scroll' : 'scroll tall'} role="group" aria-label={label} tabIndex={0} ref={frame}>
      <table className="list" aria-rowcount={whole ? undefined : rows.length + 1}>
        <thead>{head}</thead>
        <tbody>
          {whole &&
            rows.map((item, i) => (
              <tr key={keyOf(item)} className={classOf?.(item)}>
                {row(item, i)}
              </tr>
            ))}
          {before > 0 && <Space columns={columns} height={before} />}
          {drawn.map((v) => {
            const item = rows[v.index] as T;
            return (
              <tr
                key={v.key}
                ref={virtual.measureElement}
                data-index={v.index}
                aria-rowindex={v.index + 2}
                className={classOf?.(item)}
              >
                {row(item, v.index)}
              </tr>
            );
          })}
          {!whole && after > 0 && <Space columns={columns} height={after} />}
        </tbody>
      </table>
    </div>
  );
}

function Space({ columns, height }: { columns: number; height: number }) {
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: an empty row that nobody can get to
    <tr aria-hidden="true">
      <td colSpan={columns} style={{ height, padding: 0, border: 0 }} />
    </tr>
  );
}
