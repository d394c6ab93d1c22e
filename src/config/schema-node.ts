import document from './config.schema.json' with { type: 'json' };

/**
 * How the written value becomes the loaded one: bytes and milliseconds are numbers, a path absolute, a secret a Secret. A
 * word or path is a path unless it is one of the words of an alternative, or of their form.
 */
export type Unit = 'bytes' | 'ms' | 'path' | 'secret' | 'word-or-path';

/** The part of JSON Schema that `schema/` writes, as plain data. */
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
  /** What a person is told to write, where the rest of the schema does not say it. */
  readonly 'x-expects'?: string;
  readonly 'x-unit'?: Unit;
  /** Bounds of a size or duration, written as one. */
  readonly 'x-bounds'?: { readonly min: string; readonly max: string };
  /** The key that a bare `true` or `false` in place of the section stands for. */
  readonly 'x-shorthand'?: string;
}

/** The JSON Schema of the config: what docshelf checks with is what an editor checks with. */
export const configSchema: SchemaNode = document as unknown as SchemaNode;

/** The fixed keys of a section, or null where the schema is a value (lists and maps are values: replaced whole). */
export function sectionOf(schema: SchemaNode | undefined): SchemaNode | null {
  if (schema?.properties !== undefined) return schema;
  if (schema?.['x-shorthand'] === undefined) return null;
  return schema.anyOf?.find((alternative) => alternative.properties !== undefined) ?? null;
}

/** The schema of one key of a section or map; undefined for a key that the schema does not know. */
export function childOf(schema: SchemaNode | undefined, key: string): SchemaNode | undefined {
  const whole = schema?.anyOf?.find((alternative) => alternative.type === 'object') ?? schema;
  if (whole?.properties !== undefined && Object.hasOwn(whole.properties, key)) return whole.properties[key];
  return typeof whole?.additionalProperties === 'object' ? whole.additionalProperties : undefined;
}

/** The schema of a key or section of the config; undefined for one that it does not know. */
export function schemaAt(path: readonly string[]): SchemaNode | undefined {
  return path.reduce<SchemaNode | undefined>(childOf, configSchema);
}

/** JSON types that the schema takes. */
export function typesOf(schema: SchemaNode | undefined): ReadonlySet<string> {
  const types = new Set<string>(typeof schema?.type === 'string' ? [schema.type] : (schema?.type ?? []));
  for (const word of schema?.enum ?? []) types.add(typeof word);
  for (const alternative of schema?.anyOf ?? []) for (const type of typesOf(alternative)) types.add(type);
  return types;
}

/** One setting of the config. */
export interface KeySpec {
  readonly path: readonly string[];
  readonly schema: SchemaNode;
}

/** Every key that holds a value, in the schema's order. */
export function listKeys(schema: SchemaNode = configSchema, path: readonly string[] = []): KeySpec[] {
  const section = sectionOf(schema);
  if (section?.properties === undefined) return [{ path, schema }];
  return Object.entries(section.properties).flatMap(([key, child]) => listKeys(child, [...path, key]));
}

/** Every section, the outermost first; the top itself left out. */
export function listSections(schema: SchemaNode = configSchema, path: readonly string[] = []): KeySpec[] {
  const section = sectionOf(schema);
  if (section?.properties === undefined) return [];
  const own = path.length === 0 ? [] : [{ path, schema }];
  return [...own, ...Object.entries(section.properties).flatMap(([key, child]) => listSections(child, [...path, key]))];
}

/** `static_export` for `staticExport`, upper-case: the way a key is written in an environment variable. */
export function environmentName(path: readonly string[]): string {
  const segments = path.map((key) => key.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toUpperCase());
  return ['DOCSHELF', ...segments].join('__');
}
