import { expect, test } from 'vitest';
import { type Catalog, chosen, fill } from '.';
import de from './de';
import en from './en';
import es from './es';
import fr from './fr';
import pt from './pt';

const names = (message: string | { one: string; other: string }) =>
  [...(typeof message === 'string' ? message : message.other).matchAll(/\{(\w+)\}/g)].map((m) => m[1]).sort();

test.each([
  ['pt', pt],
  ['de', de],
  ['es', es],
  ['fr', fr],
] as [string, Catalog][])('%s says everything, with the same values', (_, catalog) => {
  expect(Object.keys(catalog).sort()).toEqual(Object.keys(en).sort());
  for (const key of Object.keys(en) as (keyof typeof en)[])
    expect([key, ...names(catalog[key])]).toEqual([key, ...names(en[key])]);
  const same = (Object.keys(en) as (keyof typeof en)[]).filter(
    (key) => JSON.stringify(catalog[key]) === JSON.stringify(en[key]),
  );
  expect(same.length).toBeLessThan(Object.keys(en).length / 10);
});

test('numbers choose the form of a message, and are written as the language does', () => {
  const message = { one: '{n} run', other: '{n} runs' };
  expect(fill('en', message, { n: 1 })).toBe('1 run');
  expect(fill('en', message, { n: 1200 })).toBe('1,200 runs');
  expect(fill('de', message, { n: 12000 })).toBe('12.000 runs');
  expect(fill('en', 'by {who}, {what}', { who: '{what}' })).toBe('by {what}, {what}');
});

test('the language is what was chosen, else what the reader knows', () => {
  expect(chosen('fr', ['de'])).toBe('fr');
  expect(chosen(null, ['pt-BR', 'en'])).toBe('pt');
  expect(chosen('xx', ['sv'])).toBe('en');
});
