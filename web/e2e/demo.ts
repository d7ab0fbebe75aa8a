// Starts and kills the demo: a whole server with sandboxed domains.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';

const program = join(import.meta.dirname, '../../bin/demo');

export interface Keys {
  requester: string;
  approver: string;
  root: string;
}

export interface Demo {
  keys: Keys;
  /** end ends it: in order by SIGTERM, or at once by SIGKILL. */
  end(by: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

/** startDemo starts the demo on what is in a folder. */
export async function startDemo(data: string, address: string, ...more: string[]): Promise<Demo> {
  if (!existsSync(program)) throw new Error('there is no bin/demo; "make test-web" builds it');
  const child = spawn(program, ['-addr', address, '-data', data, '-embeddings', 'off', ...more], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await printed(child, 'Manifold is running at');
  const keys = JSON.parse(readFileSync(join(data, 'demo-keys.json'), 'utf8')) as Keys;
  keys.root = readFileSync(join(data, 'server/admin.key'), 'utf8').trim();
  const end = async (by: 'SIGTERM' | 'SIGKILL') => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(by);
    await ended;
  };
  return { keys, end };
}

/** printed waits until a program has printed something. */
function printed(child: ChildProcess, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let out = '';
    child.stdout?.on('data', (more: Buffer) => {
      out += more.toString();
      if (out.includes(text)) resolve();
    });
    child.once('exit', (code) => reject(new Error(`the demo ended with ${code}:\n${out}`)));
  });
}

/** freeAddress is one that nobody listens at. */
export function freeAddress(): Promise<string> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(`127.0.0.1:${port}`));
    });
  });
}
