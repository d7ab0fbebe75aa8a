// Takes the pictures of docs/images again: PICTURES=../docs/images npm run e2e -- pictures
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { ask, go, launch, person } from './browser';

const folder = process.env.PICTURES ?? '';

test.runIf(folder)('pictures', { timeout: 120_000 }, async () => {
  const keys = inject('keys');
  const url = `http://${inject('server')}`;
  const browser = await launch();
  const rita = await person(browser, url, keys.requester, { viewport: { width: 1280, height: 900 } });
  const otto = await person(browser, url, keys.approver, { viewport: { width: 1280, height: 1060 } });
  const dark = await person(browser, url, keys.requester, {
    colorScheme: 'dark',
    viewport: { width: 1280, height: 900 },
  });
  const narrow = await person(browser, url, keys.approver, { viewport: { width: 360, height: 800 } });
  const compared = await ask(rita, 'compare the time off balances of Ana Souza, Bruno Lima and Carla Mendes');
  const waiting = await ask(rita, 'request 2 days off for Ana Souza from 2027-06-07');
  await go(otto, '/approvals');
  await otto.page.locator('a[data-row]', { hasText: '2027-06-07' }).first().click();
  await otto.page.locator('.end').waitFor({ state: 'attached' });
  const gate = new URL(otto.page.url()).pathname;
  await otto.page.waitForTimeout(500);
  await otto.page.screenshot({ path: join(folder, 'web-gate.png') });
  await go(rita, compared);
  await rita.page.locator('.react-flow__node').first().waitFor();
  await rita.page.waitForTimeout(800);
  await rita.page.screenshot({ path: join(folder, 'web-run.png'), fullPage: true });
  await go(dark, `${waiting}?view=timeline&step=n3`);
  await dark.page.waitForTimeout(800);
  await dark.page.screenshot({ path: join(folder, 'web-dark.png') });
  await go(narrow, gate);
  await narrow.page.screenshot({ path: join(folder, 'web-narrow.png') });
  expect([...rita.wrong, ...otto.wrong, ...dark.wrong, ...narrow.wrong]).toEqual([]);
  await browser.close();
});
