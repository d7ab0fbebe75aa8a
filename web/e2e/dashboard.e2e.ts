// Draws the dashboard of examples/monitoring from what a real Prometheus (Debian's) answers to each
// of its queries, after some minutes of a demo that people use: PICTURES=../docs/images npm run e2e -- dashboard
// It is no Grafana: titles, places, units, colours and names are those of dashboard.json, the lines are uPlot's.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import type uPlot from 'uplot';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launch } from './browser';
import { type Demo, freeAddress, startDemo } from './demo';

const folder = process.env.PICTURES ?? '';
const minutes = Number(process.env.MINUTES ?? 3);
const require = createRequire(import.meta.url);
const examples = join(import.meta.dirname, '../../examples/monitoring');

interface Panel {
  title: string;
  type: string;
  gridPos: { x: number; y: number; w: number; h: number };
  fieldConfig: { defaults: { unit: string; thresholds?: { steps: { color: string; value: number | null }[] } } };
  targets: { expr: string; legendFormat: string }[];
}

interface Series {
  name: string;
  values: [number, string][];
}

interface Drawn extends Panel {
  series: Series[];
}

const data = mkdtempSync(join(tmpdir(), 'manifold-dashboard-'));
let demo: Demo | undefined;
let prometheus: ChildProcess | undefined;
let server = '';
let asked = '';

beforeAll(async () => {
  if (!folder) return;
  server = await freeAddress();
  const metrics = await freeAddress();
  asked = await freeAddress();
  demo = await startDemo(data, server, '-metrics-addr', metrics, '-model', 'scripted');
  const config = join(data, 'prometheus.yml');
  writeFileSync(
    config,
    readFileSync(join(examples, 'prometheus.yml'), 'utf8')
      .replaceAll('127.0.0.1:9464', metrics)
      .replace('scrape_interval: 15s', 'scrape_interval: 2s')
      .replace('alerts.yml', join(examples, 'alerts.yml')),
  );
  const flags = ['--config.file', config, '--storage.tsdb.path', join(data, 'tsdb'), '--web.listen-address', asked];
  prometheus = spawn('prometheus', flags, { stdio: 'ignore' });
});

afterAll(async () => {
  prometheus?.kill('SIGTERM');
  await demo?.end('SIGTERM');
  rmSync(data, { recursive: true, force: true });
});

async function api<T>(key: string, path: string, body?: unknown): Promise<T> {
  const response = await fetch(`http://${server}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return (await response.json()) as T;
}

/** use is what people do: they ask, and somebody else approves most of it. */
async function use({ keys }: Demo, turn: number): Promise<void> {
  const day = new Date(Date.UTC(2027, 0, 1 + turn)).toISOString().slice(0, 10);
  const says = [
    'compare the time off balances of Ana Souza, Bruno Lima and Carla Mendes',
    `request 1 days off for Ana Souza from ${day}`,
    'price of AAPL and MSFT',
    'show me the chain of managers above Bruno Lima',
    'price of NOSUCH',
    'how much longer could Ana Souza be away this year', // the scripted model reads it
  ];
  await api(keys.requester, '/v1/sessions', { message: says[turn % says.length] });
  if (turn % 3 !== 0) return;
  const open = await api<{ items: { interrupt_id: string; action_sha256?: string }[] }>(
    keys.approver,
    '/v1/gates?status=open',
  );
  for (const gate of open.items.slice(0, 2))
    await api(keys.approver, `/v1/gates/${gate.interrupt_id}/decision`, {
      decision: turn % 4 === 3 ? 'reject' : 'approve',
      action_sha256: gate.action_sha256,
      comment: 'for the picture',
    });
}

async function answers(panel: Panel, from: number, to: number): Promise<Drawn> {
  const series: Series[] = [];
  for (const { expr, legendFormat } of panel.targets) {
    const query = new URLSearchParams({ query: expr, start: String(from), end: String(to), step: '2' });
    const response = await fetch(`http://${asked}/api/v1/query_range?${query}`);
    const { data } = (await response.json()) as {
      data: { result: { metric: Record<string, string>; values: [number, string][] }[] };
    };
    for (const { metric, values } of data.result)
      series.push({ name: legendFormat.replace(/\{\{(\w+)\}\}/g, (_, label: string) => metric[label] ?? ''), values });
  }
  return { ...panel, series };
}

/** draw runs in the page. */
function draw(panels: Drawn[]): void {
  const Plot = (window as unknown as { uPlot: typeof uPlot }).uPlot;
  const colours = ['#3d71d9', '#2f9e44', '#e8590c', '#ae3ec9', '#e03131', '#0c8599', '#f08c00', '#5c677d'];
  const units: Record<string, (v: number) => string> = {
    s: (v) => (v >= 1 ? `${+v.toFixed(2)} s` : `${+(v * 1000).toFixed(1)} ms`),
    ops: (v) => `${+v.toFixed(3)} /s`,
    reqps: (v) => `${+v.toFixed(2)} /s`,
    bytes: (v) => `${(v / 2 ** 20).toFixed(0)} MiB`,
    short: (v) => `${+v.toFixed(2)}`,
  };
  const last = (s: Series) => Number(s.values.at(-1)?.[1]);
  for (const panel of panels) {
    const { x, y, w, h } = panel.gridPos;
    const box = document.createElement('section');
    box.style.gridArea = `${y + 1} / ${x + 1} / ${y + h + 1} / ${x + w + 1}`;
    box.append(Object.assign(document.createElement('h2'), { textContent: panel.title }));
    document.querySelector('main')?.append(box);
    const say = units[panel.fieldConfig.defaults.unit] ?? String;
    if (panel.type === 'stat') {
      const row = Object.assign(document.createElement('div'), { className: 'stats' });
      for (const s of panel.series) {
        const steps = panel.fieldConfig.defaults.thresholds?.steps ?? [];
        const colour = steps.filter((step) => step.value === null || last(s) >= step.value).at(-1)?.color;
        const cell = document.createElement('p');
        cell.append(
          Object.assign(document.createElement('span'), { textContent: s.name }),
          Object.assign(document.createElement('b'), { textContent: say(last(s)), className: colour ?? '' }),
        );
        row.append(cell);
      }
      box.append(row);
      continue;
    }
    const times = [...new Set(panel.series.flatMap((s) => s.values.map(([at]) => at)))].sort((a, b) => a - b);
    const lines = panel.series.map((s) => {
      const known = new Map(s.values.map(([at, v]) => [at, Number.isNaN(Number(v)) ? null : Number(v)]));
      return times.map((at) => known.get(at) ?? null);
    });
    new Plot(
      {
        width: box.clientWidth - 24,
        height: 170,
        legend: { show: false },
        cursor: { show: false },
        axes: [{}, { size: 74, values: (_: uPlot, ticks: number[]) => ticks.map(say) }],
        series: [
          {},
          ...panel.series.map((s, i) => ({ label: s.name, stroke: colours[i % colours.length], width: 1.5 })),
        ],
      },
      [times, ...lines] as uPlot.AlignedData,
      box,
    );
    const legend = Object.assign(document.createElement('p'), { className: 'names' });
    panel.series.forEach((s, i) => {
      const name = Object.assign(document.createElement('span'), { textContent: s.name || 'all' });
      name.style.borderColor = colours[i % colours.length] ?? '';
      legend.append(name);
    });
    box.append(legend);
  }
}

const style = `
  body { margin: 0; background: #f4f5f5; color: #24292e; font: 13px "DejaVu Sans", sans-serif; }
  h1 { font-size: 17px; margin: 14px 16px 2px; } body > p { margin: 0 16px; color: #545b64; }
  main { display: grid; grid-template-columns: repeat(24, 1fr); grid-auto-rows: 26px; gap: 6px; padding: 12px 16px; }
  section { background: #fff; border: 1px solid #dcdee0; border-radius: 3px; padding: 8px 12px; overflow: hidden; }
  h2 { font-size: 13px; font-weight: 600; margin: 0 0 4px; }
  .stats { display: flex; flex-wrap: wrap; gap: 10px; padding-top: 22px; } .stats p { flex: 1; min-width: 120px; margin: 0; text-align: center; }
  .stats span { display: block; font-size: 12px; color: #545b64; } .stats b { font-size: 40px; } b.green { color: #2b8a3e; } b.red { color: #c92a2a; }
  .names { display: flex; flex-wrap: wrap; gap: 2px 12px; margin: 2px 0 0; font-size: 11px; max-height: 30px; overflow: hidden; }
  .names span { border-left: 12px solid; border-image: none; padding-left: 4px; line-height: 12px; }
`;

async function picture(page: Page, panels: Drawn[]): Promise<void> {
  await page.setContent(
    `<h1>Manifold</h1><p>The panels of examples/monitoring/dashboard.json, from a Prometheus that read a demo for ${minutes} minutes</p><main></main>`,
  );
  await page.addStyleTag({ content: style });
  await page.addStyleTag({ path: require.resolve('uplot/dist/uPlot.min.css') });
  await page.addScriptTag({ path: require.resolve('uplot/dist/uPlot.iife.min.js') });
  await page.evaluate(draw, panels);
  await page.waitForTimeout(500);
  await page.screenshot({ path: join(folder, 'dashboard.png'), fullPage: true });
}

test.runIf(folder)('the dashboard with data', { timeout: (minutes + 4) * 60_000 }, async () => {
  const from = Date.now();
  for (let turn = 0; Date.now() - from < minutes * 60_000; turn++) {
    await use(demo as Demo, turn);
    await pause(1700 + 900 * Math.abs(Math.sin(turn / 9)));
  }
  const { panels } = JSON.parse(readFileSync(join(examples, 'dashboard.json'), 'utf8')) as { panels: Panel[] };
  const drawn: Drawn[] = [];
  for (const panel of panels) drawn.push(await answers(panel, from / 1000 + 10, Date.now() / 1000));
  const browser = await launch();
  const page = await browser.newPage({ viewport: { width: 1200, height: 900 }, deviceScaleFactor: 1 });
  await picture(page, drawn);
  await browser.close();
  for (const panel of drawn) expect([panel.title, panel.series.length > 0]).toEqual([panel.title, true]);
});
