import { type LayoutIn, layout } from './layout';

addEventListener('message', (event: MessageEvent<LayoutIn>) => postMessage(layout(event.data)));
