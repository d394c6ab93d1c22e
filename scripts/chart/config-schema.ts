import { configSchema, type SchemaNode } from '../../src/config/schema-node.ts';

/** JSON Schema as plain data. */
export type Schema = { [keyword: string]: unknown };

/** Keys that the chart sets: ports and folders of its pods, and keys with a separate value outside `config`. */
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

/** helm's regular expressions (RE2) allow at most 1,000 repetitions. docshelf itself checks the length. */
const LONG_REPEAT = /\{1,\d{4,}\}/g;

/** Part of the config's schema for helm. Omits docshelf's own keywords, and keys of the chart. */
function cut(schema: SchemaNode, key: string): Schema {
  const kept: Schema = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword.startsWith('x-') || keyword === 'format' || keyword === '$schema') continue;
    if (keyword === 'properties') {
      kept.properties = Object.fromEntries(
        Object.entries(value as Record<string, SchemaNode>)
          .map(([name, child]): [string, SchemaNode, string] => [name, child, key === '' ? name : `${key}.${name}`])
          .filter(([, , path]) => !CHART_OWNED.has(path))
          .map(([name, child, path]) => [name, cut(child, path)]),
      );
    } else if (keyword === 'anyOf') {
      kept.anyOf = (value as SchemaNode[]).map((alternative) => cut(alternative, key));
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

/** Schema of `config` in the chart's values, which has the keys of docshelf's config. */
export function configSchemaOfChart(): Schema {
  return cut(configSchema, '');
}

/** Schema of a config section that the chart has at the top level of its values. */
export function sectionSchemaOfChart(name: 'deployment' | 'staticExport'): { properties: Record<string, Schema> } {
  const properties = configSchema.properties?.[name]?.properties ?? {};
  return {
    properties: Object.fromEntries(
      Object.entries(properties).map(([key, child]) => [key, cut(child, `${name}.${key}`)]),
    ),
  };
}

/** Schemas of the keys of an entry of `sites`, with a separate schema for its domain. */
export function siteSchemaOfChart(): { domain: Schema; properties: Record<string, Schema> } {
  const { domain = {}, ...properties } = cut(siteSchema, 'sites[]').properties as Record<string, Schema>;
  return { domain, properties };
}

const siteSchema: SchemaNode = configSchema.properties?.sites?.items ?? {};

/** Keys of the schema that contain no other keys, with their dotted names. */
function* leaves(schema: SchemaNode, key: string): Generator<[string, SchemaNode]> {
  const sections = [schema, ...(schema.anyOf ?? [])].filter(({ properties }) => properties !== undefined);
  if (!sections.includes(schema)) yield [key, schema];
  for (const { properties = {} } of sections) {
    for (const [name, child] of Object.entries(properties)) {
      const path = key === '' ? name : `${key}.${name}`;
      yield* leaves(child, path);
    }
  }
}

/** Keys that contain a credential, which belongs in a Secret. */
export function secretKeys(): string[] {
  return [...leaves(configSchema, '')].filter(([, schema]) => schema['x-unit'] === 'secret').map(([key]) => key);
}

/** Keys that name a file, which can be in a Secret or a ConfigMap. Omits the link, for which the chart has a separate value. */
export function fileKeys(of: 'daemon' | 'site' = 'daemon'): string[] {
  return [...leaves(of === 'daemon' ? configSchema : siteSchema, '')]
    .filter(
      ([key, schema]) => FILE_UNITS.has(schema['x-unit']) && /file$/i.test(key) && key !== 'staticExport.bundleUrlFile',
    )
    .map(([key]) => key);
}
