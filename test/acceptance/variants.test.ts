import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { writeFileTable } from '../../src/files/index.ts';
import { makeVariants } from '../../src/serve/variants/make-variants.ts';
import { type DaemonProcess, openBench, waitFor } from '../helpers/daemon.ts';
import { workerProcesses } from '../helpers/watch-threads.ts';
import { bundle, folderOf, sha256Of } from './bundles.ts';
import { skipped, smallVolume, whySkipped } from './small-volume.ts';

/** Compressed forms of a release, made in a process of their own once it is served, five seconds after. */

const bench = openBench(afterEach);
const STYLE = 'main { color: black; margin: 0 auto; }\n'.repeat(100);
/** Brotli 11 is at it for seconds. */
const LARGE = createHash('shake256', { outputLength: 3 * 1024 ** 2 })
  .update('large')
  .digest('hex');

const files = { 'assets/site.5b0e4cfb.css': STYLE };

async function started(more: Readonly<Record<string, string>> = {}): Promise<DaemonProcess> {
  const folder = await bench.folder();
  await folderOf(join(folder, 'bundles'), { 'docs-2024-06-01.tar.gz': bundle('june', { ...files, ...more }) });
  const daemon = await bench.start({}, { folder });
  await daemon.untilServing('2024-06-01');
  return daemon;
}

async function variantsOf(daemon: DaemonProcess): Promise<string> {
  const { active } = await daemon.status();
  return join(daemon.dataDir, 'releases', active?.digest ?? '', 'variants');
}

async function tagOf({ site }: DaemonProcess): Promise<string> {
  const response = await fetch(`${site}/assets/site.5b0e4cfb.css`, { headers: { 'Accept-Encoding': 'br' } });
  expect(await response.text()).toBe(STYLE);
  expect(response.headers.get('content-encoding')).toBe('br');
  return response.headers.get('etag') ?? '';
}

const KEPT = /-br-[0-9a-f]{8}"$/;

/** The process that compresses. */
async function makerOf({ pid }: DaemonProcess, formerPid = 0): Promise<number> {
  return waitFor(
    async () => workerProcesses(pid, '/variants').find((child) => child !== formerPid) ?? null,
    () => 'no process compresses',
  );
}

async function nicenessOf(pid: number): Promise<Set<number>> {
  const niceness = new Set<number>();
  for (const thread of await readdir(`/proc/${pid}/task`)) {
    const facts = await readFile(`/proc/${pid}/task/${thread}/stat`, 'utf8');
    niceness.add(Number(facts.slice(facts.lastIndexOf(')') + 2).split(' ')[16]));
  }
  return niceness;
}

test('they are made once a version is served, sent from then on, kept over a restart, and linked by the next version', async () => {
  const daemon = await started();
  expect(await tagOf(daemon)).toMatch(/-br"$/);
  await daemon.untilLogged(/keeps \d+ compressed files of 2024-06-01/);
  expect(await tagOf(daemon)).toMatch(KEPT);
  const june = await variantsOf(daemon);
  const facts = async () => stat(join(june, `${sha256Of(STYLE)}.br`));
  const { ino, mtimeMs } = await facts();
  await daemon.stop();

  const again = await bench.start(null, { folder: daemon.folder });
  await again.untilServing('2024-06-01');
  expect(await tagOf(again)).toMatch(KEPT);
  await folderOf(join(again.dataDir, 'inbox'), { 'docs-2024-07-01.tar.gz': bundle('july', files) });
  await again.untilServing('2024-07-01');
  await again.untilLogged(/keeps \d+ compressed files of 2024-07-01/);
  expect(again.log()).not.toContain('compressed files of 2024-06-01');
  expect((await facts()).mtimeMs).toBe(mtimeMs);
  const july = await variantsOf(again);
  expect((await stat(join(july, `${sha256Of(STYLE)}.br`))).ino).toBe(ino);

  const removed = await bench.run(['bundle', 'remove', '2024-06-01', '--config', again.configFile]);
  expect(removed.code).toBe(0);
  await expect(stat(june)).rejects.toMatchObject({ code: 'ENOENT' });
  expect(await tagOf(again)).toMatch(KEPT);
});

test('a killed daemon goes on where it was; a file that ends the process is left out; readers notice neither', async () => {
  const daemon = await started({ 'data/large.json': JSON.stringify(LARGE) });
  const large = sha256Of(JSON.stringify(LARGE));
  const folder = await variantsOf(daemon);
  const temporaries = async (): Promise<string[]> =>
    (await readdir(folder).catch(() => [] as string[])).filter((name) => name.startsWith('.tmp-'));
  /** Its gzip form is there, and a file has been written for longer than a small one takes. */
  const untilBegun = async (left: readonly string[]): Promise<void> => {
    await waitFor(
      async () => {
        const isZipped = (await stat(join(folder, `${large}.gz`)).catch(() => null)) !== null;
        const before = await temporaries();
        await sleep(200);
        const after = await temporaries();
        return isZipped && before.some((name) => after.includes(name) && !left.includes(name)) ? true : null;
      },
      () => 'the large file is not begun',
    );
  };
  await untilBegun([]);
  const { mtimeMs } = await stat(join(folder, `${large}.gz`));
  const first = await makerOf(daemon);
  expect([...(await nicenessOf(first))]).toEqual([19]);
  await daemon.kill();
  const left = await temporaries();
  await waitFor(
    async () => ((await readFile(`/proc/${first}/cmdline`, 'utf8').catch(() => '')) === '' ? true : null),
    () => 'the process stays without its daemon',
  );

  const again = await bench.start(null, { folder: daemon.folder });
  await again.untilServing('2024-06-01');
  const second = await makerOf(again);
  await untilBegun(left);
  expect((await stat(join(folder, `${large}.gz`))).mtimeMs).toBe(mtimeMs);
  process.kill(second, 'SIGKILL');
  await waitFor(
    async () => ((await stat(join(folder, 'made')).catch(() => null)) === null ? null : true),
    () => again.log(),
  );
  expect(await tagOf(again)).toMatch(/-br/);
  // What the killed ones had begun goes with a later look: another daemon might be writing it.
  expect((await readdir(folder)).filter((name) => name.startsWith(`${large}.br`))).toEqual([]);
});

describe.skipIf(skipped)(`on a small volume${whySkipped}`, () => {
  test('what the next version needs is left alone, and the status says so', async () => {
    const folder = await smallVolume(bench, 64 * 1024 ** 2);
    await folderOf(join(folder, 'bundles'), { 'docs-2024-06-01.tar.gz': bundle('june', files) });
    const daemon = await bench.start({}, { folder });
    await daemon.until(({ notices }) => notices.some((notice) => notice.includes('compressed forms of 2024-06-01')));
    expect(await tagOf(daemon)).toMatch(/-br"$/);
  });

  test('a disk that is full in the middle ends the work, and leaves nothing half', async () => {
    const releaseDir = join(await smallVolume(bench, 1024 ** 2), 'data');
    const text = LARGE.slice(0, 600 * 1024);
    const entry = { path: 'a.txt', size: text.length, sha256: sha256Of(text), type: 'text/plain; charset=utf-8' };
    await mkdir(join(releaseDir, 'site'));
    await writeFile(join(releaseDir, 'site', 'a.txt'), text);
    await writeFileTable(releaseDir, [entry]);
    await writeFile(join(releaseDir, 'rest'), Buffer.alloc(300 * 1024));
    const order = { releaseDir, formerDirs: [], builtFor: '/', isMounted: false, hasAdditions: false, leftOut: [] };
    // Less than nothing: as where somebody else takes what was free a moment ago.
    const made = await makeVariants({ ...order, reserveBytes: -(1024 ** 3) }, () => undefined);
    expect(made).toMatchObject({ made: 0, isAll: false });
    expect(await readdir(join(releaseDir, 'variants'))).toEqual([]);
  });
});
