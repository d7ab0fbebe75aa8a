// A form for parameters, from their JSON Schema. What a field cannot express is written as JSON.
import { exactText, parseExact, readNumber } from '../../api/json';

export interface Schema {
  type?: string | string[];
  title?: string;
  description?: string;
  enum?: unknown[];
  const?: unknown;
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  multipleOf?: number;
  minLength?: number;
  maxLength?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  default?: unknown;
}

export type FieldKind = 'text' | 'long' | 'number' | 'integer' | 'boolean' | 'choice' | 'date' | 'lines' | 'json';

export interface Field {
  name: string;
  kind: FieldKind;
  schema: Schema;
  required: boolean;
}

const single = (schema: Schema) => (Array.isArray(schema.type) ? schema.type.find((t) => t !== 'null') : schema.type);

export function kindOf(schema: Schema): FieldKind {
  if (schema.enum?.every((v) => ['string', 'number'].includes(typeof v))) return 'choice';
  switch (single(schema)) {
    case 'string':
      return schema.format === 'date' ? 'date' : (schema.maxLength ?? 0) > 200 ? 'long' : 'text';
    case 'number':
      return 'number';
    case 'integer':
      return 'integer';
    case 'boolean':
      return 'boolean';
    case 'array':
      return schema.items && single(schema.items) === 'string' && !schema.items.enum ? 'lines' : 'json';
    default:
      return 'json';
  }
}

/** fields are those of a schema, and those of values that it does not name; the needed ones first. */
export function fields(schema: Schema | undefined, values: Record<string, unknown>): Field[] {
  const properties = schema?.properties ?? {};
  const required = new Set(schema?.required ?? []);
  const names = [...new Set([...Object.keys(properties), ...Object.keys(values)])];
  return names
    .map((name): Field => {
      const one = properties[name] ?? guessed(values[name]);
      return { name, schema: one, kind: kindOf(one), required: required.has(name) };
    })
    .sort((a, b) => Number(b.required) - Number(a.required));
}

function guessed(value: unknown): Schema {
  if (exactText(value) !== undefined) return { type: 'number' };
  if (['string', 'number', 'boolean'].includes(typeof value)) return { type: typeof value };
  return {};
}

/** toText is a value as its field shows it; a value that does not fit its field is shown as it is. */
export function toText(kind: FieldKind, value: unknown): string {
  if (value === undefined || value === null) return '';
  if (kind === 'lines' && Array.isArray(value)) return value.join('\n');
  if (kind === 'json' || typeof value === 'object') return exactText(value) ?? JSON.stringify(value, null, 2);
  return String(value);
}

export type Fault =
  | 'needed'
  | 'number'
  | 'whole'
  | 'low'
  | 'high'
  | 'step'
  | 'short'
  | 'long'
  | 'pattern'
  | 'date'
  | 'json';

/** read reads a field: its value, undefined where it is empty and may be, or what is wrong. */
export function read(field: Field, text: string): { value?: unknown; fault?: Fault } {
  const { kind, schema } = field;
  if (text.trim() === '' && kind !== 'text' && kind !== 'long') return field.required ? { fault: 'needed' } : {};
  switch (kind) {
    case 'number':
    case 'integer':
      return readNumeric(schema, kind, text);
    case 'boolean':
      return { value: text === 'true' };
    case 'choice':
      return { value: schema.enum?.find((v) => String(v) === text) };
    case 'date':
      return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)) ? { value: text } : { fault: 'date' };
    case 'lines':
      return {
        value: text
          .split('\n')
          .map((line) => line.trim())
          .filter(Boolean),
      };
    case 'json':
      try {
        return { value: parseExact(text) };
      } catch {
        return { fault: 'json' };
      }
    default:
      return readText(field, text);
  }
}

function readNumeric(schema: Schema, kind: FieldKind, text: string): { value?: unknown; fault?: Fault } {
  const value = readNumber(text);
  if (value === undefined) return { fault: 'number' };
  const n = Number(text);
  if (kind === 'integer' && !/^-?\d+$/.test(text.trim())) return { fault: 'whole' };
  if (
    (schema.minimum !== undefined && n < schema.minimum) ||
    (schema.exclusiveMinimum !== undefined && n <= schema.exclusiveMinimum)
  )
    return { fault: 'low' };
  if (
    (schema.maximum !== undefined && n > schema.maximum) ||
    (schema.exclusiveMaximum !== undefined && n >= schema.exclusiveMaximum)
  )
    return { fault: 'high' };
  if (schema.multipleOf && Math.abs(n / schema.multipleOf - Math.round(n / schema.multipleOf)) > 1e-9)
    return { fault: 'step' };
  return { value };
}

function readText({ schema, required }: Field, text: string): { value?: unknown; fault?: Fault } {
  if (text === '') return required && (schema.minLength ?? 0) > 0 ? { fault: 'needed' } : required ? { value: '' } : {};
  const length = [...text].length;
  if (schema.minLength !== undefined && length < schema.minLength) return { fault: 'short' };
  if (schema.maxLength !== undefined && length > schema.maxLength) return { fault: 'long' };
  if (schema.pattern !== undefined && !fits(schema.pattern, text)) return { fault: 'pattern' };
  return { value: text };
}

/** fits leaves patterns that this browser cannot read to the server. */
function fits(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(text);
  } catch {
    return true;
  }
}

/** limits says in words of no language what a field takes. */
export function limits({ schema }: Field): string {
  const low =
    schema.minimum !== undefined
      ? `≥ ${schema.minimum}`
      : schema.exclusiveMinimum !== undefined
        ? `> ${schema.exclusiveMinimum}`
        : '';
  const high =
    schema.maximum !== undefined
      ? `≤ ${schema.maximum}`
      : schema.exclusiveMaximum !== undefined
        ? `< ${schema.exclusiveMaximum}`
        : '';
  const step = schema.multipleOf ? `× ${schema.multipleOf}` : '';
  const length = schema.maxLength ? `≤ ${schema.maxLength}` : '';
  return [low, high, step, length].filter(Boolean).join(', ');
}
