import { lstatSync, readdirSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Bench, type DaemonProcess, waitFor } from '../../test/helpers/daemon.ts';
import { latencies, quantile } from '../latencies.ts';
import { residentMiB, type Taken, watchProcesses } from './processes.ts';
import { packSite, READ_PAGE, type Version } from './site.ts';

/** Pages that readers request during the import of the large site. */
const FIRST_PAGES = 10;
const IDLE_MS = 10_000;
/** A response costs time that does not belong to the import. */
const STATUS_EVERY_MS = 250;
const READ_PAGES = 500;
const IMPORT_MS_MAX = 3_600_000;
const MIB = 1024 ** 2;

export interface Import extends Taken {
  readonly toSwapSeconds: number;
  /** Time until the keyword index is complete. If its process failed, the swap comes first. */
  readonly toIndexSeconds: number;
  /** 0 without a model. */
  readonly toEmbeddedSeconds: number;
  readonly archiveMiB: number;
  /** Size of the data folder after the import. */
  readonly diskMiB: number;
  readonly p99Ms: number;
}

export interface Growth {
  readonly pages: number;
  readonly idleP99Ms: number;
  readonly first: Import;
  /** Import of a version in which one page in twenty has other words. */
  readonly second: Import;
  readonly restartSeconds: number;
  /** Memory after a restart: when the daemon is ready, and after requests for pages and searches. */
  readonly readyMiB: number;
  readonly servingMiB: number;
}

/**
 * Imports a site with this number of pages and its second version, and restarts. @param modelUrl endpoint of a model, or null
 * for none
 */
export async function measureGrowth(bench: Bench, pages: number, modelUrl: string | null): Promise<Growth> {
  const folder = await bench.folder();
  const model = modelUrl === null ? 'off' : { url: modelUrl, model: 'stand-in' };
  const daemon = await bench.start({ search: { model }, log: { access: false } }, { folder });
  await takeIn(daemon, FIRST_PAGES, 1, '2024-01-01');
  await embedded(daemon);
  const idle = await latencies(daemon.site, [READ_PAGE], sleep(IDLE_MS));
  const first = await measureImport(daemon, pages, 1, '2024-02-01');
  const second = await measureImport(daemon, pages, 2, '2024-03-01');
  await daemon.stop();

  const beganMs = performance.now();
  const again = await bench.start(null, { folder });
  await waitFor(
    async () => ((await fetch(`${again.admin}/readyz`)).status === 200 ? true : null),
    () => 'the daemon does not become ready',
    IMPORT_MS_MAX,
  );
  const restartSeconds = secondsSince(beganMs);
  await again.until(isIndexed, IMPORT_MS_MAX);
  await embedded(again);
  const readyMiB = residentMiB(again.pid);
  await read(again, pages);
  const growth = { pages, first, second, restartSeconds, readyMiB, idleP99Ms: quantile(idle, 0.99) };
  const servingMiB = residentMiB(again.pid);
  await again.stop();
  await bench.end();
  return { ...growth, servingMiB };
}

async function measureImport(daemon: DaemonProcess, pages: number, version: Version, label: string): Promise<Import> {
  const archive = await packed(daemon, pages, version, label);
  const end = watchProcesses(daemon.pid);
  const beganMs = performance.now();
  const times = await latencies(daemon.site, [READ_PAGE], swapTo(daemon, archive, label));
  const toSwapSeconds = secondsSince(beganMs);
  await daemon.until(isIndexed, IMPORT_MS_MAX);
  const toIndexSeconds = secondsSince(beganMs);
  await embedded(daemon);
  const { search } = await daemon.status();
  const toEmbeddedSeconds = search.semantic === 'ready' ? secondsSince(beganMs) : 0;
  const bytes = diskBytes(daemon.dataDir);
  return {
    ...end(),
    ...{
      toSwapSeconds,
      toIndexSeconds,
      toEmbeddedSeconds,
      archiveMiB: archive.mib,
      diskMiB: bytes / MIB,
      p99Ms: quantile(times, 0.99),
    },
  };
}

async function takeIn(daemon: DaemonProcess, pages: number, version: Version, label: string): Promise<void> {
  await swapTo(daemon, await packed(daemon, pages, version, label), label);
}

async function packed(daemon: DaemonProcess, pages: number, version: Version, label: string) {
  const file = join(daemon.folder, `docs-${label}.tar.gz`);
  await packSite(pages, version, file);
  return { file, mib: lstatSync(file).size / MIB };
}

async function swapTo(daemon: DaemonProcess, { file }: { readonly file: string }, label: string): Promise<void> {
  await waitFor(
    async () => readdirSync(daemon.dataDir).includes('inbox') || null,
    () => 'there is no inbox',
    IMPORT_MS_MAX,
  );
  const began = new Date().toISOString();
  await rename(file, join(daemon.dataDir, 'inbox', `docs-${label}.tar.gz`));
  await daemon.until(
    ({ active, lastError }) => {
      if (lastError !== null && lastError.at > began) throw new Error(lastError.message);
      return active?.version === label;
    },
    IMPORT_MS_MAX,
    STATUS_EVERY_MS,
  );
}

const isIndexed: Parameters<DaemonProcess['until']>[0] = ({ search }) => search.keyword === 'ready';

async function embedded(daemon: DaemonProcess): Promise<void> {
  await daemon.until(({ search }) => search.semantic === 'ready' || search.semantic === 'off', IMPORT_MS_MAX);
}

/** Requests pages from the whole site, and a search after each tenth page. */
async function read(daemon: DaemonProcess, pages: number): Promise<void> {
  for (let asked = 0; asked < READ_PAGES; asked += 1) {
    const at = Math.floor((asked / READ_PAGES) * pages);
    const path = at === 0 ? READ_PAGE : `/part-${Math.floor(at / 100)}/page-${at}.html`;
    const page = await (await fetch(daemon.site + path)).text();
    const title = /<title>(.*?)<\/title>/.exec(page)?.[1] ?? '';
    if (asked % 10 > 0) continue;
    const answer = await fetch(`${daemon.site}/_docshelf/search?q=${encodeURIComponent(title)}`);
    if (answer.status !== 200) throw new Error(`the search answered ${answer.status}: ${await answer.text()}`);
  }
}

/** Disk usage of files. A file with several names counts once. */
export function diskBytes(folder: string, seen = new Set<number>()): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const { ino, blocks } = lstatSync(path);
    if (!seen.has(ino)) bytes += blocks * 512;
    seen.add(ino);
    if (entry.isDirectory()) bytes += diskBytes(path, seen);
  }
  return bytes;
}

const secondsSince = (beganMs: number): number => (performance.now() - beganMs) / 1000;
