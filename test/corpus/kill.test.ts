import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { cp, readdir, readFile, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleFile, corpus, importBundle, newHome, whyNoCorpus } from '../helpers/corpus.ts';
import { type DaemonProcess, openBench } from '../helpers/daemon.ts';
import { SeededRandom, seedOfEnvironment } from '../helpers/random.ts';
import { readArchive, readFolder } from '../helpers/read-archive.ts';
import { runs } from '../helpers/runs.ts';
import { sideBySide } from '../helpers/side-by-side.ts';
import { addressOf, SiteClient } from '../helpers/site-client.ts';
import { writeFiles } from '../helpers/write-files.ts';
import { PHASES, type Phase, phaseOnDisk } from './phase-on-disk.ts';
import { TrickleServer } from './trickle-server.ts';

/** Kills during an import, and while a daemon swaps between two versions. */
const IMPORT_KILLS = runs(15);
const SWAP_KILLS = runs(4);
const KILLS_MS_MAX = runs(900_000);
/** Number of extra kills, because some come too late for their phase. */
const EXTRA_KILLS_MAX = 20;
const DOWNLOAD_MS = 200;
/** Number of files that are requested after each kill. All files on disk are checked, too. */
const SAMPLE = 25;
const PHASE_MS_MAX = 60_000;
const TOKEN = 'a-token-for-the-tests';

/** Phases that a kill can hit. */
const TARGETS: readonly Phase[] = ['fetching', 'inspecting', 'unpacking', 'sealing', 'activating'];

/** Way of requesting a swap: an action on the admin listener, or a changed config. */
type Means = 'action' | 'pin';

const run = promisify(execFile);

describe.skipIf(corpus === undefined)(`kill -9${whyNoCorpus}`, () => {
  const bench = openBench(afterAll);
  const random = new SeededRandom(seedOfEnvironment());
  const contents = new Map<string, ReadonlyMap<string, Buffer>>();
  let source: TrickleServer;
  let digestOfNew = '';
  /** Label of an unpinned fetch whose file name contains no version. */
  let labelOfNew = '';
  /** A folder that serves the old version, unpinned. */
  let before = '';
  /** A folder with both versions that serves the old one. */
  let withBoth = '';

  beforeAll(async () => {
    const archive = await makeNewVersion();
    const bytes = await readFile(archive);
    digestOfNew = hash('sha256', bytes);
    labelOfNew = digestOfNew.slice(0, 12);
    source = await TrickleServer.open(bytes, DOWNLOAD_MS);
    bench.onEnd(() => source.close());

    const config = { network: { retries: 0 }, admin: { token: TOKEN } };
    before = await newHome(bench, config);
    await importBundle(bench, before, bundleFile('docusaurus-classic.tar.gz'), ['--version', 'old']);
    withBoth = await newHome(bench, config);
    await importBundle(bench, withBoth, archive, ['--version', 'new']);
    await importBundle(bench, withBoth, bundleFile('docusaurus-classic.tar.gz'), ['--version', 'old']);
  });

  it(`leaves the complete old or new version at ${IMPORT_KILLS} random moments of an import`, {
    timeout: KILLS_MS_MAX,
  }, async () => {
    const durations = await measureUndisturbed();
    const hits = new Map<Phase, number>();
    const killDuring = async (target: Phase): Promise<void> => {
      const phase = await killDuringImport(target, random.next() * (durations.get(target) ?? 0));
      hits.set(phase, (hits.get(phase) ?? 0) + 1);
    };
    const plan = Array.from({ length: IMPORT_KILLS }, (_, at) => TARGETS[at % TARGETS.length] ?? 'fetching');
    await sideBySide(plan, 2, killDuring);
    for (let extra = 0; extra < EXTRA_KILLS_MAX; extra++) {
      const missed = TARGETS.find((target) => !hits.has(target));
      if (missed === undefined) break;
      await killDuring(missed);
    }
    const shown = PHASES.flatMap((phase) => (hits.has(phase) ? `${phase} ${hits.get(phase)}` : []));
    const measured = [...durations].map(([phase, ms]) => `${phase} ${Math.round(ms)} ms`);
    console.log(`figure: kills during an import: ${shown.join(', ')}; undisturbed: ${measured.join(', ')}`);
    console.log(`figure: downloads resumed after a kill: ${source.resumed}; seed ${random.seed}`);
    expect([...hits.keys()]).toEqual(expect.arrayContaining([...TARGETS]));
    expect(source.resumed).toBeGreaterThan(0);
  });

  it(`leaves the complete old or new version at ${SWAP_KILLS} random moments of a swap`, {
    timeout: KILLS_MS_MAX,
  }, async () => {
    const durations = { action: await measureSwap('action'), pin: await measureSwap('pin') };
    const served: string[] = [];
    await sideBySide(Array.from({ length: SWAP_KILLS }).keys(), 2, async (at) => {
      const means = at % 2 === 0 ? 'action' : 'pin';
      served.push(`${await killDuringSwap(means, random.next() * durations[means])} (${means})`);
    });
    const measured = `action ${Math.round(durations.action)} ms, pin ${Math.round(durations.pin)} ms`;
    console.log(`figure: kills during a swap (${measured}): then served ${served.join(', ')}; seed ${random.seed}`);
    expect(served).toHaveLength(SWAP_KILLS);
  });

  /** Duration of each phase without a kill. */
  async function measureUndisturbed(): Promise<Map<Phase, number>> {
    const daemon = await bench.start(null, { folder: await copyOf(before) });
    await daemon.untilServing('old');
    const begins = new Map<Phase, number>();
    await daemon.rewriteConfig({ staticExport: { bundleUrl: source.link('valid') } });
    await untilPhase(daemon, 'done', (phase) => {
      if (!begins.has(phase)) begins.set(phase, performance.now());
    });
    await daemon.kill();
    const seen = [...begins];
    return new Map(seen.map(([phase, ms], at) => [phase, (seen[at + 1]?.[1] ?? ms) - ms]));
  }

  async function measureSwap(means: Means): Promise<number> {
    const daemon = await bench.start(null, { folder: await copyOf(withBoth) });
    await daemon.untilServing('old');
    const startMs = performance.now();
    await swap(daemon, means);
    await daemon.untilServing('new');
    const durationMs = performance.now() - startMs;
    await daemon.kill();
    return durationMs;
  }

  /** @returns the phase that the kill hit */
  async function killDuringImport(target: Phase, afterMs: number): Promise<Phase> {
    const folder = await copyOf(before);
    const first = await bench.start(null, { folder });
    await first.untilServing('old');
    await first.rewriteConfig({ staticExport: { bundleUrl: source.link('valid') } });
    await untilPhase(first, target);
    await sleep(afterMs);
    await first.kill();
    const phase = await phaseOnDisk(first.dataDir, digestOfNew);
    await ageTemporaries(join(first.dataDir, 'spool'));

    // The link has expired by then, so the last version must be served completely.
    await first.rewriteConfig({ staticExport: { bundleUrl: source.link('expired') } });
    const second = await bench.start(null, { folder });
    await second.until((status) => status.active !== null && status.lastError?.code === 'link_refused');
    await expectWhole(second, phase === 'done' ? 'new' : 'old');
    await expectClean(second.dataDir, ['lock', 'part', 'json', 'done']);

    await second.rewriteConfig({ staticExport: { bundleUrl: source.link('valid') } });
    await second.untilServing(labelOfNew);
    await expectWhole(second, 'new');
    await expectClean(second.dataDir, ['lock', 'done']);
    await second.kill();
    await rm(folder, { recursive: true });
    return phase;
  }

  /** @returns the version that the next start serves */
  async function killDuringSwap(means: Means, afterMs: number): Promise<string> {
    const folder = await copyOf(withBoth);
    const first = await bench.start(null, { folder });
    await first.untilServing('old');
    const swapping = swap(first, means);
    await sleep(afterMs);
    await first.kill();
    await swapping;

    const second = await bench.start(null, { folder });
    const { active } = await second.until((status) => status.state === 'ready');
    const version = active?.version ?? '';
    expect(means === 'pin' ? ['new'] : ['old', 'new']).toContain(version);
    await expectWhole(second, version);
    await expectClean(second.dataDir, ['lock', 'done']);
    await swap(second, 'action');
    await expectWhole(second, 'new');
    await second.kill();
    await rm(folder, { recursive: true });
    return version;
  }

  /** Requests the new version. A kill can make the call fail. */
  async function swap(daemon: DaemonProcess, means: Means): Promise<void> {
    if (means === 'pin') return daemon.rewriteConfig({ staticExport: { version: 'new' } });
    const headers = { authorization: `Bearer ${TOKEN}` };
    await fetch(`${daemon.admin}/v1/versions/new/activate`, { method: 'POST', headers }).catch(() => undefined);
  }

  /** Checks that the version is served completely: each file of its release on disk, and a sample of responses. */
  async function expectWhole(daemon: DaemonProcess, version: string): Promise<void> {
    const files = contents.get(version) ?? new Map<string, Buffer>();
    const { active } = await daemon.status();
    expect(active?.digest === digestOfNew).toBe(version === 'new');
    const onDisk = await readFolder(join(daemon.dataDir, 'releases', active?.digest ?? '', 'site'));
    expect([...onDisk.keys()].sort()).toEqual([...files.keys()].sort());
    for (const [path, bytes] of files) expect(onDisk.get(path)?.equals(bytes), path).toBe(true);

    const client = new SiteClient(daemon.site);
    const paths = [...files.keys()].filter((path) => !/(?:^|\/)\./.test(path));
    for (let requestCount = 0; requestCount < SAMPLE; requestCount++) {
      const path = random.pick(paths);
      const { status, body } = await client.get(addressOf(path));
      expect([path, status, body.equals(files.get(path) ?? Buffer.of())]).toEqual([path, 200, true]);
    }
    client.close();
  }

  /** Checks that nothing incomplete is left: no staging folders, no release without its marker, no bundle in the spool. */
  async function expectClean(dataDir: string, spoolMayHave: readonly string[]): Promise<void> {
    // A folder without an owner file stays for a minute after a kill. It is empty, so it contains no partial work.
    const staged = [...(await readFolder(join(dataDir, 'staging')))].filter(([path]) => !path.endsWith('owner.json'));
    expect(staged.filter(([, bytes]) => bytes.length > 0).map(([path]) => path)).toEqual([]);
    for (const digest of await readdir(join(dataDir, 'releases'))) {
      expect(await readdir(join(dataDir, 'releases', digest))).toContain('COMPLETE');
    }
    const spool = await readdir(join(dataDir, 'spool'));
    expect(spool.filter((name) => !spoolMayHave.includes(name.slice(name.lastIndexOf('.') + 1)))).toEqual([]);
  }

  /** Makes files look a minute old, because younger ones may belong to a running process. */
  async function ageTemporaries(folder: string): Promise<void> {
    const ago = Date.now() / 1000 - 120;
    for (const name of await readdir(folder).catch(() => []))
      if (name.startsWith('.tmp-')) await utimes(join(folder, name), ago, ago);
  }

  async function copyOf(home: string): Promise<string> {
    const folder = await bench.folder();
    await cp(home, folder, { recursive: true });
    return folder;
  }

  /** Waits until the import has reached at least that phase. */
  async function untilPhase(
    { dataDir }: DaemonProcess,
    wanted: Phase,
    onPhase: (phase: Phase) => void = () => {},
  ): Promise<void> {
    for (const endMs = performance.now() + PHASE_MS_MAX; performance.now() < endMs; await sleep(1)) {
      const phase = await phaseOnDisk(dataDir, digestOfNew);
      onPhase(phase);
      if (PHASES.indexOf(phase) >= PHASES.indexOf(wanted)) return;
    }
    throw new Error(`the import does not come to ${wanted} within ${PHASE_MS_MAX} ms`);
  }

  /** A second version of the same site: all pages changed, one removed, one added. */
  async function makeNewVersion(): Promise<string> {
    const old = await readArchive(bundleFile('docusaurus-classic.tar.gz'));
    const pages = [...old.keys()].filter((path) => path.endsWith('.html'));
    const gone = pages.at(-1) ?? '';
    const changed = [...old]
      .filter(([path]) => path !== gone)
      .map(([path, bytes]): [string, Buffer] => {
        return [path, path.endsWith('.html') ? Buffer.concat([bytes, Buffer.from('<!-- new -->')]) : bytes];
      });
    const added: [string, Buffer] = ['added/index.html', Buffer.from('<!doctype html><title>Added</title>')];
    contents.set('old', old).set('new', new Map([...changed, added]));

    const folder = await bench.folder();
    await writeFiles(join(folder, 'site'), Object.fromEntries(contents.get('new') ?? []));
    await run('tar', ['-czf', join(folder, 'new.tar.gz'), '-C', join(folder, 'site'), '.']);
    return join(folder, 'new.tar.gz');
  }
});
