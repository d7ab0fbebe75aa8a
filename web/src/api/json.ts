// JSON as it was sent. A number that a double cannot hold is kept as it was written:
// what an approver reads is what will be sent, to the last digit.

interface RawJSON {
  rawJSON: string;
}
type Reviver = (this: unknown, key: string, value: unknown, context?: { source?: string }) => unknown;
const json = JSON as unknown as {
  parse(text: string, reviver: Reviver): unknown;
  rawJSON?(text: string): RawJSON;
};

/** inexact tells whether a number cannot be told from its double. */
export function inexact(source: string): boolean {
  if (/^-?\d+$/.test(source)) return !Number.isSafeInteger(Number(source));
  return (
    String(Number(source)) !== source &&
    source
      .replace(/[eE].*$/, '')
      .replace(/[^\d]/g, '')
      .replace(/^0+/, '').length > 15
  );
}

export function parseExact(text: string): unknown {
  return json.parse(text, (_key, value, context) => {
    if (typeof value !== 'number' || context?.source === undefined || !inexact(context.source)) return value;
    return json.rawJSON ? json.rawJSON(context.source) : value;
  });
}

/** exactText is a number that is kept as it was written, or undefined for any other value. */
export function exactText(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('rawJSON' in value)) return undefined;
  return Object.isFrozen(value) && typeof value.rawJSON === 'string' ? value.rawJSON : undefined;
}

/** readNumber reads what was typed into a field for a number. */
export function readNumber(text: string): unknown {
  try {
    const value = parseExact(text.trim());
    return typeof value === 'number' || exactText(value) !== undefined ? value : undefined;
  } catch {
    return undefined;
  }
}
