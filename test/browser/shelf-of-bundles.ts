import { copyFile, mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Bench, ConfigFile, DaemonProcess } from '../helpers/daemon.ts';

/** More keys of the site's entry, such as hosts and base path. */
export interface ShelvedBundle {
  readonly archive: string;
  readonly entry: { readonly domain: string } & Readonly<Record<string, unknown>>;
}

/** One daemon for all bundles, without search, because indexing takes as much processor time as the browser. */
export async function serveBundles(bench: Bench, bundles: readonly ShelvedBundle[]): Promise<DaemonProcess> {
  const daemon = await startShelf(bench, bundles, { search: { enabled: false } });
  await daemon.until((status) => status.sites?.every(({ state }) => state === 'ready') === true);
  return daemon;
}

/** Like `serveBundles`, with more config keys, and without waiting for the imports. */
export async function startShelf(
  bench: Bench,
  bundles: readonly ShelvedBundle[],
  config: ConfigFile,
): Promise<DaemonProcess> {
  const folder = await bench.folder();
  for (const { archive, entry } of bundles) {
    const preload = join(folder, 'bundles', entry.domain);
    await mkdir(preload, { recursive: true });
    await copyFile(archive, join(preload, basename(archive)));
  }
  const sites = bundles.map(({ entry }) => ({ staticExport: { enabled: true }, ...entry }));
  return bench.start({ sites, staticExport: null, log: { access: false }, ...config }, { folder });
}
