import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { ask, badge, gateOf, go, launch, overflow, type Person, person, readAll, violations } from './browser';
import { type Wire, wire } from './wire';

const keys = inject('keys');
let browser: Browser;
let line: Wire;
let rita: Person;
let otto: Person;

beforeAll(async () => {
  browser = await launch();
  line = await wire(inject('server'));
  rita = await person(browser, line.url, keys.requester);
  otto = await person(browser, line.url, keys.approver);
});

afterAll(async () => {
  await browser?.close();
  await line?.close();
});

/** asRoot asks the server as its first admin, past the page. */
const asRoot = (method: string, path: string, body?: unknown) =>
  rita.page.request.fetch(`http://${inject('server')}${path}`, {
    method,
    headers: { Authorization: `Bearer ${keys.root}`, 'Content-Type': 'application/json' },
    data: body === undefined ? undefined : JSON.stringify(body),
  });
const approveAll = async (run: string) => {
  await go(otto, await gateOf(otto, run));
  await readAll(otto);
  await otto.page.getByRole('button', { name: 'Approve' }).click();
  await otto.page.getByText('Approved. It goes on.').waitFor();
};
const sessionsOf = async (one: Person) => {
  const response = await one.page.request.get(`${one.url}/v1/sessions?limit=100`);
  return ((await response.json()) as { items: unknown[] }).items.length;
};
describe('signing in', () => {
  test('a key that does not count is refused, and one that does is kept nowhere', async () => {
    const context = await browser.newContext({ locale: 'en-US' });
    const page = await context.newPage();
    await page.goto(`${line.url}/approvals`);
    await page.waitForURL(/\/sign-in\?next=/);
    await page.fill('#key', 'mfk_wrong');
    await page.keyboard.press('Enter');
    await page.locator('[role=alert]').waitFor();
    await page.fill('#key', keys.approver);
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/approvals$/);
    const kept = await page.evaluate(() =>
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href]),
    );
    expect(kept).not.toContain(keys.approver);
    const [cookie] = (await context.cookies()).filter((c) => c.httpOnly);
    expect(cookie?.sameSite).toBe('Strict');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(/\/sign-in/);
    await context.close();
  });

  test('a link signs in once, and leaves nothing in the address', async () => {
    const minted = await rita.page.request.post(`${line.url}/v1/session/link`, {
      headers: { Authorization: `Bearer ${keys.requester}` },
    });
    const { token } = (await minted.json()) as { token: string };
    for (const works of [true, false]) {
      const context = await browser.newContext({ locale: 'en-US' });
      const page = await context.newPage();
      await page.goto(`${line.url}/sign-in#${token}`);
      if (works) await page.waitForURL(/\/runs$/);
      else await page.locator('[role=alert]').waitFor();
      expect(page.url()).not.toContain(token);
      await context.close();
    }
  });
});

describe('a write', () => {
  test('is previewed, asked for, approved by somebody else while the asker looks on, and undone', async () => {
    await go(rita, '/try');
    await rita.page.fill('#say', 'request 2 days off for Ana Souza from 2027-03-01');
    await rita.page.getByRole('button', { name: 'Only show what would be done' }).click();
    await rita.page.locator('#plan').waitFor();
    await rita.page.getByText('workday.request_time_off').first().waitFor();
    await rita.page.getByRole('button', { name: 'Run exactly this' }).click();
    const link = rita.page.locator('a[href^="/runs/run_"]').first();
    await link.waitFor();
    const run = (await link.getAttribute('href')) ?? '';
    await go(rita, run);
    await badge(rita, 'Waits for people').waitFor();
    await badge(rita, 'Live').waitFor();

    await go(otto, '/approvals');
    await otto.page.locator('a[data-row]', { hasText: 'Ana Souza' }).first().click();
    await otto.page.getByText('Ana Souza, Senior Software Engineer').first().waitFor();
    await otto.page.locator('q', { hasText: '2 days' }).waitFor();
    await readAll(otto);
    await otto.page.getByRole('button', { name: 'Approve' }).click();
    await otto.page.getByText('Approved. It goes on.').waitFor();

    await badge(rita, 'Completed').waitFor();
    await rita.page.getByText('read back').first().waitFor();
    await rita.page.keyboard.press('2');
    await rita.page.getByRole('button', { name: 'Requests time off for a worker' }).first().click();
    await rita.page.getByRole('button', { name: 'Undo' }).click();
    await rita.page.getByRole('button', { name: 'Ask to undo' }).click();
    await rita.page.waitForURL((url) => url.pathname.startsWith('/runs/') && !url.pathname.endsWith(run));
    const undo = new URL(rita.page.url()).pathname;
    await rita.page.getByText('Needs an approval').waitFor();
    await go(otto, await gateOf(otto, undo));
    await readAll(otto);
    await otto.page.getByRole('button', { name: 'Approve' }).click();
    await otto.page.getByText('Approved. It goes on.').waitFor();
    await badge(rita, 'Completed').waitFor();
  });

  test('is edited by a form that knows its limits, and asked about anew with the difference', async () => {
    const run = await ask(rita, 'request 1 days off for Bruno Lima from 2027-03-08');
    await go(otto, await gateOf(otto, run));
    await otto.page.getByRole('button', { name: 'Edit' }).click();
    const days = otto.page.getByLabel('days');
    await days.fill('0.3');
    await otto.page.getByText('is not a multiple of the step').waitFor();
    await days.fill('1.5');
    await otto.page.locator('ins', { hasText: '1.5' }).waitFor();
    await otto.page.getByRole('button', { name: 'Send the edit' }).click();
    await otto.page.getByText('The changed action waits for an approval.').waitFor();
    await go(otto, await gateOf(otto, run));
    await otto.page.locator('.notice ins', { hasText: '1.5' }).waitFor();
  });

  test('is approved only by who has had all of it on the screen, and only once', async () => {
    const run = await ask(rita, 'request 1 days off for Carla Mendes from 2027-03-15');
    const gate = await gateOf(otto, run);
    const second = await person(browser, line.url, keys.approver, { viewport: { width: 1000, height: 400 } });
    await go(second, gate);
    await go(otto, gate);
    const approve = second.page.getByRole('button', { name: 'Approve' });
    expect(await approve.isDisabled()).toBe(true);
    await readAll(second);
    await readAll(otto);
    await second.page.route('**/v1/gates/*', (route) =>
      route.request().method() === 'GET' ? route.abort() : route.continue(),
    );
    await otto.page.getByRole('button', { name: 'Approve' }).click();
    await otto.page.getByText('Approved. It goes on.').waitFor();
    await approve.click();
    await second.page.locator('[role=alert]').waitFor();
    expect(await second.page.getByText('Approved. It goes on.').count()).toBe(0);
    await second.context.close();
  });

  test('is rejected with a reason, which the asker reads', async () => {
    const run = await ask(rita, 'request 1 days off for Marcus Feld from 2027-03-22');
    await go(otto, await gateOf(otto, run));
    await otto.page.getByRole('button', { name: 'Reject' }).click();
    await otto.page.getByText('Say why in the comment').waitFor();
    await otto.page.getByLabel('Comment').fill('<b>the wrong week</b>');
    await otto.page.getByRole('button', { name: 'Reject' }).click();
    await otto.page.getByText('Rejected. Nothing is sent.').waitFor();
    await go(rita, run);
    await rita.page.getByText('<b>the wrong week</b>').first().waitFor();
    expect(await rita.page.locator('b', { hasText: 'the wrong week' }).count()).toBe(0);
  });
});

test('two browsers that approve at once make one approval, and both say what became of it', async () => {
  const run = await ask(rita, 'request 1 days off for Carla Mendes from 2027-03-29');
  const gate = await gateOf(otto, run);
  const second = await person(browser, line.url, keys.approver);
  const both = [otto, second];
  for (const one of both) {
    await go(one, gate);
    await readAll(one);
  }
  const press = (one: Person) => one.page.getByRole('button', { name: 'Approve' }).click();
  await Promise.all(both.map(press));
  const said = (one: Person) =>
    one.page.locator('[role=alert], main [role=status]', { hasText: /Approved|decided|settled|changed/ });
  await Promise.all(both.map((one) => said(one).first().waitFor()));
  const decided = await asRoot('GET', gate.replace('/approvals', '/v1/gates'));
  const { decisions } = (await decided.json()) as { decisions: unknown[] };
  expect(decisions).toHaveLength(1);
  await second.context.close();
});

test('versions of a flow are compared by node and field, and an earlier one is asked back', async () => {
  await approveAll(await ask(rita, 'create a chatflow called "Greeter" that replies "Good morning"'));
  const changed = await ask(rita, 'change the reply of the chatflow "Greeter" to "Back on Monday"');
  await approveAll(changed);
  await go(rita, changed);
  await badge(rita, 'Completed').waitFor();
  await go(rita, '/domains/flowise?tab=versions');
  await rita.page.getByRole('link', { name: 'Greeter' }).click();
  await rita.page.getByRole('button', { name: 'What changed' }).first().click();
  const row = rita.page.locator('tr', { has: rita.page.locator('code', { hasText: 'directReplyMessage' }) });
  await row.locator('del', { hasText: 'Good morning' }).waitFor();
  await row.locator('ins', { hasText: 'Back on Monday' }).waitFor();
  expect(rita.page.url()).toMatch(/thing=.*from=v1.*to=v2/);
  expect(await rita.page.getByRole('link', { name: 'Show the run' }).count()).toBe(2);
  await rita.page.getByRole('button', { name: 'Go back to v1' }).click();
  await rita.page.locator('dialog li', { hasText: 'approver' }).waitFor();
  await rita.page.getByRole('button', { name: 'Ask for it' }).click();
  await rita.page.waitForURL(/\/runs\/run_/);
  await rita.page.getByText('Needs an approval').waitFor();
  await approveAll(new URL(rita.page.url()).pathname);
  await badge(rita, 'Completed').waitFor();
  await go(rita, '/domains/flowise?tab=versions');
  await rita.page.getByRole('link', { name: 'Greeter' }).click();
  await rita.page.locator('th', { hasText: 'v2' }).waitFor();
  await rita.page.locator('#versions').locator('xpath=../..').getByRole('button', { name: 'Look again' }).click();
  await rita.page.locator('th', { hasText: /v3.*now/ }).waitFor();
});

test('a plan is changed before it runs, and the page says what differs', async () => {
  await go(rita, '/try');
  await rita.page.fill('#say', 'request 2 days off for Ana Souza from 2027-08-02');
  await rita.page.getByRole('button', { name: 'Only show what would be done' }).click();
  await rita.page.locator('#what-if').waitFor();
  await rita.page.getByLabel('days').fill('3');
  await rita.page.getByRole('button', { name: 'Plan it so' }).click();
  const differs = rita.page.locator('tr', { hasText: 'request_time_off.days' });
  await differs.locator('del', { hasText: '2' }).waitFor();
  await differs.locator('ins', { hasText: '3' }).waitFor();
  await go(rita, '/try?capability=workday.request_time_off');
  await rita.page.getByLabel('days').fill('0.3');
  await rita.page.getByText('is not a multiple of the step').waitFor();
  expect(await rita.page.getByRole('button', { name: 'Plan it so' }).isDisabled()).toBe(true);
});

test('a run is taken away as a table and as a picture', async () => {
  const runs = await rita.page.request.get(`${line.url}/v1/runs?state=completed&q=chatflow&limit=1`);
  const run = ((await runs.json()) as { items: { run_id: string }[] }).items[0]?.run_id;
  await go(rita, `/runs/${run}/print`);
  await rita.page.locator('svg.drawing text').first().waitFor();
  const saved = async (button: string) => {
    const [download] = await Promise.all([
      rita.page.waitForEvent('download'),
      rita.page.getByRole('button', { name: button }).click(),
    ]);
    return readFileSync(await download.path(), 'utf8');
  };
  const rows = (await saved('Timeline as CSV')).trim().split('\r\n');
  expect(rows[0]).toBe('"step","title","tool","state","part","attempt","failed","from","to","ms"');
  expect(rows.some((row) => row.includes('"people"'))).toBe(true);
  expect(await saved('Graph as SVG')).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg".*<\/svg>$/s);
});

describe('what would be done by somebody hostile', () => {
  test('another site neither frames the page nor acts for who is signed in', async () => {
    const foreign = createServer((_, response) => {
      response.setHeader('Content-Type', 'text/html');
      response.end(
        `<iframe src="${line.url}/approvals"></iframe><form method=post action="${line.url}/v1/sessions" enctype=text/plain><input name='{"message":"cancel everything","x' value='":1}'></form>`,
      );
    });
    await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve));
    const { port } = foreign.address() as AddressInfo;
    const page = await rita.context.newPage();
    const before = await sessionsOf(rita);
    await page.goto(`http://localhost:${port}/`);
    await page.waitForTimeout(500);
    const frame = page.frames().find((f) => f !== page.mainFrame());
    expect(frame?.url().startsWith(line.url) && (await frame.locator('h1').count()) > 0).toBe(false);
    const [answer] = await Promise.all([
      page.waitForResponse((r) => r.url().endsWith('/v1/sessions')),
      page.evaluate(() => document.forms[0]?.submit()),
    ]);
    expect(answer.status()).toBeGreaterThanOrEqual(400);
    expect(await sessionsOf(rita)).toBe(before);
    await page.close();
    foreign.close();
  });

  test('a session that was planted is not taken over, and a stolen one ends with its key', async () => {
    const made = await asRoot('POST', '/v1/keys', { kind: 'user', principal: 'nina', roles: ['requester'] });
    const key = (await made.json()) as { id: string; key: string };
    const nina = await person(browser, line.url, key.key);
    const [cookie] = (await nina.context.cookies()).filter((c) => c.httpOnly);
    expect(cookie).toBeDefined();
    const thief = await browser.newContext({ locale: 'en-US' });
    await thief.addCookies(await nina.context.cookies());
    const stolen = await thief.newPage();
    await stolen.goto(`${line.url}/approvals`);
    await stolen.locator('h1', { hasText: 'Approvals' }).waitFor();
    const planted = await browser.newContext({ locale: 'en-US' });
    await planted.addCookies([{ name: cookie?.name ?? '', value: 'planted', url: line.url }]);
    const victim = await planted.newPage();
    await victim.goto(`${line.url}/sign-in`);
    await victim.fill('#key', keys.requester);
    await victim.keyboard.press('Enter');
    await victim.waitForURL(/\/runs/);
    const [fresh] = (await planted.cookies()).filter((c) => c.httpOnly);
    expect([undefined, 'planted', cookie?.value]).not.toContain(fresh?.value);
    await planted.close();
    expect((await asRoot('DELETE', `/v1/keys/${key.id}`)).status()).toBeLessThan(300);
    for (const page of [nina.page, stolen]) {
      await page.goto(`${line.url}/approvals`);
      await page.waitForURL(/\/sign-in/);
    }
    await thief.close();
    await nina.context.close();
  });

  test('what a person says is text wherever it stands', async () => {
    const evil = '<img src=x onerror=alert(1)><script>alert(2)</script>\u202e{{7*7}}';
    const run = await ask(rita, `request 1 days off for Bruno Lima from 2027-09-06 because "${evil}"`).catch(() => '');
    const places = ['/runs', run, `${run}?view=events`, `${run}?view=ledger`, `${run}/print`, '/approvals'];
    for (const place of places.filter((p) => p.startsWith('/'))) {
      await go(rita, place);
      expect(await rita.page.locator('main img, main script').count()).toBe(0);
    }
  });
});

/** hostile adds to each text of an answer what would run if it were taken for markup. */
const evil = `<img src=x onerror=alert(1)><script>alert(2)</script>"'\u202e`;
function hostile(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((v) => hostile(v, key));
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, hostile(v, k)]));
  const fixed =
    /(^|_)(id|ids|at|state|status|kind|type|types|health|hash|sha256|token|csrf|cursor|next|role|roles|node|nodes)$/;
  const word = typeof value === 'string' && value !== '' && !fixed.test(key);
  return word &&
    /title|summary|message|goal|prompt|detail|descr|comment|label|text|why|reason|name|value|words?|note|says|hint|example|display|row/.test(
      key,
    )
    ? value + evil
    : value;
}

test('what domains, models and people say is text on every page, whatever it says', async () => {
  const open = await gateOf(otto, await ask(rita, 'request 1 days off for Carla Mendes from 2027-09-13'));
  const run = await ask(rita, 'compare the time off balances of Ana Souza and Bruno Lima');
  await go(rita, run);
  await badge(rita, 'Completed').waitFor();
  const visits: [Person, string][] = [
    [rita, '/runs'],
    [rita, `${run}?step=n3`],
    [rita, `${run}?view=timeline`],
    [rita, `${run}?view=events`],
    [rita, `${run}?view=ledger`],
    [rita, `${run}/print`],
    [otto, '/approvals'],
    [otto, open],
    [rita, '/domains'],
    [rita, '/domains/workday'],
    [rita, '/try?capability=workday.request_time_off'],
    [rita, '/figures'],
  ];
  const dialogs: string[] = [];
  const answers = /\/v1\/(runs|gates|domains|stats|figures|capabilities)/;
  for (const one of [rita, otto]) {
    one.page.on('dialog', (d) => {
      dialogs.push(d.message());
      void d.dismiss();
    });
    await one.page.route(answers, async (route) => {
      if (route.request().method() !== 'GET' || route.request().url().includes('/stream')) return route.continue();
      const answer = await route.fetch();
      const json = answer.headers()['content-type']?.includes('json');
      await route.fulfill(json ? { response: answer, json: hostile(await answer.json()) } : { response: answer });
    });
  }
  const shown: string[] = [];
  for (const [one, path] of visits) {
    await go(one, path);
    expect([path, await one.page.locator('main img, main script, main [onerror]').count()]).toEqual([path, 0]);
    if (await one.page.getByText('<img src=x onerror=alert(1)>').count()) shown.push(path);
  }
  for (const one of [rita, otto]) await one.page.unroute(answers);
  expect(dialogs).toEqual([]);
  expect(shown).toEqual(expect.arrayContaining(['/runs', `${run}?view=timeline`, '/approvals', open, '/domains']));
});

/** Somebody who has read nothing, and clicks what they read: each task within four clicks from the list of runs. */
describe('within four clicks', () => {
  let clicks = 0;
  const click = async (at: Locator) => {
    clicks += 1;
    await at.click();
  };
  const begin = async (one: Person) => {
    clicks = 0;
    await go(one, '/runs');
  };
  let run = '';
  const goal = 'request 2 days off for Jonas Keller from 2027-10-04';
  beforeAll(async () => {
    run = await ask(rita, goal);
  });
  afterEach(() => expect(clicks).toBeLessThanOrEqual(4));

  test('one sees why a run is not finished', async () => {
    await begin(rita);
    await click(rita.page.getByRole('link', { name: goal }).first());
    await rita.page.getByText('Needs an approval').waitFor();
    await rita.page.getByText('Waits for somebody with the role approver').waitFor();
  });

  test('one sees what exactly is approved', async () => {
    await begin(otto);
    await click(otto.page.getByRole('link', { name: /^Approvals/ }));
    await click(otto.page.getByRole('link', { name: /Jonas Keller/ }).first());
    await otto.page.getByRole('heading', { name: 'What will be sent' }).waitFor();
    await otto.page.locator('td', { hasText: '2027-10-04' }).first().waitFor();
    await approveAll(run);
  });

  test('one sees what was slow', async () => {
    await begin(rita);
    await click(rita.page.getByRole('link', { name: goal }).first());
    await rita.page.getByText(/Waiting for people is \d+ % of/).waitFor();
    const shares = await rita.page.locator('section[aria-labelledby=critical] tbody td:nth-child(4)').allTextContents();
    expect(shares.map((s) => Number.parseInt(s, 10)).reduce((a, b) => a + b, 0)).toBe(100);
    await click(rita.page.getByRole('region', { name: 'What took the time' }).getByRole('button').first());
    await rita.page.locator('#step-title').waitFor();
  });

  test('one asks to undo it', async () => {
    await begin(rita);
    await click(rita.page.getByRole('link', { name: goal }).first());
    await click(rita.page.getByRole('region', { name: 'Steps' }).getByText('Requests time off').first());
    await click(rita.page.getByRole('button', { name: 'Undo' }));
    await click(rita.page.getByRole('button', { name: 'Ask to undo' }));
    await rita.page.waitForURL((url) => url.pathname.startsWith('/runs/') && !url.pathname.endsWith(run));
    await rita.page.getByText('Needs an approval').waitFor();
  });

  test('one sees which domain is ill', async () => {
    await rita.page.route('**/v1/domains', async (route) => {
      const answer = await route.fetch();
      const { items } = (await answer.json()) as { items: { domain: string; health: string; detail?: string }[] };
      const ill = items.find((d) => d.domain === 'workday');
      if (ill) Object.assign(ill, { health: 'down', detail: 'it does not answer' });
      await route.fulfill({ response: answer, json: { items } });
    });
    await begin(rita);
    await click(rita.page.getByRole('link', { name: 'Domains' }));
    const first = rita.page.locator('tbody tr').first();
    await first.locator('code', { hasText: 'workday' }).waitFor();
    await first.getByText('Down').waitFor();
    await first.getByText('it does not answer').waitFor();
    await rita.page.unroute('**/v1/domains');
  });
});

test('somebody who may not approve is told why, and sees no run of others', async () => {
  const run = await ask(rita, 'request 1 days off for Ana Souza from 2027-04-05');
  await go(rita, await gateOf(rita, run));
  expect(await rita.page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
  await go(otto, run);
  await otto.page.getByText('This does not exist, or is not yours to see.').waitFor();
});

test('a connection that is lost is told of, and comes back without a gap', async () => {
  const run = await ask(rita, 'request 1 days off for Jonas Keller from 2027-04-12');
  await go(rita, `${run}?view=events`);
  await badge(rita, 'Live').waitFor();
  line.cut();
  await badge(rita, 'Reconnecting').waitFor();
  const direct = `http://${inject('server')}`;
  const other = await person(browser, direct, keys.approver);
  await go(other, await gateOf(other, run));
  await readAll(other);
  await other.page.getByRole('button', { name: 'Approve' }).click();
  await other.page.getByText('Approved. It goes on.').waitFor();
  await other.context.close();
  line.mend();
  await badge(rita, 'Completed').waitFor();
  await rita.page.waitForFunction(() =>
    [...document.querySelectorAll('tbody td:nth-child(3)')].some((td) => td.textContent === 'done'),
  );
  const seqs = await rita.page.locator('tbody td:first-child').allTextContents();
  expect(seqs.map(Number)).toEqual([...new Set(seqs.map(Number))].sort((a, b) => b - a));
});

test('a laptop that has slept, whose connection is dead without an error, shows what has happened meanwhile', async () => {
  const run = await ask(rita, 'request 1 days off for Marcus Feld from 2027-04-26');
  const sleeper = await person(browser, line.url, keys.requester);
  await sleeper.page.clock.install();
  await go(sleeper, `${run}?view=events`);
  await badge(sleeper, 'Live').waitFor();
  line.stall();
  await approveAll(run);
  const stateOf = async () => {
    const answer = await rita.page.request.get(`${line.url}${run.replace('/runs', '/v1/runs')}`);
    return ((await answer.json()) as { state: string }).state;
  };
  await expect.poll(stateOf).toBe('completed');
  await rita.page.waitForTimeout(1000); // time enough for a stream that is not dead
  expect(await badge(sleeper, 'Waits for people').count()).toBe(1);
  await sleeper.page.clock.fastForward(10 * 60_000);
  await badge(sleeper, 'Completed').waitFor();
  await sleeper.page.locator('tbody td:nth-child(3)', { hasText: /^done$/ }).waitFor();
  const seqs = await sleeper.page.locator('tbody td:first-child').allTextContents();
  expect(seqs.map(Number)).toEqual([...new Set(seqs.map(Number))].sort((a, b) => b - a));
  expect(sleeper.wrong).toEqual([]);
  await sleeper.context.close();
});

test('seven tabs of one browser are all live', async () => {
  const run = await ask(rita, 'request 1 days off for Helena Duarte from 2027-04-19');
  const tabs = await Promise.all(Array.from({ length: 7 }, () => rita.context.newPage()));
  for (const tab of tabs) await tab.goto(rita.url + run);
  for (const tab of tabs)
    await tab
      .locator('.heading .badge', { hasText: /^(Live|Paused)/ })
      .first()
      .waitFor();
  await go(otto, await gateOf(otto, run));
  await readAll(otto);
  await otto.page.getByRole('button', { name: 'Approve' }).click();
  for (const tab of tabs) {
    await tab.bringToFront();
    await tab.locator('.heading .badge', { hasText: 'Completed' }).first().waitFor();
  }
  await Promise.all(tabs.map((tab) => tab.close()));
  await rita.page.bringToFront();
});

test('a run is read by keyboard alone', async () => {
  await go(rita, '/runs');
  await rita.page.locator('a[data-row]').first().waitFor();
  await rita.page.keyboard.press('j');
  await rita.page.keyboard.press('Enter');
  await rita.page.waitForURL(/\/runs\/run_/);
  const card = rita.page.locator('.react-flow__node[tabindex="0"]');
  await card.waitFor();
  expect(await rita.page.locator('.react-flow__node[tabindex="0"]').count()).toBe(1);
  await card.focus();
  await rita.page.keyboard.press('ArrowLeft');
  await rita.page.waitForTimeout(300);
  await rita.page.keyboard.press('Enter');
  await rita.page.waitForURL(/step=/);
  await rita.page.waitForFunction(() => document.activeElement?.id === 'step-title');
  await rita.page.keyboard.press('Escape');
  await rita.page.waitForFunction(() => document.activeElement?.classList.contains('react-flow__node'));
  await rita.page.keyboard.press('g');
  await rita.page.keyboard.press('a');
  await rita.page.waitForURL(/\/approvals/);
});

test('filters are in the address', async () => {
  await go(rita, '/runs?state=completed&q=ana');
  await rita.page.locator('a[data-row]').first().waitFor();
  for (const goal of await rita.page.locator('a[data-row]').allTextContents())
    expect(goal.toLowerCase()).toContain('ana');
  await rita.page.getByLabel('State').selectOption('failed');
  await rita.page.waitForURL(/state=failed/);
  await rita.page.getByText('No run fits these filters.').waitFor();
});

test('every language has its words', async () => {
  for (const [language, word] of [
    ['pt', 'Execuções'],
    ['de', 'Läufe'],
    ['es', 'Ejecuciones'],
    ['fr', 'Exécutions'],
    ['en', 'Runs'],
  ] as const) {
    await rita.page.locator('header select').first().selectOption(language);
    await rita.page.locator('h1, nav a', { hasText: word }).first().waitFor();
    expect(await rita.page.evaluate(() => document.documentElement.lang)).toBe(language);
  }
});

describe('every page', () => {
  const looks = [
    ['light', { colorScheme: 'light' }],
    ['dark', { colorScheme: 'dark' }],
    ['forced colours', { forcedColors: 'active' }],
    ['a narrow window', { viewport: { width: 320, height: 800 } }],
  ] as const;
  test.each(looks)(
    'in %s has no fault that axe finds, fits, and keeps to the policy for content',
    async (_name, options) => {
      const open = await gateOf(otto, await ask(rita, 'request 1 days off for Ana Souza from 2027-05-03'));
      const asker = await person(browser, line.url, keys.requester, options);
      const approver = await person(browser, line.url, keys.approver, options);
      const runs = await asker.page.request.get(`${line.url}/v1/runs?state=completed&limit=1`);
      const run = ((await runs.json()) as { items: { run_id: string }[] }).items[0]?.run_id;
      const flow = await asker.page.request.get(`${line.url}/v1/runs?state=completed&q=Versions&limit=1`);
      const looked = ((await flow.json()) as { items: { run_id: string }[] }).items[0]?.run_id;
      const seen = await asker.page.request.get(`${line.url}/v1/runs/${looked}`);
      const { nodes } = (await seen.json()) as { nodes: { params: { chatflow_id: string } }[] };
      const versions = `/domains/flowise?tab=versions&thing=${nodes[0]?.params.chatflow_id}&from=v1&to=v2`;
      const visits: [Person, string][] = [
        [asker, '/runs'],
        [asker, `/runs/${run}?step=n3`],
        [asker, `/runs/${run}?view=timeline`],
        [asker, `/runs/${run}?view=events`],
        [asker, `/runs/${run}?view=ledger`],
        [asker, `/runs/${run}/print`],
        [approver, '/approvals'],
        [approver, open],
        [asker, '/try'],
        [asker, '/domains'],
        [asker, '/domains/workday'],
        [asker, versions],
        [asker, '/try?capability=workday.request_time_off'],
        [asker, '/figures'],
        [asker, '/settings'],
      ];
      const faults: string[] = [];
      for (const [who, path] of visits) {
        await go(who, path);
        for (const fault of await violations(who.page)) faults.push(`${path}: ${fault}`);
        const wider = await overflow(who.page);
        if (wider > 0) faults.push(`${path} is ${wider} px wider than its window`);
      }
      expect([...faults, ...asker.wrong, ...approver.wrong]).toEqual([]);
      await asker.context.close();
      await approver.context.close();
    },
  );

  test('has had no error until now', () => {
    expect([...rita.wrong, ...otto.wrong]).toEqual([]);
  });
});
