import { type Static, type TProperties, type TSchema, type TUnsafe, Type } from 'typebox';
import { DOMAIN_PATTERN } from '../../domain/deployment.ts';
import type { Secret } from '../../domain/secret.ts';
import { VERSION_PATTERN } from '../../domain/version.ts';
import type { NamedFile, NamedFolder } from '../read-config-file.ts';
import type { Contents, FileKind, SchemaNode, TextRule } from '../schema-node.ts';

/**
 * Each function builds the schema of one key: JSON Schema for the written value, and the `Static` type for the value in `Config`.
 * Only `scripts/generate.ts` and tests run this file, because loading TypeBox at each start would cost 125 ms of CPU.
 */

interface RowOptions {
  readonly examples?: unknown[];
  readonly restart?: SchemaNode['x-restart'];
}

type Suffixed<T, S extends string> = TUnsafe<T> & { readonly 'x-suffix': S };
type NameOf<K extends string, S> = S extends { readonly 'x-suffix': infer X extends string } ? `${K}${X}` : K;
type Decoded<P extends TProperties> = { readonly [K in keyof P & string as NameOf<K, P[K]>]: Static<P[K]> };

type RowText = readonly [description: string, fallback?: unknown, more?: RowOptions];

const row = <T>(schema: object, ...[description, fallback, { restart, ...more } = {}]: RowText): TUnsafe<T> =>
  Type.Unsafe<T>({
    ...schema,
    description,
    ...(fallback !== undefined && { default: fallback }),
    ...(restart && { 'x-restart': restart }),
    ...more,
  });

function requiredOf(properties: TProperties): string[] {
  return Object.entries(properties)
    .filter(([, schema]) => !Type.IsOptional(schema) && !('default' in schema))
    .map(([key]) => key);
}

export function record<P extends TProperties>(properties: P, ...doc: RowText): TUnsafe<Decoded<P>> {
  const required = requiredOf(properties);
  const keys = { type: 'object', properties, additionalProperties: false };
  return row(required.length === 0 ? keys : { ...keys, required }, ...doc);
}

export const section = <P extends TProperties>(properties: P, description: string, more: RowOptions = {}) =>
  record(properties, description, {}, more);

export function switchable<P extends TProperties>(properties: P, description: string): TUnsafe<Decoded<P>> {
  const whole = record(properties, description);
  return row({ anyOf: [{ type: 'boolean' }, whole], 'x-shorthand': 'enabled' }, description, {});
}

export const optional = <S extends TSchema>(schema: S) =>
  Type.Optional(schema as unknown as TUnsafe<Static<S> | null> & Pick<S, Extract<'x-suffix', keyof S>>);

export const max = <S extends TSchema>(schema: S) =>
  ({ ...schema, 'x-suffix': 'Max' }) as unknown as Suffixed<Static<S>, 'Max'>;

export const boolean = (...doc: RowText) => row<boolean>({ type: 'boolean' }, ...doc);
export const integer = (minimum: number, maximum: number, ...doc: RowText) =>
  row<number>({ type: 'integer', minimum, maximum }, ...doc);
export const list = <T extends TSchema>(items: T, description: string, more: RowOptions = {}) =>
  row<readonly Static<T>[]>({ type: 'array', items }, description, [], more);
export const map = <T extends TSchema>(names: object, items: T, description: string, more: RowOptions = {}) =>
  row<Readonly<Record<string, Static<T>>>>(
    { type: 'object', propertyNames: names, additionalProperties: items },
    description,
    {},
    more,
  );
export const oneOf = <const W extends readonly (string | boolean)[]>(words: W, ...doc: RowText) =>
  row<W[number]>({ enum: words }, ...doc);

const words = (expects: string, rule: TextRule = {}) =>
  ({ type: 'string', minLength: 1, maxLength: 4096, ...rule, 'x-expects': expects }) as const;
export const text = (expects: string, rule: TextRule, ...doc: RowText) => row<string>(words(expects, rule), ...doc);

export const size = (min: string, max: string, ...doc: RowText) =>
  row<number>(
    {
      type: ['integer', 'string'],
      minimum: 0,
      pattern: '^\\d{1,12}(?:KiB|MiB|GiB)?$',
      'x-unit': 'bytes',
      'x-bounds': { min, max },
      'x-expects': 'a size such as 128MiB (KiB, MiB, GiB, or a plain number of bytes)',
    },
    ...doc,
  );

const DURATION = { type: 'string', pattern: '^\\d{1,9}[smhd]$' };

function timed<T>(schema: object, min: string, max: string, ...doc: RowText) {
  const unit = { 'x-unit': 'ms', 'x-suffix': 'Ms', 'x-bounds': { min, max } };
  return row({ ...schema, ...unit }, ...doc) as unknown as Suffixed<T, 'Ms'>;
}

/** Duration in milliseconds, written with s, m, h or d. A number without a unit is rejected as unclear. */
export const duration = (min: string, max: string, ...doc: RowText) =>
  timed<number>({ ...DURATION, 'x-expects': 'a duration such as 30s (s, m, h or d)' }, min, max, ...doc);

export const durationOr = <T>(
  others: readonly object[],
  expects: string,
  [min, max]: readonly [string, string],
  ...doc: RowText
) => timed<number | T>({ anyOf: [...others, DURATION], 'x-expects': expects }, min, max, ...doc);

const PATH = { ...words('a path'), 'x-unit': 'path' };
export const path = (...doc: RowText) => row<string>(PATH, ...doc);

export const folder = (...doc: RowText) =>
  row<NamedFolder>({ ...PATH, 'x-unit': 'folder', 'x-names': 'folder' }, ...doc);

export const file = (kind: FileKind, holds: Contents | null, ...doc: RowText) =>
  row<string>({ ...PATH, 'x-names': kind, ...(holds && { 'x-holds': holds }) }, ...doc);

/** Key for a file whose content becomes part of `Config`. With a key that `file` builds, `Config` contains only the path. */
export const contents = (kind: FileKind, holds: Contents, ...doc: RowText) =>
  row<NamedFile>({ ...PATH, 'x-unit': 'file', 'x-names': kind, 'x-holds': holds }, ...doc);

export const secret = (expects: string, rule: TextRule, ...doc: RowText) =>
  row<Secret>({ ...words(expects, rule), maxLength: 16_384, 'x-unit': 'secret' }, ...doc);

export const secretOr = <const W extends readonly string[]>(
  alternatives: W,
  expects: string,
  rule: TextRule,
  ...doc: RowText
) =>
  row<W[number] | Secret>(
    {
      anyOf: [{ enum: alternatives }, words(expects, rule)],
      'x-unit': 'secret',
      'x-shown': 'link',
      'x-expects': expects,
    },
    ...doc,
  );

const KEY = { pattern: '^[\\x21-\\x7e]{1,4096}$', expects: 'a key: visible ASCII characters, without spaces' };
export const keyFile = (...doc: RowText) => contents('secret', KEY, ...doc);

const HEADER = { pattern: '^[\\x20-\\x7e]+$', expects: 'one line of visible ASCII characters', bytesMax: 16 * 1024 };
export const headerFile = (...doc: RowText) => file('secret', HEADER, ...doc);

/** HTTP header line, in the syntax of RFC 9110, sections 5.1 and 5.5. */
export const HEADER_LINE = {
  pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}:[\\t ]*[\\x21-\\x7e](?:[\\x20-\\x7e]*[\\x21-\\x7e])?$",
  eachLine: true,
  expects: 'a header, such as Authorization: Bearer …',
} as const;

const HOST = ['an IP address or a host name', { pattern: '^[A-Za-z0-9._:-]{1,255}$' }] as const;
export const host = (...doc: RowText) => text(...HOST, ...doc);
export const port = (...doc: RowText) => integer(0, 65_535, ...doc);
export const httpUrl = (...doc: RowText) => text('an http or https URL', { format: 'http-url' }, ...doc);
export const cidr = text(
  'an IP address or a network such as 10.0.0.0/8',
  { format: 'cidr' },
  'An IP address or a network in CIDR notation.',
);

const lowerCase = (expects: string, rule: TextRule, ...doc: RowText) =>
  row<string>({ ...words(expects, rule), 'x-unit': 'lower-case' }, ...doc);
export const sha256 = (...doc: RowText) =>
  lowerCase('a SHA-256 digest of 64 hex digits', { pattern: '^[0-9a-fA-F]{64}$' }, ...doc);
/** Host name without a port, because docshelf selects the site by host name alone. */
const HOST_NAME = [
  'an IP address or a host name, without a port',
  { pattern: '^(?:[A-Za-z0-9._-]{1,255}|\\[?[0-9A-Fa-f.]*:[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*\\]?)$' },
] as const;
export const hosts = (description: string) => list(lowerCase(...HOST_NAME, 'A full host name.'), description);

const VERSION_RULE = 'a version: 1 to 128 letters, digits, ".", "_", "+" or "-", beginning with a letter or a digit';
export const version = (...doc: RowText) => text(VERSION_RULE, { pattern: VERSION_PATTERN.source }, ...doc);

export const DOMAIN_RULE = 'a domain: 1 to 63 lower-case letters, digits or "-", such as acme';
export const domain = (...doc: RowText) => text(DOMAIN_RULE, { pattern: DOMAIN_PATTERN.source }, ...doc);

const PEM_BYTES_MAX = 256 * 1024;
const CHAIN = { pattern: '-----BEGIN CERTIFICATE-----', expects: 'a certificate in PEM', bytesMax: PEM_BYTES_MAX };
const PRIVATE_KEY = { pattern: '-----BEGIN [A-Z ]*PRIVATE KEY-----', expects: 'a private key in PEM' };
export const certificate = (more: RowOptions = {}) => ({
  certFile: optional(
    contents(
      'file',
      CHAIN,
      'Certificate chain in PEM. The certificate of the server comes first. docshelf watches the file.',
      undefined,
      more,
    ),
  ),
  keyFile: optional(contents('secret', PRIVATE_KEY, 'Private key in PEM. docshelf watches the file.', undefined, more)),
});
