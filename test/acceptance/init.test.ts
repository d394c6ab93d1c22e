import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { codesOf, openBench } from '../helpers/daemon.ts';

const bench = openBench(afterEach);
const ROOT = join(import.meta.dirname, '../..');
const PROGRAM = join(ROOT, 'dist/main.js');
const HAS_TERMINAL = spawnSync('script', ['--version']).status === 0;

/** Runs a command on a new terminal, and types these lines one after another. */
async function typed(cwd: string, args: readonly string[], lines: readonly string[]): Promise<string> {
  const command = [process.execPath, PROGRAM, ...args].join(' ');
  const child = spawn('script', ['-qec', command, '/dev/null'], { cwd });
  let shown = '';
  child.stdout.on('data', (chunk: Buffer) => {
    shown += chunk.toString();
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const timer = setTimeout(() => child.kill('SIGKILL'), 120_000);
  let answered = 0;
  for (const line of lines) {
    // A question ends with its default in brackets.
    while (!/\]:? [^\n]*$/.test(shown.slice(answered)) && child.exitCode === null) await sleep(20);
    answered = shown.length;
    child.stdin.write(`${line}\n`);
  }
  child.stdin.end();
  await ended;
  clearTimeout(timer);
  return shown;
}

describe('docshelf init', () => {
  test('writes a valid config that only its owner can read, and in which names such as 1e3 stay text', async () => {
    const cwd = await bench.folder();
    await writeFile(join(cwd, 'link'), 'https://bundles.example.com/acme.tar.gz?sig=1\n');
    const args = ['init', '--type', 'cloud', '--bundle-url-file', 'link', '--port', '8088', '--json'];
    // YAML would read these names as another type.
    const names = ['--domain', 'true', '--version', '1e3', '--data-dir', 'my shelf: "one" # two'];
    const made = await bench.run([...args, ...names], { cwd });
    expect({ code: made.code, ...made.json() }).toEqual({ code: 0, ok: true, file: join(cwd, 'config.yaml') });
    const text = await readFile(join(cwd, 'config.yaml'), 'utf8');
    expect(parse(text)).toMatchObject({
      deployment: { type: 'cloud', domain: 'true' },
      staticExport: { enabled: true, bundleUrlFile: './link', version: '1e3' },
      server: { port: 8088 },
      storage: { dir: './my shelf: "one" # two' },
    });
    expect((await stat(join(cwd, 'config.yaml'))).mode & 0o777).toBe(0o600);
    expect((await bench.run(['config', 'check'], { cwd })).code).toBe(0);
    // Each section has a comment.
    expect(text.split('\n').filter((line) => line.includes('# ')).length).toBeGreaterThan(10);
  });

  test('writes a valid config for each deployment type', async () => {
    const texts = ['config.example.yaml', 'examples/systemd/docshelf.service'].map((path) => join(ROOT, path));
    for (const type of ['cloud', 'client-hosted', 'air-gapped']) {
      const cwd = await bench.folder();
      expect((await bench.run(['init', '--type', type], { cwd })).code).toBe(0);
      expect((await bench.run(['config', 'check'], { cwd })).code).toBe(0);
      texts.push(join(cwd, 'config.yaml'));
    }
    const shown = [
      ...(await Promise.all(texts.map((file) => readFile(file, 'utf8')))),
      (await bench.run(['--help'])).stdout,
    ];
    expect(shown.flatMap((text) => text.match(/\bdocs\/[a-z0-9-]+\.md/g) ?? [])).toEqual([]);
    const commands = new Set(shown.flatMap((text) => text.match(/docshelf config \w+/g) ?? []));
    for (const command of commands) expect((await bench.run(command.split(' ').slice(1))).code, command).toBe(0);
    expect([...commands]).toContain('docshelf config schema');
  });

  test.each([
    ['a folder', '.'],
    ['a path under a file', 'file/config.yaml'],
    ['a named pipe', 'pipe'],
  ])('rejects %s as the path of the config file', async (_what, config) => {
    const cwd = await bench.folder();
    await writeFile(join(cwd, 'file'), '');
    execFileSync('mkfifo', [join(cwd, 'pipe')]);
    expect(codesOf(await bench.run(['init', '--force', '--json', '--config', config], { cwd }))).toEqual([
      73,
      'cannot_write',
    ]);
    expect(await readdir(cwd)).toEqual(['file', 'pipe']);
    expect((await stat(join(cwd, 'pipe'))).isFIFO()).toBe(true);
  });

  test('does not overwrite an existing config without --force', async () => {
    const cwd = await bench.folder();
    await writeFile(join(cwd, 'config.yaml'), 'deployment: { domain: mine }\n');
    expect(codesOf(await bench.run(['init', '--json'], { cwd }))).toEqual([73, 'cannot_write']);
    expect(await readFile(join(cwd, 'config.yaml'), 'utf8')).toBe('deployment: { domain: mine }\n');
    expect((await bench.run(['init', '--force', '--domain', 'yours'], { cwd })).code).toBe(0);
    expect(parse(await readFile(join(cwd, 'config.yaml'), 'utf8'))).toMatchObject({ deployment: { domain: 'yours' } });
  });

  test('writes no file if the given values do not form a valid config', async () => {
    const cwd = await bench.folder();
    expect(codesOf(await bench.run(['init', '--bundle-url-file', 'nowhere', '--json'], { cwd }))).toEqual([
      64,
      'usage',
    ]);
    expect((await bench.run(['init', '--domain', 'No Domain'], { cwd })).code).toBe(64);
    expect(await readdir(cwd)).toEqual([]);
  });

  test.skipIf(!HAS_TERMINAL)(
    'asks for the settings on a terminal, repeats a question after an invalid reply, and keeps the bundle link out of the config',
    async () => {
      const cwd = await bench.folder();
      const link = 'https://bundles.example.com/acme.tar.gz?sig=1';
      await typed(cwd, ['init'], ['somewhere', 'client-hosted', 'acme', link, '']);
      const text = await readFile(join(cwd, 'config.yaml'), 'utf8');
      expect(parse(text)).toMatchObject({
        deployment: { domain: 'acme' },
        staticExport: { bundleUrlFile: './bundle-url' },
      });
      expect(text).not.toContain('sig=1');
      expect(await readFile(join(cwd, 'bundle-url'), 'utf8')).toBe(`${link}\n`);
      expect((await stat(join(cwd, 'bundle-url'))).mode & 0o777).toBe(0o600);
    },
  );
});

describe('the first run of serve, without a config', () => {
  test('fails with the missing settings, and suggests docshelf init', async () => {
    const result = await bench.run(['serve', '--json']);
    expect({ code: result.code, fault: result.json().code }).toEqual({ code: 78, fault: 'config_invalid' });
    expect(result.json<{ next: string }>().next).toContain('docshelf init');
  });

  test('starts to listen, without suggesting docshelf init, if an environment variable sets a value', async () => {
    // An address of another host: the program must get as far as listening.
    const env = { DOCSHELF__SERVER__HOST: '192.0.2.1' };
    const result = await bench.run(['serve', '--json'], { env });
    expect(result.json().code).toBe('cannot_listen');
  });

  test.skipIf(!HAS_TERMINAL)(
    'asks on a terminal whether to write a config, and suggests docshelf init if the operator declines',
    async () => {
      const cwd = await bench.folder();
      const shown = await typed(cwd, ['serve'], ['n']);
      expect(shown).toContain('docshelf init');
    },
  );
});
