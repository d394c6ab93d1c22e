import { configSchema, type SchemaNode } from '../../src/config/schema-node.ts';

/** A JSON Schema as plain data. */
export type Schema = { [keyword: string]: unknown };

const isBuilt = (schema: SchemaNode): boolean => schema['x-not-built'] !== true;

/** Keys that the chart sets: ports and folders that its pods rely on, and those with a value of their own outside `config`. */
const CHART_OWNED: ReadonlySet<string> = new Set([
  'deployment',
  'staticExport',
  'sites',
  'storage',
  'server.host',
  'server.port',
  'admin.host',
  'admin.port',
  'api.host',
  'api.port',
  'exportApi.enabled',
  'exportApi.role',
]);

const FILE_UNITS: ReadonlySet<unknown> = new Set(['path', 'file']);

/** The regular expressions of helm (RE2) count no further than 1,000; docshelf itself checks the length. */
const LONG_REPEAT = /\{1,\d{4,}\}/g;

/**
 * A part of the config's schema as helm checks it: without the keywords that only docshelf understands, the keys that are not
 * built yet, and those that are the chart's.
 */
function cut(schema: SchemaNode, key: string): Schema {
  const kept: Schema = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword.startsWith('x-') || keyword === 'format' || keyword === '$schema') continue;
    if (keyword === 'properties') {
      kept.properties = Object.fromEntries(
        Object.entries(value as Record<string, SchemaNode>)
          .map(([name, child]): [string, SchemaNode, string] => [name, child, key === '' ? name : `${key}.${name}`])
          .filter(([, child, path]) => !CHART_OWNED.has(path) && isBuilt(child))
          .map(([name, child, path]) => [name, cut(child, path)]),
      );
    } else if (keyword === 'anyOf') {
      kept.anyOf = (value as SchemaNode[]).filter(isBuilt).map((alternative) => cut(alternative, key));
    } else if (keyword === 'items' || (keyword === 'additionalProperties' && typeof value === 'object')) {
      kept[keyword] = cut(value as SchemaNode, `${key}[]`);
    } else if (keyword === 'pattern') {
      kept.pattern = (value as string).replace(LONG_REPEAT, '+');
    } else if (value !== undefined) {
      kept[keyword] = keyword === 'propertyNames' ? { pattern: (value as SchemaNode).pattern } : value;
    }
  }
  return kept;
}

/** docshelf's config as the chart takes it under `config`. */
export function configSchemaOfChart(): Schema {
  return cut(configSchema, '');
}

/** One section of it, whole, as the chart takes it at its top. */
export function sectionSchemaOfChart(name: 'deployment' | 'staticExport'): { properties: Record<string, Schema> } {
  const properties = configSchema.properties?.[name]?.properties ?? {};
  return {
    properties: Object.fromEntries(
      Object.entries(properties)
        .filter(([, child]) => isBuilt(child))
        .map(([key, child]) => [key, cut(child, `${name}.${key}`)]),
    ),
  };
}

/** The keys of an entry of `sites`, without the one that names it. */
export function siteSchemaOfChart(): { domain: Schema; properties: Record<string, Schema> } {
  const { domain = {}, ...properties } = cut(siteSchema, 'sites[]').properties as Record<string, Schema>;
  return { domain, properties };
}

const siteSchema: SchemaNode = configSchema.properties?.sites?.items ?? {};

/** Every leaf of the schema that is built, by its dotted key. */
function* leaves(schema: SchemaNode, key: string): Generator<[string, SchemaNode]> {
  const sections = [schema, ...(schema.anyOf ?? [])].filter(({ properties }) => properties !== undefined);
  if (!sections.includes(schema)) yield [key, schema];
  for (const { properties = {} } of sections) {
    for (const [name, child] of Object.entries(properties)) {
      const path = key === '' ? name : `${key}.${name}`;
      if (isBuilt(child)) yield* leaves(child, path);
    }
  }
}

/** Keys that hold a credential: it belongs into a Secret. */
export function secretKeys(): string[] {
  return [...leaves(configSchema, '')].filter(([, schema]) => schema['x-unit'] === 'secret').map(([key]) => key);
}

/** Keys that name a file, which may come out of a Secret or a ConfigMap. The link's has a value of its own. */
export function fileKeys(of: 'daemon' | 'site' = 'daemon'): string[] {
  return [...leaves(of === 'daemon' ? configSchema : siteSchema, '')]
    .filter(
      ([key, schema]) => FILE_UNITS.has(schema['x-unit']) && /file$/i.test(key) && key !== 'staticExport.bundleUrlFile',
    )
    .map(([key]) => key);
}
