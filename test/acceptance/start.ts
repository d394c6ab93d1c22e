import { join } from 'node:path';
import { expect } from 'vitest';
import type { Bench, ConfigFile, DaemonProcess } from '../helpers/daemon.ts';
import type { Env } from '../helpers/program.ts';
import { type Files, writeFiles } from '../helpers/write-files.ts';

/** Entry of a list of sites, at `/<domain>/` unless `more` contains another address. */
export const siteEntry = (domain: string, more: ConfigFile = {}): ConfigFile => ({
  domain,
  basePath: `/${domain}/`,
  staticExport: { enabled: true },
  ...more,
});

/**
 * Starts a daemon with a preload folder, and waits until it serves. @param archives by name, after the domain of their site if
 * there are several: `acme/docs-2024-06-01.tar.gz` @param files next to the config
 */
export async function startServing(
  bench: Bench,
  archives: Files,
  config: ConfigFile = {},
  files: Files = {},
  env: Env = {},
): Promise<DaemonProcess> {
  const folder = await writeFiles(await bench.folder(), files);
  await writeFiles(join(folder, 'bundles'), archives);
  const daemon = await bench.start('sites' in config ? { staticExport: null, ...config } : config, { folder, env });
  await daemon.until(({ state }) => state === 'ready');
  return daemon;
}

/** Waits until the search of each site is ready. */
export const untilSearchable = (daemon: DaemonProcess) =>
  daemon.until(({ sites, search }) => (sites ?? [{ search }]).every((site) => site.search?.keyword === 'ready'));

/** Starts a daemon, and imports these bundles in their order. @param bundles by version */
export async function startWithVersions(
  bench: Bench,
  bundles: Readonly<Record<string, Buffer>>,
  config: ConfigFile = {},
  folder?: string,
) {
  const daemon = await bench.start(config, { folder: folder ?? (await bench.folder()) });
  const runBundle = async (...args: string[]) => {
    const result = await bench.run(['bundle', ...args, '--json'], { cwd: daemon.folder });
    expect(result).toMatchObject({ code: 0 });
    return result.json<{ readonly link?: string }>();
  };
  const importBundle = async (version: string, archive: Buffer, ...args: string[]) => {
    await writeFiles(daemon.folder, { [`${version}.tar.gz`]: archive });
    await runBundle('import', `${version}.tar.gz`, '--version', version, ...args);
  };
  for (const [version, archive] of Object.entries(bundles)) await importBundle(version, archive);
  return { daemon, runBundle, importBundle };
}
