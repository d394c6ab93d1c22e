import { isIP } from 'node:net';
import { isBundleLink, isFileLink } from '../domain/bundle-link.ts';
import { parseDatabaseUrl } from '../domain/database-address.ts';
import document from './config.schema.json' with { type: 'json' };

/** How the written value becomes the one in `Config`. A word that one of several alternatives names stays as it is. */
export type Unit = 'bytes' | 'ms' | 'path' | 'folder' | 'file' | 'secret' | 'lower-case';

export interface TextRule {
  /** 1, where nothing else is said. */
  readonly minLength?: number;
  readonly pattern?: string;
  readonly format?: string;
}

/** The content that a file must have, white space around it left out; `expects` follows "it does not hold". */
export interface Contents extends TextRule {
  readonly expects?: string;
  /** The rule is for each line; empty ones, and those that begin with `#`, aside. */
  readonly eachLine?: boolean;
  readonly bytesMax?: number;
}

/** The doctor looks at who may read a secret, and when certificates end. */
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
  /** The words that follow "must be" in a fault, where the rest of the schema does not give them. */
  readonly 'x-expects'?: string;
  readonly 'x-unit'?: Unit;
  /** The end of the key's name in `Config`: `Ms`, `Max`. */
  readonly 'x-suffix'?: string;
  readonly 'x-bounds'?: { readonly min: string; readonly max: string };
  /** The key that a bare `true` or `false` in place of the section stands for. */
  readonly 'x-shorthand'?: string;
  /** The thing that the path leads to. It must be there, the default of a folder aside. */
  readonly 'x-names'?: 'folder' | FileKind;
  readonly 'x-holds'?: Contents;
  /** A secret of which a link's host and path are printed. */
  readonly 'x-shown'?: 'link';
  /** `presence`: another value is taken live, having one or none is not. */
  readonly 'x-restart'?: true | 'presence';
  readonly 'x-not-built'?: true;
}

export const configSchema: SchemaNode = document as unknown as SchemaNode;

/** The fixed keys of a section, or null where the schema is a value (lists and maps are values: replaced whole). */
export function sectionOf(schema: SchemaNode | undefined): SchemaNode | null {
  if (schema?.properties !== undefined) return schema;
  if (schema?.['x-shorthand'] === undefined) return null;
  return schema.anyOf?.find((alternative) => alternative.properties !== undefined) ?? null;
}

/** The alternative that is a map, or the schema itself. */
export function mapOf(schema: SchemaNode): SchemaNode {
  return schema.anyOf?.find(({ type }) => type === 'object') ?? schema;
}

export function childOf(schema: SchemaNode | undefined, key: string): SchemaNode | undefined {
  const { properties, additionalProperties } = schema === undefined ? {} : mapOf(schema);
  if (properties !== undefined && Object.hasOwn(properties, key)) return properties[key];
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

export function nameOf(key: string, schema: SchemaNode): string {
  return `${key}${schema['x-suffix'] ?? ''}`;
}

export function schemaAt(path: readonly string[]): SchemaNode | undefined {
  return path.reduce<SchemaNode | undefined>(childOf, configSchema);
}

export function typesOf(schema: SchemaNode | undefined): ReadonlySet<string> {
  const types = new Set<string>(typeof schema?.type === 'string' ? [schema.type] : (schema?.type ?? []));
  for (const word of schema?.enum ?? []) types.add(typeof word);
  for (const alternative of schema?.anyOf ?? []) for (const type of typesOf(alternative)) types.add(type);
  return types;
}

export interface KeySpec {
  readonly path: readonly string[];
  readonly schema: SchemaNode;
}

/** Every key and section, each section before its keys, in the schema's order. */
function listNodes(schema: SchemaNode, path: readonly string[]): KeySpec[] {
  const children = Object.entries(sectionOf(schema)?.properties ?? {});
  return [{ path, schema }, ...children.flatMap(([key, child]) => listNodes(child, [...path, key]))];
}

const NODES = listNodes(configSchema, []).slice(1);
const KEYS = NODES.filter(({ schema }) => sectionOf(schema) === null);
const RESTART_KEYS = NODES.filter(({ schema }) => schema['x-restart']).filter(
  ({ path }, _, marked) =>
    !marked.some((other) => other.path.length < path.length && other.path.every((key, at) => key === path[at])),
);
const SECTIONS = NODES.filter(({ schema }) => sectionOf(schema) !== null);

export function listKeys(): readonly KeySpec[] {
  return KEYS;
}

export function listSections(): readonly KeySpec[] {
  return SECTIONS;
}

/** Every key and section that a running daemon cannot change, those inside such a section left out. */
export function listRestartKeys(): readonly KeySpec[] {
  return RESTART_KEYS;
}

/** `static_export` for `staticExport`, upper-case: the way a key is written in an environment variable. */
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

export function parseSize(written: unknown): number | null {
  return parse(written, SIZE);
}

/** Milliseconds of `30s`, or null where the text is no duration. Seconds are the finest unit. */
export function parseDuration(written: unknown): number | null {
  return parse(written, DURATION_MS);
}
