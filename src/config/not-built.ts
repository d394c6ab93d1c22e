import type { ConfigFault } from './faults.ts';
import { childOf, configSchema, type SchemaNode, typesOf } from './schema-node.ts';
import { dottedOf, pointerOf, type Setting, type Settings } from './setting.ts';
import { parseDuration, parseSize } from './units.ts';

/** Settings of what is not built yet: accepted and ignored would be a lie. */
export function findNotBuilt(settings: Settings): ConfigFault[] {
  return settings.all().flatMap((setting) => {
    let [schema, isNotBuilt]: [SchemaNode | undefined, boolean] = [configSchema, false];
    for (const key of setting.path) {
      schema = childOf(schema, key);
      isNotBuilt ||= schema?.['x-not-built'] === true;
    }
    if (schema === undefined) return [];
    const asked = isNotBuilt ? { ...schema, 'x-not-built': true as const } : schema;
    return pathsNotBuilt(setting.value, asked, setting.path).map((path) => faultAt(path, setting));
  });
}

function faultAt(path: readonly string[], { places, where }: Setting): ConfigFault {
  const pointer = pointerOf(path);
  const key = dottedOf(pointer);
  const message = `${key} is not built yet in this version of docshelf; remove it`;
  return { code: 'config_not_built', message, key, where: places.get(pointer) ?? where };
}

/** A default asks for nothing, however it is written. */
function pathsNotBuilt(value: unknown, schema: SchemaNode, path: readonly string[]): string[][] {
  const alternative = schema.anyOf?.find((each) => each['x-not-built'] && takes(each, value));
  if (schema['x-not-built'] || alternative !== undefined) {
    return textOf(value, schema) === textOf(schema.default, schema) ? [] : [[...path]];
  }
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => pathsNotBuilt(item, schema.items ?? {}, [...path, String(index)]));
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) =>
    pathsNotBuilt(child, childOf(schema, key) ?? {}, [...path, key]),
  );
}

function textOf(value: unknown, { 'x-unit': unit }: SchemaNode): string | undefined {
  const bare = unit === 'ms' ? parseDuration(value) : unit === 'bytes' ? parseSize(value) : null;
  return JSON.stringify(bare ?? value);
}

function takes(schema: SchemaNode, value: unknown): boolean {
  return schema.enum?.includes(value as string) ?? typesOf(schema).has(typeof value);
}
