import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
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

describe('config print', () => {
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
