import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const places = [process.env.CHROMIUM ?? '', '/usr/bin/chromium', '/usr/bin/chromium-browser'];

export function launch(): Promise<Browser> {
  const executablePath = places.find((path) => path !== '' && existsSync(path));
  if (!executablePath) throw new Error('there is no Chromium; install it, or name it in CHROMIUM');
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}

/** Person is somebody with a browser of their own, and what went wrong in it. */
export interface Person {
  context: BrowserContext;
  page: Page;
  url: string;
  /** Errors of the console, violations of the policy for content, requests to others. */
  wrong: string[];
}

export async function person(
  browser: Browser,
  url: string,
  key: string,
  options: BrowserContextOptions = {},
): Promise<Person> {
  const context = await browser.newContext({ locale: 'en-US', viewport: { width: 1280, height: 900 }, ...options });
  context.setDefaultTimeout(20_000);
  const page = await context.newPage();
  const one: Person = { context, page, url, wrong: [] };
  watch(one, page);
  await page.goto(`${url}/sign-in`);
  await page.fill('#key', key);
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/runs/);
  return one;
}

export function watch(one: Person, page: Page): void {
  page.on('pageerror', (e) => one.wrong.push(`thrown: ${e.message}`));
  page.on('console', (m) => {
    if (m.type() === 'error' && !m.text().includes('Failed to load resource')) one.wrong.push(m.text());
  });
  page.on('request', (r) => {
    if (!r.url().startsWith(one.url) && !r.url().startsWith('data:')) one.wrong.push(`a request to ${r.url()}`);
  });
}

/** go opens a page and waits until it has loaded what it shows. */
export async function go({ page, url }: Person, path: string): Promise<void> {
  await page.goto(url + path);
  await page.waitForSelector('h1');
  await page.waitForFunction(() => document.querySelector('main p[role=status].muted')?.textContent !== 'Loading…');
  await page.waitForTimeout(400);
}

/** Rules of axe are looked at by its own script, in a world of its own, so that the policy for content holds. */
export async function violations(page: Page): Promise<string[]> {
  const client = await page.context().newCDPSession(page);
  const { frameTree } = await client.send('Page.getFrameTree');
  const world = await client.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id, worldName: 'axe' });
  const run = `${axeSource};axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'], resultTypes: ['violations']}).then((r) => JSON.stringify(r.violations.map((v) => v.id + ': ' + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(' | '))))`;
  const { result, exceptionDetails } = await client.send('Runtime.evaluate', {
    expression: run,
    contextId: world.executionContextId,
    awaitPromise: true,
    returnByValue: true,
  });
  await client.detach();
  if (exceptionDetails) throw new Error(exceptionDetails.text);
  return JSON.parse(String(result.value)) as string[];
}

/** overflow is by how much a page is wider than its window. */
export const overflow = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);

export async function ask(one: Person, sentence: string): Promise<string> {
  await go(one, '/try');
  await one.page.fill('#say', sentence);
  await one.page.keyboard.press('Enter');
  const link = one.page.locator('a[href^="/runs/run_"]').first();
  await link.waitFor();
  const href = await link.getAttribute('href');
  expect(href).toMatch(/^\/runs\/run_/);
  return href ?? '';
}

export const gateOf = async (one: Person, run: string) => {
  const id = run.split('/').at(-1);
  const response = await one.page.request.get(`${one.url}/v1/gates?status=open&run_id=${id}`);
  const { items } = (await response.json()) as { items: { interrupt_id: string }[] };
  return `/approvals/${items[0]?.interrupt_id}`;
};

export const readAll = (one: Person) => one.page.locator('.end').scrollIntoViewIfNeeded();
export const badge = (one: Person, text: string) => one.page.locator('.heading .badge', { hasText: text }).first();
