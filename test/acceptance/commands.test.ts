import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type CommandResult, codesOf, openBench } from '../helpers/daemon.ts';
import { httpServer } from '../helpers/local-server.ts';
import { bundleWithManifest } from './bundles.ts';

const bench = openBench(afterEach);

/** Output of a failed command with `--json`. */
interface Failure {
  readonly code: string;
  readonly error: string;
  readonly next: string | null;
  readonly faults?: readonly { readonly code: string; readonly key: string | null; readonly where: string | null }[];
}

/** Runs a command in a new folder whose config.yaml contains this text. */
async function runWith(config: string, args: readonly string[]): Promise<CommandResult> {
  const cwd = await bench.folder();
  await writeFile(join(cwd, 'config.yaml'), config);
  return bench.run(args, { cwd });
}

describe('docshelf', () => {
  test('prints help that lists the commands and exits with 0 if it has no arguments', async () => {
    const { code, stdout, stderr } = await bench.run([]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const word of ['serve', 'config', 'bundle', 'features', 'healthcheck', 'config print']) {
      expect(stdout).toContain(word);
    }
  });

  test('prints its version and exits with 0 for --version', async () => {
    const { code, stdout } = await bench.run(['--version']);
    expect({ code, isVersion: /^\d+\.\d+\.\d+\n$/.test(stdout) }).toEqual({ code: 0, isVersion: true });
  });
});

test.each(['config print', 'config schema', 'bundle list', 'doctor'])(
  'the command %s --json prints one JSON document and no progress bar',
  async (command) => {
    const result = await bench.run([...command.split(' '), '--json']);
    expect(() => result.json()).not.toThrow();
    expect(result.stderr).not.toContain('\u001b');
  },
);

describe('a usage error', () => {
  test.each([
    ['an unknown command', ['serv']],
    ['an unknown option', ['config', 'check', '--cofnig', 'x']],
    ['a missing argument', ['bundle', 'activate']],
    ['one argument too many', ['bundle', 'rollback', 'a', 'b']],
    ['an option without its value', ['features', '--config']],
  ])('exits with 64: %s', async (_fault, args) => {
    const { code, stdout, stderr } = await bench.run(args);
    expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
    expect(stderr).toMatch(/^docshelf: Cannot run "docshelf/);
    expect(stderr).toContain('--help');
  });

  test('is printed as a JSON object on standard output with --json', async () => {
    const result = await bench.run(['bundle', 'imprt', '--json']);
    expect(result.code).toBe(64);
    expect(result.json()).toMatchObject({ code: 'usage', error: expect.stringContaining('imprt') });
    expect(result.json<Failure>().next).toMatch(/--help/);
  });
});

describe('serve with an invalid config', () => {
  test('exits with 78 and reports every error with its position', async () => {
    const { code, stdout, stderr } = await runWith(
      [
        'staticExport:',
        '  enabled: yes please',
        '  bundelUrl: https://x.example',
        'server:',
        '  port: many',
        'organizations: [{ id: a, domains: { d: { source: { kind: command } } } }]',
      ].join('\n'),
      ['serve'],
    );
    expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
    expect(stderr).toMatch(/config\.yaml:2:3: staticExport\.enabled/);
    expect(stderr).toMatch(/config\.yaml:3:3: .*"staticExport\.bundelUrl".*"staticExport\.bundleUrl"/);
    expect(stderr).toMatch(/config\.yaml:5:3: server\.port/);
    expect(stderr).toMatch(
      /config\.yaml:6:\d+: organizations\[0\]\.domains\.d\.source has kind command, which needs workDir/,
    );
  });

  test('reports the errors as JSON with --json', async () => {
    const result = await runWith('server:\n  port: 70000\n  hots: x\n', ['config', 'check', '--json']);
    expect(result.code).toBe(78);
    const { code, error, next, faults } = result.json<Failure>();
    expect({ code, hasError: error !== '', hasNext: next !== null }).toEqual({
      code: 'config_invalid',
      hasError: true,
      hasNext: true,
    });
    expect(faults?.map(({ key, where }) => [key, where])).toEqual([
      ['server.port', 'config.yaml:2:3'],
      ['server.hots', 'config.yaml:3:3'],
    ]);
  });
});

describe('serve on a machine that is not ready', () => {
  test.each([
    ['without the export API', ''],
    ['with the export API', 'exportApi: { enabled: true }\n'],
  ])('exits with 69 and names the port if another program uses this port, %s', async (_, more) => {
    const { host } = await httpServer((_, response) => response.end());
    const port = host.split(':')[1] ?? '';
    const config = `server: { host: 127.0.0.1, port: ${port} }\nadmin: { port: 0 }\napi: { port: 0 }\n${more}`;
    const asData = await runWith(config, ['serve', '--json']);
    expect(asData.code).toBe(69);
    expect(asData.json<Failure>()).toMatchObject({ code: 'port_taken', error: expect.stringContaining(port) });
  });

  test('exits with 73 if it cannot write to the data folder', async () => {
    const cwd = await bench.folder();
    // A file at the path of the folder: not even root can create a folder under it.
    await writeFile(join(cwd, 'file'), '');
    await writeFile(
      join(cwd, 'config.yaml'),
      'storage: { dir: ./file/data }\nserver: { port: 0 }\nadmin: { port: 0 }\napi: { port: 0 }',
    );
    const result = await bench.run(['serve', '--json'], { cwd });
    expect(result.code).toBe(73);
    expect(result.json<Failure>()).toMatchObject({
      code: 'cannot_write',
      next: expect.stringContaining('storage.dir'),
    });
  });

  test.skipIf(process.getuid?.() === 0)('exits with 73 if the data folder is read-only (not as root)', async () => {
    const cwd = await bench.folder();
    await mkdir(join(cwd, 'data'));
    await chmod(join(cwd, 'data'), 0o555);
    await writeFile(join(cwd, 'config.yaml'), 'server: { port: 0 }\nadmin: { port: 0 }\napi: { port: 0 }\n');
    expect((await bench.run(['serve'], { cwd })).code).toBe(73);
  });
});

describe('a one-shot command', () => {
  test('exits with 69 for a missing archive file', async () => {
    expect(codesOf(await bench.run(['bundle', 'import', 'nowhere.tar.gz', '--json']))).toEqual([69, 'cannot_read']);
  });

  test('exits with 69 for a healthcheck if no daemon runs', async () => {
    const result = await runWith('admin: { port: 1 }', ['healthcheck', '--json']);
    expect(result.code).toBe(69);
    expect(result.json<Failure>()).toMatchObject({ code: 'daemon_unreachable', next: expect.any(String) });
  });

  test('exits with 69 for a healthcheck, also with --live, if the daemon on the port uses another data folder', async () => {
    const { port } = new URL((await bench.start({})).admin);
    for (const args of [[], ['--live']]) {
      const result = await runWith(`admin: { port: ${port} }\nstorage: { dir: ./empty }`, ['healthcheck', ...args]);
      expect({ args, code: result.code, stdout: result.stdout }).toEqual({ args, code: 69, stdout: '' });
      expect(result.stderr).toMatch(/no daemon on this machine uses "[^"]*empty"/);
    }
  });

  test('starts its error with the action of the command, such as "Cannot verify", if an archive is invalid', async () => {
    const cwd = await bench.folder();
    await writeFile(join(cwd, 'bad.tar.gz'), 'no archive');
    await writeFile(join(cwd, 'other.tar.gz'), bundleWithManifest('a', { pageCount: 7 }));
    for (const [verb, archive] of [
      ['verify', 'other.tar.gz'],
      ['inspect', 'bad.tar.gz'],
    ] as const) {
      const { code, stderr } = await bench.run(['bundle', verb, archive], { cwd });
      const error = expect.stringMatching(`^docshelf: Cannot ${verb} "${archive}": `);
      expect({ code, stderr }).toEqual({ code: 65, stderr: error });
    }
  });

  test('reports a missing config file once', async () => {
    for (const args of [['serve'], ['healthcheck']]) {
      const { code, stderr } = await bench.run([...args, '--config', 'missing.yaml']);
      expect({ code, first: stderr.split('\n')[0] }).toEqual({
        code: 78,
        first: 'docshelf: Cannot read the config file "missing.yaml": it does not exist',
      });
    }
  });

  test('prints "1 error" if doctor finds a single error', async () => {
    const { stdout } = await bench.run(['doctor', '--config', 'missing.yaml']);
    expect(stdout).toMatch(/\n1 error, 0 warnings\.\n$/);
  });
});
