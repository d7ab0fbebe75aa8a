// Starts the demo that the tests share.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { freeAddress, type Keys, startDemo } from './demo';

declare module 'vitest' {
  export interface ProvidedContext {
    server: string;
    keys: Keys;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const data = mkdtempSync(join(tmpdir(), 'manifold-web-'));
  const address = await freeAddress();
  const demo = await startDemo(data, address);
  project.provide('server', address);
  project.provide('keys', demo.keys);
  return async () => {
    await demo.end('SIGTERM');
    rmSync(data, { recursive: true, force: true });
  };
}
