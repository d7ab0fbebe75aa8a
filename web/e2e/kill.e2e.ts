// The server dies by SIGKILL and comes back while people have the page open: on a demo of its own.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Event, Interrupt, RunView } from '../src/api/types';
import { ask, badge, gateOf, go, launch, type Person, person, readAll } from './browser';
import { type Demo, freeAddress, startDemo } from './demo';

const data = mkdtempSync(join(tmpdir(), 'manifold-web-kill-'));
let address: string;
let demo: Demo;
let browser: Browser;
let rita: Person;
let otto: Person;

beforeAll(async () => {
  address = await freeAddress();
  demo = await startDemo(data, address);
  browser = await launch();
  rita = await person(browser, `http://${address}`, demo.keys.requester);
  otto = await person(browser, `http://${address}`, demo.keys.approver);
});

afterAll(async () => {
  await browser?.close();
  await demo?.end('SIGTERM');
  rmSync(data, { recursive: true, force: true });
});

const comeBack = async () => {
  demo = await startDemo(data, address);
};

/** read asks the server past the page. */
const read = async <T>(path: string): Promise<T> => {
  const response = await rita.page.request.get(`http://${address}${path}`);
  expect(response.status()).toBe(200);
  return (await response.json()) as T;
};

/** agree holds what the page shows of a run to what the server has of it: all of it, once, in its order. */
async function agree(one: Person, run: string): Promise<void> {
  const id = run.split('/').at(-1);
  const { items } = await read<{ items: Event[] }>(`/v1/runs/${id}/events?limit=1000`);
  const rows = () => one.page.locator('section[aria-labelledby=steps] tbody td:first-child').allTextContents();
  await expect.poll(rows).toEqual(items.map((e) => String(e.seq)).reverse());
  const view = await read<RunView>(`/v1/runs/${id}`);
  expect(view.state).toBe('completed');
  const gates = await read<{ items: Interrupt[] }>(`/v1/gates?run_id=${id}`);
  expect(gates.items.map((g) => g.decisions?.length)).toEqual([1]);
  expect(items.filter((e) => e.type === 'interrupt_resolved')).toHaveLength(1);
}

test('a server that is killed while a run waits loses nothing, and the page finds back by itself', async () => {
  const run = await ask(rita, 'request 1 days off for Jonas Keller from 2027-05-10');
  await go(rita, `${run}?view=events`);
  await badge(rita, 'Live').waitFor();
  await go(otto, await gateOf(otto, run));
  await readAll(otto);
  await demo.end('SIGKILL');
  await badge(rita, 'Reconnecting').waitFor();
  await otto.page.getByRole('button', { name: 'Approve' }).click();
  await otto.page.getByRole('alert').first().waitFor();
  expect(await otto.page.getByText('Approved. It goes on.').count()).toBe(0);
  await comeBack();
  await badge(rita, 'Live').waitFor();
  await readAll(otto);
  await otto.page.getByRole('button', { name: 'Approve' }).click();
  await otto.page.getByText('Approved. It goes on.').waitFor();
  await badge(rita, 'Completed').waitFor();
  await agree(rita, run);
});

test('a server that is killed while somebody approves does it once or not at all, and the page says which', async () => {
  const run = await ask(rita, 'request 1 days off for Helena Duarte from 2027-05-17');
  await go(rita, `${run}?view=events`);
  await badge(rita, 'Live').waitFor();
  const gate = await gateOf(otto, run);
  await go(otto, gate);
  await readAll(otto);
  const sent = otto.page.waitForRequest((r) => r.method() === 'POST');
  await otto.page.getByRole('button', { name: 'Approve' }).click();
  await sent;
  await demo.end('SIGKILL');
  await comeBack();
  await go(otto, gate);
  const { status } = await read<Interrupt>(gate.replace('/approvals/', '/v1/gates/'));
  const button = otto.page.getByRole('button', { name: 'Approve' });
  expect(await button.count()).toBe(status === 'open' ? 1 : 0);
  if (status === 'open') {
    await readAll(otto);
    await button.click();
    await otto.page.getByText('Approved. It goes on.').waitFor();
  }
  await badge(rita, 'Completed').waitFor();
  await agree(rita, run);
});

test('nothing else went wrong in either browser', () => {
  expect([...rita.wrong, ...otto.wrong]).toEqual([]);
});
