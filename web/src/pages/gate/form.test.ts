import { describe, expect, test } from 'vitest';
import { exactText, parseExact } from '../../api/json';
import { visible } from '../../ui/value';
import { fields, kindOf, read, type Schema, toText } from './form';
import { pieces } from './sentence';

const schema: Schema = {
  properties: {
    days: { type: 'number', exclusiveMinimum: 0, maximum: 60, multipleOf: 0.25 },
    start: { type: 'string', format: 'date' },
    kind: { enum: ['vacation', 'sick'] },
    note: { type: 'string', maxLength: 5 },
    count: { type: 'integer' },
    names: { type: 'array', items: { type: 'string' } },
    rest: { type: 'object' },
  },
  required: ['days', 'start'],
};
const field = (name: string) => {
  const found = fields(schema, {}).find((f) => f.name === name);
  if (!found) throw new Error(name);
  return found;
};

describe('the form', () => {
  test('has what is needed first, and values that no schema names', () => {
    expect(fields(schema, { extra: true }).map((f) => f.name)).toEqual([
      'days',
      'start',
      'kind',
      'note',
      'count',
      'names',
      'rest',
      'extra',
    ]);
    expect(Object.values(schema.properties ?? {}).map(kindOf)).toEqual([
      'number',
      'date',
      'choice',
      'text',
      'integer',
      'lines',
      'json',
    ]);
  });

  test.each([
    ['days', '0', 'high or low', 'low'],
    ['days', '61', '', 'high'],
    ['days', '0.3', '', 'step'],
    ['days', 'two', '', 'number'],
    ['days', '', '', 'needed'],
    ['start', '2026-13-01', '', 'date'],
    ['note', 'longer', '', 'long'],
    ['count', '1.5', '', 'whole'],
    ['rest', '{', '', 'json'],
  ])('refuses %s = %j', (name, text, _, fault) => {
    expect(read(field(name), text).fault).toBe(fault);
  });

  test.each([
    ['days', '1.25', 1.25],
    ['start', '2026-12-31', '2026-12-31'],
    ['kind', 'sick', 'sick'],
    ['count', '-3', -3],
    ['names', 'a\n\n b ', ['a', 'b']],
    ['rest', '{"a":1}', { a: 1 }],
    ['note', '', undefined],
  ])('reads %s = %j', (name, text, value) => {
    expect(read(field(name), text)).toEqual(value === undefined ? {} : { value });
  });

  test('shows a value as its field does, and reads it back', () => {
    for (const [name, value] of [
      ['days', 2],
      ['names', ['a', 'b']],
      ['rest', { a: [1] }],
    ] as const) {
      const f = field(name);
      expect(read(f, toText(f.kind, value))).toEqual({ value });
    }
  });
});

test.runIf('rawJSON' in JSON)('a number that a double cannot hold stays as it was written', () => {
  const value = parseExact('{"id": 12345678901234567890, "days": 2.5}') as Record<string, unknown>;
  expect(exactText(value.id)).toBe('12345678901234567890');
  expect(JSON.stringify(value)).toBe('{"id":12345678901234567890,"days":2.5}');
});

test('what a domain sends is never taken for an exact number', () => {
  expect(exactText({ rawJSON: '1' })).toBeUndefined();
});

test('a sentence is cut at bytes, not at characters', () => {
  const said = {
    text: 'férias à Ana',
    words: [
      { span: [0, 7], class: 'command' as const },
      { span: [11, 14], class: 'value' as const, parameter: 'who' },
    ],
  };
  expect(pieces(said).map((p) => p.text)).toEqual(['férias', ' à ', 'Ana']);
  expect(pieces(said)[2]?.use?.parameter).toBe('who');
});

test('a sentence whose places are nonsense is shown whole', () => {
  const said = {
    text: 'abc',
    words: [
      { span: [2, 1], class: 'value' as const },
      { span: [1, 99], class: 'value' as const },
    ],
  };
  expect(
    pieces(said)
      .map((p) => p.text)
      .join(''),
  ).toBe('abc');
});

test('characters that hide are seen', () => {
  expect(visible('pay\u202egnp.exe\u200b\u0007')).toBe('pay�gnp.exe��');
  expect(visible('a\u200db')).toBe('a�b');
  expect(visible('👩\u200d🚀 né\n')).toBe('👩\u200d🚀 né\n');
});
