import type { Utterance } from '../../api/types';

export interface Piece {
  text: string;
  use?: NonNullable<Utterance['words']>[number];
}

/** pieces cuts a message at the words that have a use. Their places are in bytes of UTF-8. */
export function pieces(said: Utterance): Piece[] {
  const bytes = new TextEncoder().encode(said.text);
  const decode = (from: number, to: number) => new TextDecoder().decode(bytes.subarray(from, to));
  const out: Piece[] = [];
  let at = 0;
  for (const use of said.words ?? []) {
    const [from = 0, to = 0] = use.span;
    if (from < at || to <= from || to > bytes.length) continue; // no place in this text
    if (from > at) out.push({ text: decode(at, from) });
    out.push({ text: decode(from, to), use });
    at = to;
  }
  if (at < bytes.length) out.push({ text: decode(at, bytes.length) });
  return out;
}
