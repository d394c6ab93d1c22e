import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bench, ConfigFile } from '../helpers/daemon.ts';
import { readArchive } from '../helpers/read-archive.ts';
import { type Exporter, organizations, startExporter } from './export-service.ts';

/** A service that crawls a live site for `acme`. */

/** Crawl source of servers on this machine. */
export const crawlOf = (url: string, more: ConfigFile = {}): ConfigFile => ({
  kind: 'crawl',
  url,
  allowAddresses: ['127.0.0.0/8'],
  ...more,
});

/** Starts a daemon that crawls. It verifies pages in a browser only if the config sets that. */
export async function startCrawler(bench: Bench, source: ConfigFile, config: ConfigFile = {}): Promise<Exporter> {
  const { exportApi, ...others } = config;
  return startExporter(bench, {
    organizations: organizations(source),
    exportApi: { browser: { verify: 'off' }, queue: { lease: '1s' }, ...(exportApi as ConfigFile | undefined) },
    ...others,
  });
}

/** Files in the bundle of a job. */
export async function filesOfJob(bench: Bench, service: Exporter, jobId: string): Promise<ReadonlyMap<string, Buffer>> {
  const { bundleUrl } = await service.bundle(jobId);
  const archive = join(await bench.folder(), 'bundle.tar.gz');
  await writeFile(archive, await service.download(bundleUrl));
  return readArchive(archive);
}

/** Paths of the site's files, without docshelf's own. */
export function sitePaths(files: ReadonlyMap<string, Buffer>): string[] {
  return [...files.keys()].filter((path) => !path.startsWith('_docshelf/')).sort();
}

/** Names of all files in a folder of the service's data. */
export async function storedNames({ daemon }: Exporter, folder: string): Promise<string[]> {
  const at = join(daemon.dataDir, 'exports', folder);
  const entries = await readdir(at, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name)] : [])).sort();
}

/** Paths that the journals of running jobs list as fetched. */
export async function journaledPaths(service: Exporter): Promise<ReadonlySet<string>> {
  const journals = (await storedNames(service, 'work')).filter((file) => file.endsWith('.jsonl'));
  const texts = await Promise.all(journals.map((file) => readFile(file, 'utf8').catch(() => '')));
  const urls = texts.flatMap((text) => Array.from(text.matchAll(/^{"url":"([^"]+)"/gm), ([, url = '']) => url));
  return new Set(urls.map((url) => new URL(url).pathname));
}
