import { resolve } from 'node:path';
import { Secret } from '../domain/secret.ts';
import { NamedFile, NamedFolder, type NamedPath } from './read-config-file.ts';
import type { Config } from './schema/index.ts';
import {
  childOf,
  configSchema,
  mapOf,
  nameOf,
  parseDuration,
  parseSize,
  type SchemaNode,
  sectionOf,
} from './schema-node.ts';
import { dottedOf, pointerOf, type Setting, type Settings } from './setting.ts';

interface Decoded<Part> {
  readonly config: Part;
  readonly named: readonly NamedPath[];
}

export function decode(settings: Settings, baseDir: string): Decoded<Config>;
export function decode(settings: Settings, baseDir: string, only: ReadonlySet<string>): Decoded<Partial<Config>>;
/** Fills in defaults and converts units. A key without a value or default is null. Relative paths start at `baseDir`. */
export function decode(settings: Settings, baseDir: string, only?: ReadonlySet<string>): Decoded<Partial<Config>> {
  const named: NamedPath[] = [];
  return { config: section(configSchema, []) as Partial<Config>, named };

  function section(schema: SchemaNode, path: readonly string[]): unknown {
    const all = Object.entries(sectionOf(schema)?.properties ?? {});
    const keys = only === undefined || path.length > 0 ? all : all.filter(([key]) => only.has(key));
    return Object.fromEntries(
      keys.map(([key, child]) => {
        const at = [...path, key];
        if (sectionOf(child) !== null) return [nameOf(key, child), section(child, at)];
        const setting = settings.get(at.join('.'));
        return [nameOf(key, child), value(setting?.value, child, at, setting)];
      }),
    );
  }

  function value(given: unknown, schema: SchemaNode, at: readonly string[], setting: Setting | undefined): unknown {
    const written = given === undefined ? schema.default : given;
    if (written === undefined || written === null) return null;
    if (Array.isArray(written))
      return written.map((item, index) => value(item, schema.items ?? {}, [...at, String(index)], setting));
    const shorthand = schema['x-shorthand'];
    if (shorthand !== undefined && typeof written === 'boolean')
      return map({ [shorthand]: written }, schema, at, setting);
    if (typeof written === 'object') return map(written as Record<string, unknown>, schema, at, setting);
    if (isWord(written, schema)) return written;
    return converted(written, schema, at, given === undefined ? undefined : setting);
  }

  function map(
    written: Readonly<Record<string, unknown>>,
    schema: SchemaNode,
    at: readonly string[],
    setting: Setting | undefined,
  ): unknown {
    const keys = new Set([...Object.keys(mapOf(schema).properties ?? {}), ...Object.keys(written)]);
    return Object.fromEntries(
      [...keys].map((key) => {
        const child = childOf(schema, key) ?? {};
        const given = Object.hasOwn(written, key) ? written[key] : undefined;
        return [nameOf(key, child), value(given, child, [...at, key], setting)];
      }),
    );
  }

  function converted(written: unknown, schema: SchemaNode, at: readonly string[], setting: Setting | undefined) {
    switch (schema['x-unit']) {
      case 'bytes':
        return parseSize(written);
      case 'ms':
        return parseDuration(written);
      case 'secret':
        return new Secret(String(written));
      case 'lower-case':
        return String(written).toLowerCase();
      case undefined:
        return written;
    }
    const path = resolve(baseDir, String(written));
    const target = schema['x-unit'] === 'file' ? new NamedFile(path) : null;
    if (schema['x-names'] !== undefined && setting !== undefined) {
      const pointer = pointerOf(at);
      const where = setting.places.get(pointer) ?? setting.where;
      named.push({ schema, path, pointer, key: dottedOf(pointer), where, target });
    }
    return target ?? (schema['x-unit'] === 'folder' ? new NamedFolder(path, setting === undefined) : path);
  }
}

function isWord(written: unknown, { anyOf = [] }: SchemaNode): boolean {
  for (const { enum: words, type, pattern } of anyOf) {
    if (words?.includes(written as string)) return true;
    if (type === undefined && pattern !== undefined && new RegExp(pattern).test(String(written))) return true;
  }
  return false;
}

export function deepFreeze<T extends object>(value: T): T {
  for (const child of Object.values(value)) {
    if (typeof child === 'object' && child !== null && !Object.isFrozen(child)) deepFreeze(child);
  }
  return Object.freeze(value);
}

export function valueAt(config: Config, path: readonly string[]): unknown {
  let [schema, value] = [configSchema, config as unknown];
  for (const key of path) {
    const child = sectionOf(schema)?.properties?.[key];
    if (child === undefined) throw new TypeError(`no key ${path.join('.')} in the schema`);
    value = (value as Record<string, unknown>)[nameOf(key, child)];
    schema = child;
  }
  return value;
}
