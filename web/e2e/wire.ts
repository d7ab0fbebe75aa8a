import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Wire leads to a server, and can be cut and mended. */
export interface Wire {
  url: string;
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

export function wire(server: string): Promise<Wire> {
  const [host = '', port = ''] = server.split(':');
  const open = new Set<Socket>();
  let broken = false;
  const relay = createServer((inner) => {
    if (broken) {
      inner.destroy();
      return;
    }
    const outer = connect(Number(port), host);
    for (const [a, b] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      open.add(a);
      a.on('error', () => b.destroy());
      a.on('close', () => {
        open.delete(a);
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
