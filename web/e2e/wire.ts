import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Wire leads to a server, and can be cut and mended. */
export interface Wire {
  url: string;
  cut(): void;
  /** stall lets the streams of events that are open carry nothing more, without an error, as a sleep leaves them. */
  stall(): void;
  mend(): void;
  close(): Promise<void>;
}

export function wire(server: string): Promise<Wire> {
  const [host = '', port = ''] = server.split(':');
  const open = new Set<Socket>();
  const streams = new Map<Socket, Socket>();
  let broken = false;
  const relay = createServer((inner) => {
    if (broken) {
      inner.destroy();
      return;
    }
    const outer = connect(Number(port), host);
    outer.on('data', (data: Buffer) => {
      if (data.includes('text/event-stream')) streams.set(outer, inner);
    });
    for (const [a, b] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      open.add(a);
      a.on('error', () => b.destroy());
      a.on('close', () => {
        open.delete(a);
        streams.delete(a);
        b.destroy();
      });
      a.pipe(b);
    }
  });
  const cut = () => {
    broken = true;
    for (const socket of open) socket.destroy();
  };
  return new Promise((resolve) => {
    relay.listen(0, '127.0.0.1', () => {
      resolve({
        url: `http://127.0.0.1:${(relay.address() as AddressInfo).port}`,
        cut,
        stall: () => {
          for (const [outer, inner] of streams) outer.unpipe(inner).resume();
        },
        mend: () => {
          broken = false;
        },
        close: () => {
          cut();
          return new Promise((done) => relay.close(() => done()));
        },
      });
    });
  });
}
