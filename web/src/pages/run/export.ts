// What people take away of a run as files, made in the browser of what it shows.
import type { Bar } from './model';
import { titleOf } from './model';

/** cell writes a value for programs that calculate: quoted, and never a formula. */
function cell(value: string | number): string {
  const text = String(value);
  const safe = /^[=+\-@\t\r]/.test(text) && typeof value === 'string' ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}

const head = ['step', 'title', 'tool', 'state', 'part', 'attempt', 'failed', 'from', 'to', 'ms'];

/** timelineCSV has a row for each part of each step: its wait for a turn, for people, each attempt. */
export function timelineCSV(all: Bar[]): string {
  const rows = all.flatMap(({ node, segments }) => {
    const step = [node.node_id, titleOf(node), node.tool ?? '', node.state];
    if (segments.length === 0) return [[...step, '', '', '', '', '', '']];
    return segments.map((s) => [
      ...step,
      s.kind,
      s.attempt ?? '',
      s.failed ? 'yes' : '',
      new Date(s.from).toISOString(),
      new Date(s.to).toISOString(),
      Math.round(s.to - s.from),
    ]);
  });
  return [head, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

/** svgOf is the drawing within an element, as a file of its own. */
export const svgOf = (within: Element | null) => {
  const svg = within?.querySelector('svg.drawing');
  return svg ? new XMLSerializer().serializeToString(svg) : '';
};

/** save gives a file to the browser. */
export function save(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
