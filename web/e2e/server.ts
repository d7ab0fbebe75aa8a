// Starts the demo: a whole server with sandboxed domains, behind a wire that can be cut.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    server: string;
    keys: { requester: string; approver: string; root: string };
  }
}

const program = join(import.meta.dirname, '../../bin/demo');

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (!existsSync(program)) throw new Error('there is no bin/demo; "make test-web" builds it');
  const data = mkdtempSync(join(tmpdir(), 'manifold-web-'));
  const port = await freePort();
  const demo = spawn(program, ['-addr', `127.0.0.1:${port}`, '-data', data, '-embeddings', 'off'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await printed(demo, 'Manifold is running at');
  const keys = JSON.parse(readFileSync(join(data, 'demo-keys.json'), 'utf8'));
  keys.root = readFileSync(join(data, 'server/admin.key'), 'utf8').trim();
  project.provide('server', `127.0.0.1:${port}`);
  project.provide('keys', keys);
  return async () => {
    const ended = new Promise((resolve) => demo.once('exit', resolve));
    demo.kill('SIGTERM');
    await ended;
    rmSync(data, { recursive: true, force: true });
  };
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

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
