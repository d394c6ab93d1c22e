import { type Static, type TProperties, type TSchema, type TUnsafe, Type } from 'typebox';
import { DOMAIN_PATTERN } from '../../domain/deployment.ts';
import type { Secret } from '../../domain/secret.ts';
import { VERSION_PATTERN } from '../../domain/version.ts';
import type { NamedFile, NamedFolder } from '../named-files.ts';
import type { Contents, FileKind, SchemaNode, TextRule } from '../schema-node.ts';

/**
 * A row's JSON Schema describes what a person writes, its `Static` type the value in `Config`; `decode.ts` goes
 * between. Only `scripts/generate.ts` and tests run this: TypeBox costs 125 ms of CPU at every start (measured).
 */

interface More {
  readonly examples?: unknown[];
  /** A running daemon cannot change it: asked for by a reload, it waits for a restart; `presence`: only that it is set. */
  readonly restart?: SchemaNode['x-restart'];
  /** Anything but the default is refused as not built yet. */
  readonly notBuilt?: true;
}

type Suffixed<T, S extends string> = TUnsafe<T> & { readonly 'x-suffix': S };
type NameOf<K extends string, S> = S extends { readonly 'x-suffix': infer X extends string } ? `${K}${X}` : K;
type Decoded<P extends TProperties> = { readonly [K in keyof P & string as NameOf<K, P[K]>]: Static<P[K]> };

type Told = readonly [description: string, fallback?: unknown, more?: More];

const row = <T>(schema: object, ...[description, fallback, { restart, notBuilt, ...more } = {}]: Told): TUnsafe<T> =>
  Type.Unsafe<T>({
    ...schema,
    description,
    ...(fallback !== undefined && { default: fallback }),
    ...(restart && { 'x-restart': restart }),
    ...(notBuilt && { 'x-not-built': true }),
    ...more,
  });

function requiredOf(properties: TProperties): string[] {
  return Object.entries(properties)
    .filter(([, schema]) => !Type.IsOptional(schema) && !('default' in schema))
    .map(([key]) => key);
}

/** A fixed set of keys; another key is a fault. */
export function record<P extends TProperties>(properties: P, ...told: Told): TUnsafe<Decoded<P>> {
  const required = requiredOf(properties);
  const keys = { type: 'object', properties, additionalProperties: false };
  return row(required.length === 0 ? keys : { ...keys, required }, ...told);
}

/** A `record` that may be left out, every one of its keys then being at its default. */
export function section<P extends TProperties>(properties: P, description: string, more: More = {}) {
  return record(properties, description, {}, more);
}

/** A section for which `true` and `false` stand for its key `enabled`. */
export function switchable<P extends TProperties>(properties: P, description: string): TUnsafe<Decoded<P>> {
  const whole = record(properties, description);
  return row({ anyOf: [{ type: 'boolean' }, whole], 'x-shorthand': 'enabled' }, description, {});
}

/** A key without a default: null in `Config` where nobody sets it. */
export function optional<S extends TSchema>(schema: S) {
  // Only the type of the value changes; what the name ends with stays.
  return Type.Optional(schema as unknown as TUnsafe<Static<S> | null> & Pick<S, Extract<'x-suffix', keyof S>>);
}

/** A bound: its name in `Config` ends with `Max`. */
export const max = <S extends TSchema>(schema: S) =>
  ({ ...schema, 'x-suffix': 'Max' }) as unknown as Suffixed<Static<S>, 'Max'>;

export const boolean = (...told: Told) => row<boolean>({ type: 'boolean' }, ...told);
export const integer = (minimum: number, maximum: number, ...told: Told) =>
  row<number>({ type: 'integer', minimum, maximum }, ...told);
export const list = <T extends TSchema>(items: T, description: string, more: More = {}) =>
  row<readonly Static<T>[]>({ type: 'array', items }, description, [], more);
export const map = <T extends TSchema>(names: object, items: T, description: string, more: More = {}) =>
  row<Readonly<Record<string, Static<T>>>>(
    { type: 'object', propertyNames: names, additionalProperties: items },
    description,
    {},
    more,
  );
export const oneOf = <const W extends readonly (string | boolean)[]>(words: W, ...told: Told) =>
  row<W[number]>({ enum: words }, ...told);

const words = (expects: string, rule: TextRule = {}) =>
  ({ type: 'string', minLength: 1, maxLength: 4096, ...rule, 'x-expects': expects }) as const;
export const text = (expects: string, rule: TextRule, ...told: Told) => row<string>(words(expects, rule), ...told);

/** Bytes; written as an integer or with KiB, MiB, GiB. */
export const size = (min: string, max: string, ...told: Told) =>
  row<number>(
    {
      type: ['integer', 'string'],
      minimum: 0,
      pattern: '^\\d{1,12}(?:KiB|MiB|GiB)?$',
      'x-unit': 'bytes',
      'x-bounds': { min, max },
      'x-expects': 'a size such as 128MiB (KiB, MiB, GiB, or a plain number of bytes)',
    },
    ...told,
  );

const DURATION = { type: 'string', pattern: '^\\d{1,9}[smhd]$' };

function timed<T>(schema: object, min: string, max: string, ...told: Told) {
  const unit = { 'x-unit': 'ms', 'x-suffix': 'Ms', 'x-bounds': { min, max } };
  return row({ ...schema, ...unit }, ...told) as unknown as Suffixed<T, 'Ms'>;
}

/** Milliseconds; written with s, m, h or d. A bare number is refused: nobody can see what it means. */
export const duration = (min: string, max: string, ...told: Told) =>
  timed<number>({ ...DURATION, 'x-expects': 'a duration such as 30s (s, m, h or d)' }, min, max, ...told);

export const durationOr = <T>(
  others: readonly object[],
  expects: string,
  [min, max]: readonly [string, string],
  ...told: Told
) => timed<number | T>({ anyOf: [...others, DURATION], 'x-expects': expects }, min, max, ...told);

/** An absolute path; a relative one is written from the config file's folder. */
const PATH = { ...words('a path'), 'x-unit': 'path' };
export const path = (...told: Told) => row<string>(PATH, ...told);

/** A folder of archives: one that somebody names must be there. */
export const folder = (...told: Told) =>
  row<NamedFolder>({ ...PATH, 'x-unit': 'folder', 'x-names': 'folder' }, ...told);

export const file = (kind: FileKind, holds: Contents | null, ...told: Told) =>
  row<string>({ ...PATH, 'x-names': kind, ...(holds && { 'x-holds': holds }) }, ...told);

/** A file that is read with the config, and watched. */
export const contents = (kind: FileKind, holds: Contents, ...told: Told) =>
  row<NamedFile>({ ...PATH, 'x-unit': 'file', 'x-names': kind, 'x-holds': holds }, ...told);

export const secret = (expects: string, rule: TextRule, ...told: Told) =>
  row<Secret>({ ...words(expects, rule), maxLength: 16_384, 'x-unit': 'secret' }, ...told);

export const secretOr = <const W extends readonly string[]>(
  alternatives: W,
  expects: string,
  rule: TextRule,
  ...told: Told
) =>
  row<W[number] | Secret>(
    {
      anyOf: [{ enum: alternatives }, words(expects, rule)],
      'x-unit': 'secret',
      'x-shown': 'link',
      'x-expects': expects,
    },
    ...told,
  );

const KEY = { pattern: '^[\\x21-\\x7e]{1,4096}$', expects: 'a key: visible ASCII characters, without spaces' };
export const keyFile = (...told: Told) => contents('secret', KEY, ...told);

/** One line of a header, of the size that most servers take. */
const HEADER = { pattern: '^[\\x20-\\x7e]+$', expects: 'one line of visible ASCII characters', bytesMax: 16 * 1024 };
export const headerFile = (...told: Told) => file('secret', HEADER, ...told);

const HOST = ['an IP address or a host name', { pattern: '^[A-Za-z0-9._:-]{1,255}$' }] as const;
export const host = (...told: Told) => text(...HOST, ...told);
export const port = (...told: Told) => integer(0, 65_535, ...told);
export const httpUrl = (...told: Told) => text('an http or https URL', { format: 'http-url' }, ...told);
export const cidr = text(
  'an IP address or a network such as 10.0.0.0/8',
  { format: 'cidr' },
  'An IP address or a network in CIDR notation.',
);

/** Compared without case: lower-case from here on. */
const lowerCase = (expects: string, rule: TextRule, ...told: Told) =>
  row<string>({ ...words(expects, rule), 'x-unit': 'lower-case' }, ...told);
export const sha256 = (...told: Told) =>
  lowerCase('a SHA-256 digest of 64 hex digits', { pattern: '^[0-9a-fA-F]{64}$' }, ...told);
/** Without a port: a site answers its host on whatever port the listener is reached. */
const HOST_NAME = [
  'an IP address or a host name, without a port',
  { pattern: '^(?:[A-Za-z0-9._-]{1,255}|\\[?[0-9A-Fa-f.]*:[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*\\]?)$' },
] as const;
export const hosts = (description: string) => list(lowerCase(...HOST_NAME, 'A full host name.'), description);

const VERSION_RULE = 'a version: 1 to 128 letters, digits, ".", "_", "+" or "-", beginning with a letter or a digit';
export const version = (...told: Told) => text(VERSION_RULE, { pattern: VERSION_PATTERN.source }, ...told);

export const DOMAIN_RULE = 'a domain: 1 to 63 lower-case letters, digits or "-", such as acme';
export const domain = (...told: Told) => text(DOMAIN_RULE, { pattern: DOMAIN_PATTERN.source }, ...told);

const PEM_BYTES_MAX = 256 * 1024;
const CHAIN = { pattern: '-----BEGIN CERTIFICATE-----', expects: 'a certificate in PEM', bytesMax: PEM_BYTES_MAX };
const PRIVATE_KEY = { pattern: '-----BEGIN [A-Z ]*PRIVATE KEY-----', expects: 'a private key in PEM' };
export const certificate = (more: More = {}) => ({
  certFile: optional(
    contents('file', CHAIN, "Certificate chain in PEM, the server's own first; watched for changes.", undefined, more),
  ),
  keyFile: optional(contents('secret', PRIVATE_KEY, 'Private key in PEM; watched for changes.', undefined, more)),
});
