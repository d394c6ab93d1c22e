import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { FileEntry } from '../../src/domain/release.ts';
import { searchRequestOf } from '../../src/domain/search.ts';
import { writeFileTable } from '../../src/files/index.ts';
import { EmbeddedEngine, readAnswer, type SearchEvent, type SearchIndex, SiteSearch } from '../../src/search/index.ts';
import { waitFor } from '../helpers/wait-for.ts';
import { writeFiles } from '../helpers/write-files.ts';

type Pages = Readonly<Record<string, string>>;

/** Writes the files of a release like unpacking does. */
export async function writePages(releaseDir: string, pages: Pages): Promise<readonly FileEntry[]> {
  const files = Object.entries(pages).map(([path, html]) => {
    return { path, size: Buffer.byteLength(html), sha256: hash('sha256', html), type: 'text/html; charset=utf-8' };
  });
  await writeFiles(join(releaseDir, 'site'), pages);
  await writeFileTable(releaseDir, files);
  return files;
}

export async function writeRelease(releaseDir: string, digest: string, pages: Pages) {
  await writePages(releaseDir, pages);
  return { digest, releaseDir, trailingSlash: 'never' as const };
}

/** An engine with the model of a folder, or with other options. */
export function engineOf(
  cacheDir: string,
  folder: string,
  options: Partial<ConstructorParameters<typeof EmbeddedEngine>[0]> = {},
): EmbeddedEngine {
  const model = async () => ({ choice: { kind: 'folder', folder } as const, embedder: null });
  return new EmbeddedEngine({ model, cacheDir, memoryBytesMax: 384 * 1024 ** 2, ...options });
}

/** Search of a site, and its recorded events. */
export function searchOf(index: SearchIndex, options: { isSemantic?: boolean; againAfterMs?: number } = {}) {
  const events: SearchEvent[] = [];
  const onEvent = (event: SearchEvent) => void events.push(event);
  const search = new SiteSearch({ index, isSemantic: false, embedAfterMs: 0, onEvent, ...options });
  return {
    search,
    events,
    kinds: () => events.map((event) => (event.kind === 'failed' ? `failed ${event.step}` : event.kind)),
    /** Text of the best result, or null. */
    found: async (query: string) =>
      readAnswer(await search.search(searchRequestOf({ query }))).results[0]?.content ?? null,
    until: (leg: 'keyword' | 'semantic', state: 'ready' | 'failed' = 'ready') =>
      waitFor(
        () => (search.status[leg] === state ? search.status : null),
        () => JSON.stringify([search.status, search.notices, events]),
      ),
  };
}
