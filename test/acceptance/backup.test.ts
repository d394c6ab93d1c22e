import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { openBench } from '../helpers/daemon.ts';
import { writeFiles } from '../helpers/write-files.ts';
import { bundle } from './bundles.ts';
import { exporterOf, SITE, startExporter } from './export-service.ts';

const bench = openBench(afterEach);
const JUNE = 'docs-2024-06-01.tar.gz';
const JULY = 'docs-2024-07-01.tar.gz';

/** A running daemon with two versions and one completed export. */
async function startOriginal() {
  const folder = await bench.folder();
  await writeFiles(join(folder, 'site'), SITE);
  const exporter = await startExporter(bench, { staticExport: { enabled: true } }, { folder });
  for (const name of [JUNE, JULY]) {
    await writeFile(join(folder, name), bundle(name));
    expect(await bench.run(['bundle', 'import', name], { cwd: folder })).toMatchObject({ code: 0 });
  }
  const job = await exporter.export('acme');
  return { folder, exporter, job };
}

describe('docshelf backup and restore', () => {
  test('move the versions and exports of a running daemon to another machine', async () => {
    const { folder, exporter, job } = await startOriginal();
    const saved = await bench.run(['backup', 'saved.tar', '--json'], { cwd: folder });
    expect(saved).toMatchObject({ code: 0 });
    expect((await stat(join(folder, 'saved.tar'))).mode & 0o777).toBe(0o600);

    const other = await bench.folder();
    await writeFile(join(other, 'config.yaml'), await readFile(join(folder, 'config.yaml')));
    const restored = await bench.run(['restore', join(folder, 'saved.tar'), '--json'], { cwd: other });
    expect({ code: restored.code, files: restored.json<{ files: number }>().files }).toEqual({
      code: 0,
      files: saved.json<{ files: number }>().files,
    });
    const list = async (cwd: string) =>
      (await bench.run(['bundle', 'list', '--json'], { cwd })).json<{
        versions: { version: string; digest: string }[];
      }>();
    const names = async (cwd: string) => (await list(cwd)).versions.map(({ version, digest }) => [version, digest]);
    expect(await names(other)).toEqual(await names(folder));
    expect(await bench.run(['bundle', 'verify', '2024-06-01'], { cwd: other })).toMatchObject({ code: 0 });

    await exporter.daemon.stop();
    const daemon = await bench.start(null, { folder: other });
    await daemon.untilServing('2024-07-01');
    expect(await (await fetch(`${daemon.site}/`)).text()).toContain(JULY);
    const api = exporterOf(daemon, Number(new URL(exporter.origin).port));
    expect(await api.job(job.jobId)).toMatchObject({ status: 'completed' });
    const link = await api.bundle(job.jobId);
    expect((await api.download(link.bundleUrl)).length).toBe(link.sizeBytes);
  });

  test('store a file that two versions share once', async () => {
    const folder = await bench.folder();
    await bench.writeConfig(folder, {});
    const large = 'x'.repeat(3_000_000);
    for (const name of [JUNE, JULY]) {
      await writeFile(join(folder, name), bundle(name, { 'large.txt': large }));
      expect(await bench.run(['bundle', 'import', name], { cwd: folder })).toMatchObject({ code: 0 });
    }
    expect(await bench.run(['backup', 'saved.tar'], { cwd: folder })).toMatchObject({ code: 0 });
    expect((await stat(join(folder, 'saved.tar'))).size).toBeLessThan(2 * large.length);
    const other = await bench.folder();
    await bench.writeConfig(other, {});
    expect(await bench.run(['restore', join(folder, 'saved.tar')], { cwd: other })).toMatchObject({ code: 0 });
    for (const version of ['2024-06-01', '2024-07-01'])
      expect(await bench.run(['bundle', 'verify', version], { cwd: other })).toMatchObject({ code: 0 });
  });

  test.each([
    ['a backup that was cut off', (bytes: Buffer) => bytes.subarray(0, bytes.length / 2), 65, 'damaged_archive'],
    ['a tar of another program', () => bundle('other'), 65, 'damaged_archive'],
  ] as const)('reject %s, and leave the data folder empty', async (_, change, code, fault) => {
    const folder = await bench.folder();
    await bench.writeConfig(folder, {});
    await writeFile(join(folder, JUNE), bundle('one'));
    await bench.run(['bundle', 'import', JUNE], { cwd: folder });
    await bench.run(['backup', 'saved.tar'], { cwd: folder });
    const other = await bench.folder();
    await bench.writeConfig(other, {});
    await writeFile(join(other, 'changed.tar'), change(await readFile(join(folder, 'saved.tar'))));
    const result = await bench.run(['restore', 'changed.tar', '--json'], { cwd: other });
    expect({ exit: result.code, code: result.json().code }).toEqual({ exit: code, code: fault });
    const left = await readdir(join(other, 'data'), { recursive: true, withFileTypes: true });
    expect(left.filter((entry) => !entry.isDirectory())).toEqual([]);
    expect(await bench.run(['restore', join(folder, 'saved.tar')], { cwd: other })).toMatchObject({ code: 0 });
  });

  test('do not overwrite a data folder with content, and not the folder of a running daemon', async () => {
    const { folder } = await startOriginal();
    await bench.run(['backup', 'saved.tar'], { cwd: folder });
    const running = await bench.run(['restore', 'saved.tar', '--json'], { cwd: folder });
    expect(running.json()).toMatchObject({ code: 'in_use', error: expect.stringContaining('a daemon uses it') });
    const other = await bench.folder();
    await bench.writeConfig(other, {});
    await mkdir(join(other, 'data/sites/docs'), { recursive: true });
    await writeFile(join(other, 'data/sites/docs/active'), '{}');
    const full = await bench.run(['restore', join(folder, 'saved.tar'), '--json'], { cwd: other });
    expect({ exit: full.code, ...full.json() }).toMatchObject({ exit: 69, code: 'in_use' });
    expect(await readFile(join(other, 'data/sites/docs/active'), 'utf8')).toBe('{}');
  });

  test('report a missing data folder, and a backup file that cannot be written', async () => {
    const folder = await bench.folder();
    await bench.writeConfig(folder, {});
    const missing = await bench.run(['backup', 'saved.tar', '--json'], { cwd: folder });
    expect({ exit: missing.code, ...missing.json() }).toMatchObject({ exit: 69, code: 'cannot_read' });
    expect(await readdir(folder)).toEqual(['config.yaml']);
    const refused = await bench.run(['backup', 'missing/saved.tar', '--json'], { cwd: folder });
    expect({ exit: refused.code, ...refused.json() }).toMatchObject({ exit: 73, code: 'cannot_write' });
  });
});
