import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { codesOf, openBench } from '../helpers/daemon.ts';
import { httpServer } from '../helpers/local-server.ts';
import { spawnProgram } from '../helpers/program.ts';
import { bundle, bundleWithManifest, sha256Of } from './bundles.ts';
import { Home, JULY, JUNE, WAYS } from './home.ts';

const bench = openBench(afterEach);

test.each(WAYS)(
  'bundle import, run %s, leaves no files behind after an error, and imports a file or standard input',
  async (way) => {
    const home = await Home.open(bench, way);
    await writeFile(join(home.folder, 'page.tar.gz'), '<html>Sign in</html>');
    await writeFile(join(home.folder, 'v1.tar.gz'), bundleWithManifest('v1', { version: 'v1' }));
    const page = await home.bundle(['import', 'page.tar.gz']);
    expect(page.code).toBe(65);
    expect(page.json()).toMatchObject({ code: 'unknown_format', error: expect.any(String), next: expect.any(String) });
    expect(codesOf(await home.bundle(['import', 'v1.tar.gz', '--version', 'v2']))).toEqual([65, 'version_mismatch']);
    expect(codesOf(await home.bundle(['import', 'v1.tar.gz', '--version', '../v2']))).toEqual([64, 'usage']);
    expect(await home.shelf()).toEqual([null, []]);
    for (const folder of ['staging', 'releases', 'sites', 'rejected']) {
      expect(await readdir(join(home.folder, 'data', folder))).toEqual([]);
    }
    expect((await readdir(join(home.folder, 'data/spool'))).filter((name) => name !== 'lock')).toEqual([]);

    const piped = bundle('piped');
    const fromInput = await home.bundle(['import', '-', '--version', 'v1.0.0'], piped);
    expect(fromInput.json()).toMatchObject({ version: 'v1.0.0', digest: sha256Of(piped), activated: true });
    const first = await home.bundle(['import', 'docs-2024-06-01.tar.gz']);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.json()).toMatchObject({ version: '2024-06-01', digest: sha256Of(JUNE), activated: true });
    const second = await home.bundle(['import', 'docs-2024-07-01.tar.gz', '--no-activate', '--version', 'next']);
    expect(second.json()).toMatchObject({ version: 'next', digest: sha256Of(JULY), activated: false });
    expect(await home.shelf()).toEqual(['2024-06-01', ['2024-06-01', 'next', 'v1.0.0']]);
    expect(await home.page()).toContain('june');
    // The imported file stays in its folder.
    expect(await readdir(home.folder)).toContain('docs-2024-06-01.tar.gz');
  },
);

test('bundle import suggests --version if archive and file name contain no version, and applies a given --version', async () => {
  const home = await Home.open(bench, 'without a daemon');
  const importIt = (...args: string[]) => bench.run(['bundle', 'import', ...args], { cwd: home.folder });
  await writeFile(join(home.folder, 'hand-1.0.tar.gz'), JUNE);
  const label = sha256Of(JUNE).slice(0, 12);
  const { stdout } = await importIt('hand-1.0.tar.gz');
  expect(stdout).toContain(label);
  expect(stdout).toContain('import the archive again with --version');
  expect((await importIt('hand-1.0.tar.gz', '--version', '1.0')).stdout).not.toContain('--version');
  expect(await home.shelf()).toEqual(['1.0', ['1.0', label].sort()]);
});

test.each([
  'oci://registry.example/Docs/acme:1?sig=hidden-word',
  'oci://registry.example/docs@sha256:hidden-word',
  'ftp://mirror.example/docs.tar.gz?sig=hidden-word',
])('bundle import rejects an unsupported link as a usage error, not as a missing file: %s', async (link) => {
  const home = await Home.open(bench, 'without a daemon');
  const result = await home.bundle(['import', link]);
  expect([result.code, result.json().code]).toEqual([64, 'usage']);
  expect(result.json<{ next: string }>().next).toContain('oci://');
  if (link.includes('?')) expect(result.stdout + result.stderr).not.toContain('hidden-word');
});

test('bundle import of a link removes its temporary folder after SIGTERM', async () => {
  const folder = await bench.folder();
  const temporary = join(folder, 'temporary');
  await mkdir(temporary);
  await writeFile(join(folder, 'config.yaml'), 'staticExport: { enabled: true }\n');
  const server = await httpServer(async (_, response) => {
    response.writeHead(200, { 'content-length': 1_000_000 }).write('x'.repeat(1_000));
    expect(await readdir(temporary)).toEqual([expect.stringMatching(/^docshelf-fetch-/)]);
    command.kill('SIGTERM');
  });
  const link = `${server.origin}/acme-export-2024-06-01.tar.gz`;
  const command = spawnProgram(['bundle', 'import', link], folder, {
    TMPDIR: temporary,
    NODE_DISABLE_COMPILE_CACHE: '1',
  });
  const [code] = await once(command, 'close');
  await server.close();
  expect([code, await readdir(temporary)]).toEqual([69, []]);
});
