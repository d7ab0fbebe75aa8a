import { useEffect, useState } from 'react';
import { type LayoutIn, type LayoutOut, layout } from './layout';

/** From so many boxes on the layout is made beside the page. */
const beside = 50;
const kept = new Map<string, LayoutOut>();

/** useLayout gives the layout of some boxes: made once for each shape of a plan, whatever its states. */
export function useLayout(input: LayoutIn): LayoutOut | undefined {
  const key = JSON.stringify(input);
  const [, setMade] = useState('');
  useEffect(() => {
    if (kept.has(key)) return;
    const keep = (out: LayoutOut) => {
      if (kept.size > 20) kept.clear();
      kept.set(key, out);
      setMade(key);
    };
    const asked = JSON.parse(key) as LayoutIn;
    if (asked.boxes.length < beside) {
      keep(layout(asked));
      return;
    }
    const worker = new Worker(new URL('./layout.worker.ts', import.meta.url), { type: 'module' });
    worker.addEventListener('message', (e: MessageEvent<LayoutOut>) => keep(e.data));
    worker.addEventListener('error', () => keep(layout(asked)));
    worker.postMessage(asked);
    return () => worker.terminate();
  }, [key]);
  return kept.get(key);
}
