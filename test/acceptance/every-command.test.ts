import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBench } from '../helpers/daemon.ts';

const bench = openBench(afterAll);
const ESCAPE = String.fromCharCode(27);

/** The names below "Commands:" of a help, without commander's own. */
async function commandsOf(path: readonly string[]): Promise<string[]> {
  const { stdout } = await bench.run([...path, '--help']);
  const listed = stdout.split('\nCommands:\n')[1]?.split('\n\n')[0] ?? '';
  return [...listed.matchAll(/^ {2}([a-z]+)/gm)].map(([, name = '']) => name).filter((name) => name !== 'help');
}

/** Groups only lead on, and take no options of their own. */
async function actsItself(path: readonly string[]): Promise<boolean> {
  return (await bench.run([...path, '--help'])).stdout.includes('--json');
}

describe('every command, found by walking the helps', () => {
  const found: string[][] = [];
  const helps = new Map<string, string>();
  beforeAll(async () => {
    const walk = async (path: string[]): Promise<void> => {
      const names = await commandsOf(path);
      // A command may have others below it: "sites" lists, "sites remove" removes.
      if (path.length > 0 && (names.length === 0 || (await actsItself(path)))) found.push(path);
      for (const name of names) await walk([...path, name]);
    };
    await walk([]);
    const env = { FORCE_COLOR: '0', NO_COLOR: '1' };
    for (const path of found) {
      const { code, stdout, stderr } = await bench.run([...path, '--help'], { env });
      expect({ path, code, stderr }).toEqual({ path, code: 0, stderr: '' });
      helps.set(path.join(' '), stdout);
    }
  }, 180_000);

  test('is there', () => {
    expect(found.length).toBeGreaterThan(20);
    expect(helps.has('doctor') && helps.has('bundle import') && helps.has('transfer unpack')).toBe(true);
    expect(helps.has('sites') && helps.has('sites remove')).toBe(true);
  });

  test('has an example of itself, --config and --json', () => {
    for (const [path, help] of helps) {
      expect(help).toMatch(new RegExp(`\\nExample:\\n {2}.*docshelf ${path}`));
      for (const option of ['--json', '--config', '--help']) expect(help).toContain(option);
    }
  });

  test('prints no colour where there is no terminal', () => {
    for (const help of helps.values()) expect(help).not.toContain(ESCAPE);
  });

  test('of a group has an example as well', async () => {
    for (const name of new Set(found.filter((path) => path.length > 1).map(([group = '']) => group))) {
      expect((await bench.run([name, '--help'])).stdout).toMatch(/\nExample:\n {2}docshelf /);
    }
  });

  test('with --json answers with one JSON document, failure or not, and no progress bar', async () => {
    // None of these needs an argument or stays; what they say without a config is theirs.
    for (const command of [
      'config check',
      'config print',
      'config schema',
      'bundle list',
      'sites',
      'features',
      'doctor',
      'healthcheck',
    ]) {
      const result = await bench.run([...command.split(' '), '--json']);
      expect(() => result.json()).not.toThrow();
      expect(result.stderr).not.toContain(ESCAPE);
    }
  });
});
