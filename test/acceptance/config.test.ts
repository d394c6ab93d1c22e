import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { openBench } from '../helpers/daemon.ts';

const bench = openBench(afterEach);
let cwd = '';

beforeEach(async () => {
  cwd = await bench.folder();
});

interface Printed {
  readonly file: string | null;
  readonly settings: Readonly<Record<string, { readonly value: unknown; readonly origin: string }>>;
}

/** Value and origin of some keys in `config print --json`. */
async function printed(keys: readonly string[], env: Record<string, string> = {}): Promise<unknown[][]> {
  const result = await bench.run(['config', 'print', '--json'], { cwd, env });
  expect(result.stderr).toBe('');
  const { settings } = result.json<Printed>();
  return keys.map((key) => [settings[key]?.value, settings[key]?.origin]);
}

const writeConfig = (text: string): Promise<void> => writeFile(join(cwd, 'config.yaml'), text);

describe('config check', () => {
  test('accepts the example config without a warning', async () => {
    const example = await readFile(join(import.meta.dirname, '../../config.example.yaml'), 'utf8');
    await writeConfig(example);
    const result = await bench.run(['config', 'check', '--json'], { cwd });
    const sound = { ok: true, file: join(cwd, 'config.yaml'), warnings: [] };
    expect({ code: result.code, ...result.json() }).toEqual({ code: 0, ...sound });
  });
});

describe('config print', () => {
  test('prefers the environment to the file and the file to defaults, and shows the source of each value', async () => {
    await writeConfig('server:\n  port: 1111\nadmin:\n  port: 2222\n');
    const env = { DOCSHELF__SERVER__PORT: '3333', docshelf__network__allowedhosts: '["a.example"]' };
    expect(await printed(['server.port', 'admin.port', 'api.port', 'network.allowedHosts'], env)).toEqual([
      [3333, 'environment DOCSHELF__SERVER__PORT'],
      [2222, 'config.yaml:4:3'],
      [8081, 'default'],
      [['a.example'], 'environment docshelf__network__allowedhosts'],
    ]);
  });

  test('reads a value from the file that an environment variable names, and hides secrets', async () => {
    await writeFile(join(cwd, 'token'), 'hunter2-hunter2-hunter2\n');
    const env = { DOCSHELF__ADMIN__TOKEN__FILE: join(cwd, 'token') };
    const [token] = await printed(['admin.token'], env);
    expect(token).toEqual(['[redacted]', `file ${join(cwd, 'token')} (DOCSHELF__ADMIN__TOKEN__FILE)`]);
    const { stdout } = await bench.run(['config', 'print'], { cwd, env });
    expect(stdout).toMatch(/^admin\.token +\[redacted\]/m);
    expect(stdout).not.toContain('hunter2');
  });
});

describe('config schema', () => {
  test('prints a JSON Schema that accepts the example and rejects an unknown key', async () => {
    const schema = (await bench.run(['config', 'schema'], { cwd })).json();
    const ajv = new Ajv({ strict: false, validateFormats: false });
    const example = parse(await readFile(join(import.meta.dirname, '../../config.example.yaml'), 'utf8')) as object;
    expect(ajv.validate(schema, example), ajv.errorsText()).toBe(true);
    expect(ajv.validate(schema, { ...example, sevrer: {} })).toBe(false);
  });
});
