import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import { DOMAIN_PATTERN } from '../../domain/deployment.ts';
import type { Secret } from '../../domain/secret.ts';
import { VERSION_PATTERN } from '../../domain/version.ts';

/**
 * The building blocks of the schema. `Static` of a block is the type of the loaded value (bytes, milliseconds,
 * absolute path, Secret), its JSON Schema describes what a person writes; `x-unit` says how one becomes the other.
 *
 * Only `scripts/generate.ts` and the tests run this code: docshelf itself reads the generated `config.schema.json`,
 * because importing TypeBox costs 125 ms of CPU at every start (measured), more than all the rest of loading.
 */

/** Keywords that tell about a key and rule nothing. */
type Told = Readonly<{ description: string; default?: unknown; examples?: unknown[] }>;

/** Keys with a default may be left out; the others are required unless they are `optional`. */
function requiredOf(properties: TProperties): string[] | undefined {
  const required = Object.entries(properties)
    .filter(([, schema]) => !Type.IsOptional(schema) && !('default' in schema))
    .map(([key]) => key);
  return required.length === 0 ? undefined : required;
}

/** A fixed set of keys; another key is a fault. */
export function record<P extends TProperties>(properties: P, told: { readonly description: string }): Type.TObject<P> {
  return Type.Object(properties, { ...told, additionalProperties: false, required: requiredOf(properties) });
}

/** A `record` that may be left out, every one of its keys then being at its default. */
export function section<P extends TProperties>(properties: P, description: string): Type.TObject<P> {
  return Type.Object(properties, {
    description,
    default: {},
    additionalProperties: false,
    required: requiredOf(properties),
  });
}

/** A section for which `true` and `false` stand for its key `enabled`. */
export function switchable<P extends TProperties>(properties: P, description: string) {
  const whole = record(properties, { description });
  return Type.Unsafe<Static<typeof whole>>({
    anyOf: [{ type: 'boolean' }, whole],
    description,
    default: {},
    'x-shorthand': 'enabled',
  });
}

export const optional = Type.Optional;
export const boolean = (told: Told) => Type.Boolean(told);
export const list = <T extends TSchema>(items: T, told: Told) => Type.Array(items, { default: [], ...told });
export const integer = (minimum: number, maximum: number, told: Told) => Type.Integer({ minimum, maximum, ...told });

export const oneOf = <const W extends readonly (string | boolean)[]>(words: W, told: Told) =>
  Type.Unsafe<W[number]>({ enum: words, ...told });

export const text = (expects: string, rule: { pattern?: string; format?: string }, told: Told) =>
  Type.Unsafe<string>({ type: 'string', minLength: 1, maxLength: 4096, ...rule, 'x-expects': expects, ...told });

/** Bytes; written as an integer or with KiB, MiB, GiB. */
export const size = (min: string, max: string, told: Told) =>
  Type.Unsafe<number>({
    type: ['integer', 'string'],
    minimum: 0,
    pattern: '^\\d{1,12}(?:KiB|MiB|GiB)?$',
    'x-unit': 'bytes',
    'x-bounds': { min, max },
    'x-expects': 'a size such as 128MiB (KiB, MiB, GiB, or a plain number of bytes)',
    ...told,
  });

const DURATION = { pattern: '^\\d{1,9}[smhd]$', 'x-expects': 'a duration such as 30s (s, m, h or d)' };

/** Milliseconds; written with s, m, h or d. A bare number is refused: nobody can see what it means. */
export const duration = (min: string, max: string, told: Told) =>
  Type.Unsafe<number>({ type: 'string', ...DURATION, 'x-unit': 'ms', 'x-bounds': { min, max }, ...told });

/** A duration, or `none`. */
export const durationOrNone = (min: string, max: string, told: Told) =>
  Type.Unsafe<number | 'none'>({
    anyOf: [{ enum: ['none'] }, { type: 'string', ...DURATION }],
    'x-unit': 'ms',
    'x-bounds': { min, max },
    'x-expects': 'none, or a duration such as 30d (s, m, h or d)',
    ...told,
  });

/** An absolute path; a relative one is written from the config file's folder. */
export const path = (told: Told) =>
  Type.Unsafe<string>({
    type: 'string',
    minLength: 1,
    maxLength: 4096,
    'x-unit': 'path',
    'x-expects': 'a path',
    ...told,
  });

export const secret = (expects: string, rule: { pattern?: string; format?: string }, told: Told) =>
  Type.Unsafe<Secret>({
    type: 'string',
    minLength: 1,
    maxLength: 16_384,
    ...rule,
    'x-unit': 'secret',
    'x-expects': expects,
    ...told,
  });

export const host = (told: Told) => text('an IP address or a host name', { pattern: '^[A-Za-z0-9._:-]{1,255}$' }, told);
export const port = (told: Told) => integer(0, 65_535, told);
export const httpUrl = (told: Told) => text('an http or https URL', { format: 'http-url' }, told);
export const cidr = text(
  'an IP address or a network such as 10.0.0.0/8',
  { format: 'cidr' },
  {
    description: 'An IP address or a network in CIDR notation.',
  },
);
export const sha256 = (told: Told) => text('a SHA-256 digest of 64 hex digits', { pattern: '^[0-9a-fA-F]{64}$' }, told);

const VERSION_RULE = 'a version: 1 to 128 letters, digits, ".", "_", "+" or "-", beginning with a letter or a digit';
export const version = (told: Told) => text(VERSION_RULE, { pattern: VERSION_PATTERN.source }, told);

export const DOMAIN_RULE = 'a domain: 1 to 63 lower-case letters, digits or "-", such as acme';
export const domain = (told: Told) => text(DOMAIN_RULE, { pattern: DOMAIN_PATTERN.source }, told);
