import { linkWithoutSecrets, Secret } from '../domain/secret.ts';
import { valueAt } from './decode.ts';
import type { LoadedConfig } from './loaded-config.ts';
import { NamedFile, NamedFolder } from './named-files.ts';
import { childOf, listKeys, mapOf, nameOf, type SchemaNode } from './schema-node.ts';

/** Sizes are bytes, durations milliseconds; secrets are `[redacted]`. */
export function printConfig({ config, file, origins }: LoadedConfig) {
  const printed = listKeys().map(({ path, schema }) => {
    const key = path.join('.');
    return { key, value: publicValue(valueAt(config, path), schema), origin: origins.get(key) ?? 'default' };
  });
  return {
    file,
    rows: printed.map(({ key, value, origin }) => ({ key, value: asText(value), origin })),
    settings: Object.fromEntries(printed.map(({ key, value, origin }) => [key, { value, origin }])),
  };
}

function publicValue(value: unknown, schema: SchemaNode): unknown {
  // Of a proxy only the user part is secret.
  if (value instanceof Secret) return schema['x-shown'] === 'link' ? linkWithoutSecrets(value.reveal()) : `${value}`;
  if (Array.isArray(value)) return value.map((item) => publicValue(item, schema.items ?? {}));
  if (value instanceof NamedFile || value instanceof NamedFolder) return value.toJSON();
  if (typeof value !== 'object' || value === null) return value;
  const { properties } = mapOf(schema);
  const keys = properties === undefined ? Object.keys(value) : Object.keys(properties);
  const shown = keys.flatMap((key) => {
    const child = childOf(schema, key) ?? {};
    const inner = (value as Record<string, unknown>)[nameOf(key, child)];
    return inner === null ? [] : [[key, publicValue(inner, child)]];
  });
  return Object.fromEntries(shown);
}

function asText(value: unknown): string {
  if (value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
