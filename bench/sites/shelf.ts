import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { type Bench, type DaemonProcess, waitFor } from '../../test/helpers/daemon.ts';

const READY_MS_MAX = 3_600_000;
export const TOKEN = 'a-token-for-the-benchmark';

export interface Placed {
  readonly domain: string;
  /** Path or bytes of an archive. */
  readonly archive: string | Uint8Array;
}

export interface StartedShelf {
  readonly daemon: DaemonProcess;
  readonly seconds: number;
  readonly folder: string;
}

/** Starts a daemon that preloads these archives, each under its own path. Resolves when all are served. */
export async function startShelf(bench: Bench, placed: readonly Placed[]): Promise<StartedShelf> {
  const folder = await bench.folder();
  for (const { domain, archive } of placed) {
    const into = join(folder, 'bundles', domain);
    await mkdir(into, { recursive: true });
    const name = typeof archive === 'string' ? (archive.split('/').at(-1) ?? '') : 'docs-2024-06-01.tar.gz';
    if (typeof archive === 'string') await copyFile(archive, join(into, name));
    else await writeFile(join(into, name), archive);
  }
  const beganMs = performance.now();
  const daemon = await bench.start(configOf(placed.map(({ domain }) => domain)), { folder });
  await allServed(daemon, placed.length);
  return { daemon, seconds: secondsSince(beganMs), folder };
}

/** Stops the daemon, and starts one on the same folder, optionally with another config. */
export async function startAgain(
  bench: Bench,
  { daemon, folder }: Pick<StartedShelf, 'daemon' | 'folder'>,
  count: number,
  config: ReturnType<typeof configOf> | null = null,
): Promise<StartedShelf> {
  await daemon.stop();
  const beganMs = performance.now();
  const second = await bench.start(config, { folder });
  await allServed(second, count);
  return { daemon: second, seconds: secondsSince(beganMs), folder };
}

export const configOf = (domains: readonly string[]) => ({
  staticExport: null,
  admin: { port: 0, token: TOKEN },
  log: { access: false },
  sites: domains.map((domain) => ({ domain, basePath: `/${domain}`, staticExport: { enabled: true } })),
});

/** Uses the probe, because a status of a thousand sites reads a thousand folders. */
async function allServed(daemon: DaemonProcess, count: number): Promise<void> {
  await waitFor(
    async () => ((await fetch(`${daemon.admin}/readyz`)).status === 200 ? true : null),
    () => 'the daemon does not become ready',
    READY_MS_MAX,
  );
  await daemon.until(({ sites }) => sites?.filter(({ active }) => active !== null).length === count);
}

export const secondsSince = (beganMs: number): number => (performance.now() - beganMs) / 1000;

/** Load of the last minute, to report with figures. */
export const loadNow = (): string => `load ${loadavg()[0]?.toFixed(1)}`;
