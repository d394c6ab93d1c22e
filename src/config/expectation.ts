import type { SchemaNode } from './schema-node.ts';

const TYPES: Readonly<Record<string, string>> = {
  boolean: 'true or false',
  string: 'text',
  array: 'a list',
  object: 'a map',
  null: 'empty',
  number: 'a number',
};

/** `a`, `a or b`, `a, b or c`. */
function either(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

/** What a key takes, in words that follow "must be": `an integer from 0 to 65535`. */
export function expectationOf(schema: SchemaNode): string {
  const bounds = schema['x-bounds'];
  const within = bounds === undefined ? '' : `, from ${bounds.min} to ${bounds.max}`;
  if (schema['x-expects'] !== undefined) return `${schema['x-expects']}${within}`;
  if (schema.enum !== undefined) return either(schema.enum.map(String));
  if (schema.anyOf !== undefined) return either(schema.anyOf.map(expectationOf));
  if (schema.type === 'integer') return `an integer from ${schema.minimum} to ${schema.maximum}`;
  return TYPES[String(schema.type)] ?? 'a value';
}

/** What a value is, in words that follow "not": said only where the value is of the wrong kind altogether. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'boolean') return String(value);
  return TYPES[typeof value] ?? 'a value';
}
