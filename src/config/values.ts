import { resolve } from 'node:path';
import { Secret } from '../domain/secret.ts';
import type { Values } from './schema/index.ts';
import { configSchema, listKeys, type SchemaNode, sectionOf } from './schema-node.ts';
import type { Settings } from './setting.ts';
import { parseDuration, parseSize } from './units.ts';

/** The loaded value of every key by its dotted name; null where a key has neither value nor default. */
export type KeyValues = ReadonlyMap<string, unknown>;

export function valueAt(values: KeyValues, key: string): unknown {
  return values.get(key) ?? null;
}

/**
 * Fills every default and converts every unit of valid settings.
 *
 * @param baseDir what relative paths begin at
 */
export function loadValues(settings: Settings, baseDir: string): KeyValues {
  return new Map(
    listKeys().map(({ path, schema }) => {
      const key = path.join('.');
      return [key, convert(settings.get(key)?.value, schema, baseDir) ?? null];
    }),
  );
}

function convert(given: unknown, schema: SchemaNode, baseDir: string): unknown {
  const written = given === undefined ? schema.default : given;
  if (written === undefined) return undefined;
  if (Array.isArray(written)) return written.map((item) => convert(item, schema.items ?? {}, baseDir));
  if (typeof written === 'object' && written !== null) return convertMap(written, schema, baseDir);
  switch (schema['x-unit']) {
    case 'bytes':
      return parseSize(written);
    case 'ms':
      return parseDuration(written) ?? written;
    case 'path':
      return resolve(baseDir, String(written));
    case 'word-or-path': {
      const word = String(written);
      const isWord = schema.anyOf?.some(
        ({ enum: words, pattern }) =>
          words?.includes(word) || (pattern !== undefined && new RegExp(pattern).test(word)),
      );
      return isWord ? written : resolve(baseDir, String(written));
    }
    case 'secret':
      return new Secret(String(written));
    default:
      return written;
  }
}

function convertMap(written: object, schema: SchemaNode, baseDir: string): unknown {
  const whole = schema.anyOf?.find((alternative) => alternative.type === 'object') ?? schema;
  const others = typeof whole.additionalProperties === 'object' ? whole.additionalProperties : {};
  const names = new Set([...Object.keys(whole.properties ?? {}), ...Object.keys(written)]);
  const converted: Record<string, unknown> = {};
  for (const name of names) {
    const given = Object.hasOwn(written, name) ? (written as Record<string, unknown>)[name] : undefined;
    const value = convert(given, whole.properties?.[name] ?? others, baseDir);
    if (value !== undefined) converted[name] = value;
  }
  return converted;
}

/** The values as the tree that the schema's types describe. */
export function treeOf(values: KeyValues): Values {
  const tree = branch(configSchema, []);
  // The one place where what the schema promises and what was checked against it meet the compiler.
  return tree as Values;

  function branch(schema: SchemaNode, path: readonly string[]): Record<string, unknown> {
    const map: Record<string, unknown> = {};
    for (const [name, child] of Object.entries(sectionOf(schema)?.properties ?? {})) {
      const childPath = [...path, name];
      const value = sectionOf(child) === null ? valueAt(values, childPath.join('.')) : branch(child, childPath);
      if (value !== null) map[name] = value;
    }
    return map;
  }
}
