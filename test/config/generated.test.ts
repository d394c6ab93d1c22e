import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { configReference } from '../../scripts/config-reference.ts';
import { configSchema } from '../../src/config/index.ts';
import { schemaSource } from '../../src/config/schema/index.ts';
import { CONFIG_KEYS, environmentName, type SchemaNode } from '../../src/config/schema-node.ts';
import { load } from './folder.ts';

const root = join(import.meta.dirname, '../..');
const read = (file: string) => readFile(join(root, file), 'utf8');

/** Ajv without docshelf's own formats, like an editor, which accepts all values of an unknown format. */
const strictAjv = () =>
  new Ajv({ allErrors: true, validateFormats: false, allowUnionTypes: true, strictTypes: false }).addVocabulary([
    'x-unit',
    'x-expects',
    'x-bounds',
    'x-shorthand',
    'x-suffix',
    'x-names',
    'x-holds',
    'x-shown',
    'x-restart',
  ]);

describe('the generated files', () => {
  it('include the current config.schema.json, for editors and for the program', async () => {
    const generated = `${JSON.stringify(schemaSource, null, 2)}\n`;
    expect(await read('config.schema.json')).toBe(generated);
    expect(await read('src/config/config.schema.json')).toBe(generated);
    expect(configSchema).toEqual(JSON.parse(generated));
  });

  it('include the current docs/config.md', async () => {
    const reference = configReference();
    expect(await read('docs/config.md')).toBe(reference);
    for (const { path } of CONFIG_KEYS) expect(reference).toContain(`\`${environmentName(path)}\``);
  });
});

describe('the JSON schema of the config', () => {
  it('is valid, also in the strict mode of Ajv', () => {
    const ajv = strictAjv();
    expect(ajv.validateSchema(configSchema)).toBe(true);
    expect(() => ajv.compile(configSchema)).not.toThrow();
  });

  it('accepts its own defaults and examples', () => {
    const ajv = strictAjv();
    for (const { path, schema } of CONFIG_KEYS) {
      const { examples = [] } = schema as SchemaNode & { examples?: unknown[] };
      const check = ajv.compile(schema as object);
      for (const value of [schema.default, ...examples].filter((known) => known !== undefined)) {
        expect(check(value), `${path.join('.')}: ${JSON.stringify(value)}`).toBe(true);
      }
      expect(schema.description, path.join('.')).toMatch(/\.$/);
    }
  });
});

/** Returns the dotted keys in an example config, including keys in comments and in flow style. */
function shownKeys(text: string): ReadonlySet<string> {
  const shown = new Set<string>();
  const add = (path: string, value: unknown): void => {
    shown.add(path);
    if (Array.isArray(value)) for (const each of value) add(path, each);
    else if (typeof value === 'object' && value !== null)
      for (const [key, each] of Object.entries(value)) add(`${path}.${key}`, each);
  };
  let open: { indentation: number; key: string }[] = [];
  for (const line of text.split('\n')) {
    const [, indentation = '', key, rest = ''] = /^((?:# )? *(?:# |- )?)(\w+):(?: +(.*))?$/.exec(line) ?? [];
    if (key === undefined) continue;
    const depth = indentation.replace('# ', '').length;
    open = [...open.filter((each) => each.indentation < depth), { indentation: depth, key }];
    const path = open.map((each) => each.key).join('.');
    shown.add(path);
    for (const flow of rest.split(/ *# /))
      if (/^[{[]/.test(flow)) add(path, parse(flow.replace(/[}\]][^}\]]*$/, (end) => end[0] ?? '')));
  }
  return shown;
}

describe('config.example.yaml', () => {
  it('loads without an error', async () => {
    const { config } = await load(await read('config.example.yaml'));
    expect(config.staticExport).toMatchObject({ enabled: true, version: '2024-06-01' });
  });

  it('sets every key to its default, except for the example site, its version and the feature apiPlayground', async () => {
    const [{ config: shown }, { config: defaults }] = [await load(await read('config.example.yaml')), await load('')];
    const leavesOf = (value: unknown, path: string): [string, unknown][] =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.entries(value).flatMap(([key, each]) => leavesOf(each, `${path}.${key}`))
        : [[path.slice(1), typeof value === 'string' ? basename(value) : value]];
    const byDefault = new Map(leavesOf(defaults, ''));
    const others = leavesOf(shown, '').filter(([path, value]) => !isDeepStrictEqual(value, byDefault.get(path)));
    expect(Object.fromEntries(others)).toEqual({
      'staticExport.enabled': true,
      'staticExport.version': '2024-06-01',
      // The schema has no default here. The feature table turns this feature on.
      'features.apiPlayground.enabled': true,
    });
  });

  it('shows each commented key with its default', async () => {
    const keys = new Map(CONFIG_KEYS.map(({ path, schema }) => [path.join('.'), schema as SchemaNode]));
    let section = '';
    const compared: string[] = [];
    for (const line of (await read('config.example.yaml')).split('\n')) {
      section = /^(\w+):/.exec(line)?.[1] ?? section;
      const [, key = '', value = ''] = /^ {2}# (\w+): ([^#{]+?)(?: +#.*)?$/.exec(line) ?? [];
      const fallback = keys.get(`${section}.${key}`)?.default;
      if (fallback === undefined || fallback === null) continue;
      compared.push(`${section}.${key}`);
      expect(parse(value), `${section}.${key}`).toEqual(fallback);
    }
    expect(compared).toContain('staticExport.preload');
  });

  it('shows a list of sites that can replace the single site', async () => {
    const text = await read('config.example.yaml');
    const shown = /^# (sites:\n(?:# {3,}.*\n)+)/m.exec(text)?.[0].replaceAll(/^# /gm, '') ?? '';
    const others = parse(text);
    delete others.staticExport;
    const { sites } = await load(stringify(others) + shown);
    expect(sites.map(({ domain, basePath }) => [domain, basePath])).toEqual([
      ['acme', '/'],
      ['handbook', '/handbook/'],
    ]);
  });

  it('names the schema in its first line, and matches the schema', async () => {
    const text = await read('config.example.yaml');
    expect(text.split('\n')[0]).toBe('# yaml-language-server: $schema=./config.schema.json');
    const check = strictAjv().compile(configSchema);
    check(parse(text));
    expect(check.errors).toBeNull();
  });

  it('shows every key in its section', async () => {
    const shown = shownKeys(await read('config.example.yaml'));
    // Keys that the page describes by reference to keys of the site, on another page, or for all features at once.
    const elsewhere = /^(?:(?:admin|api)\.tls\.|exportApi\.(?:store|queue)\.|features\.\w+\.(?:enabled|origins)$)/;
    const keys = CONFIG_KEYS.map(({ path }) => path.join('.'));
    expect(keys.filter((key) => !shown.has(key) && !elsewhere.test(key))).toEqual([]);
  });
});
