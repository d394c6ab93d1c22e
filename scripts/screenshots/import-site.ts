import { join } from 'node:path';
import type { Bench, DaemonProcess } from '../../test/helpers/daemon.ts';
import { packTarGz } from '../../test/helpers/pack-tar-gz.ts';

interface ImportedSite {
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly version: string;
  /** Domain of the site. Undefined if the daemon has only one site. */
  readonly domain?: string;
}

/** Packs files and imports them. The last imported version is active. */
export async function importSite(
  bench: Bench,
  { folder }: DaemonProcess,
  { files, version, domain }: ImportedSite,
): Promise<void> {
  const archive = join(folder, `${domain ?? 'acme'}-export-${version}.tar.gz`);
  await packTarGz({ files: Array.from(files, ([path, bytes]) => ({ path, bytes })), to: archive });
  const site = domain === undefined ? [] : ['--site', domain];
  const { code, stderr } = await bench.run(['bundle', 'import', archive, '--version', version, ...site], {
    cwd: folder,
  });
  if (code !== 0) throw new Error(`the import of ${archive} ended with ${code}: ${stderr}`);
}
