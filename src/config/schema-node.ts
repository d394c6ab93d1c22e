import { isIP } from 'node:net';
import { isBundleLink, isFileLink } from '../domain/bundle-link.ts';
import { parseDatabaseUrl } from '../domain/database-address.ts';
import document from './config.schema.json' with { type: 'json' };

export type TextRule = { readonly minLength?: number; readonly pattern?: string; readonly format?: string };

/** Rule for the trimmed content of a file. `expects` completes an error message after "it does not contain". */
export interface Contents extends TextRule {
  readonly expects?: string;
  /** True if each line must match the rule, except empty lines and lines that begin with `#`. */
  readonly eachLine?: boolean;
  readonly bytesMax?: number;
}

/** `docshelf doctor` checks the permissions of a `secret` file, and the expiry of `certificates`. */
export type FileKind = 'file' | 'secret' | 'certificates';

export interface SchemaNode {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: boolean | SchemaNode;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly enum?: readonly (string | boolean)[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly format?: string;
  readonly pattern?: string;
  readonly default?: unknown;
  readonly description?: string;
  readonly 'x-expects'?: string;
  /**
   * Conversion of a written value, such as `30s`, to the value in `Config`. A word that an `anyOf` lists, such as `off`, stays as
   * written.
   */
  readonly 'x-unit'?: 'bytes' | 'ms' | 'path' | 'folder' | 'file' | 'secret' | 'lower-case';
  readonly 'x-suffix'?: string;
  readonly 'x-bounds'?: { readonly min: string; readonly max: string };
  /** Key, such as `enabled`, that gets the value if the config has `true` or `false` instead of the section. */
  readonly 'x-shorthand'?: string;
  readonly 'x-names'?: 'folder' | FileKind;
  readonly 'x-holds'?: Contents;
  readonly 'x-shown'?: 'link';
  /** True if a change needs a restart. With the value `presence`, only setting or removing the key needs a restart. */
  readonly 'x-restart'?: true | 'presence';
}

export const configSchema: SchemaNode = document as unknown as SchemaNode;

export function sectionOf(schema: SchemaNode | undefined): SchemaNode | null {
  if (schema?.properties !== undefined) return schema;
  if (schema?.['x-shorthand'] === undefined) return null;
  return schema.anyOf?.find((alternative) => alternative.properties !== undefined) ?? null;
}

export const mapOf = (schema: SchemaNode): SchemaNode => schema.anyOf?.find(({ type }) => type === 'object') ?? schema;

export function childOf(schema: SchemaNode | undefined, key: string): SchemaNode | undefined {
  const { properties, additionalProperties } = schema === undefined ? {} : mapOf(schema);
  if (properties !== undefined && Object.hasOwn(properties, key)) return properties[key];
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

export const nameOf = (key: string, schema: SchemaNode): string => `${key}${schema['x-suffix'] ?? ''}`;

export const schemaAt = (path: readonly string[]): SchemaNode | undefined =>
  path.reduce<SchemaNode | undefined>(childOf, configSchema);

export function typesOf(schema: SchemaNode | undefined): ReadonlySet<string> {
  const types = new Set<string>(typeof schema?.type === 'string' ? [schema.type] : (schema?.type ?? []));
  for (const word of schema?.enum ?? []) types.add(typeof word);
  for (const alternative of schema?.anyOf ?? []) for (const type of typesOf(alternative)) types.add(type);
  return types;
}

export type KeySpec = { readonly path: readonly string[]; readonly schema: SchemaNode };

function listNodes(schema: SchemaNode, path: readonly string[]): KeySpec[] {
  const children = Object.entries(sectionOf(schema)?.properties ?? {});
  return [{ path, schema }, ...children.flatMap(([key, child]) => listNodes(child, [...path, key]))];
}

const NODES = listNodes(configSchema, []).slice(1);
export const CONFIG_KEYS = NODES.filter(({ schema }) => sectionOf(schema) === null);
export const RESTART_KEYS = NODES.filter(({ schema }) => schema['x-restart']).filter(
  ({ path }, _, marked) =>
    !marked.some((other) => other.path.length < path.length && other.path.every((key, at) => key === path[at])),
);
export const CONFIG_SECTIONS = NODES.filter(({ schema }) => sectionOf(schema) !== null);

export function environmentName(path: readonly string[]): string {
  const segments = path.map((key) => key.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toUpperCase());
  return ['DOCSHELF', ...segments].join('__');
}

export const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  'http-url': (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
  link: isFileLink,
  'bundle-link': isBundleLink,
  'database-url': (text) => parseDatabaseUrl(text) !== null,
  cidr: isNetwork,
  'inner-path': (text) => !/^\/|(?:^|\/)\.\.(?:\/|$)|\0/.test(text),
  'private-place': (text) => isNetwork(text) || /^(?:[A-Za-z0-9._-]{1,255}|\[[0-9A-Fa-f:.]+\]):\d{1,5}$/.test(text),
};

export function fits(text: string, { pattern, format }: TextRule): boolean {
  if (pattern !== undefined && !new RegExp(pattern).test(text)) return false;
  return format === undefined || FORMATS[format]?.(text) === true;
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

const SIZE = { '': 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 } as const;
const DURATION_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

function parse(written: unknown, factors: Readonly<Record<string, number>>): number | null {
  if (typeof written !== 'string' && typeof written !== 'number') return null;
  const match = /^(\d+)([A-Za-z]*)$/.exec(String(written));
  const factor = match === null ? undefined : factors[match[2] ?? ''];
  return match === null || factor === undefined ? null : Number(match[1]) * factor;
}

export const parseSize = (written: unknown): number | null => parse(written, SIZE);

/** Milliseconds of a text such as `30s`. Null for text that is not a duration. The finest unit is a second. */
export const parseDuration = (written: unknown): number | null => parse(written, DURATION_MS);
