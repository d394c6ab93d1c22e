import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileEntry, TrailingSlash } from '../../domain/release.ts';
import { percentDecode } from '../../web/percent-decode.ts';
import { resolvePath } from '../../web/resolve.ts';
import type { BundleSearch } from './bundle-format.ts';

/**
 * Those whose page is in this release; null without sound ones. No vectors where sections had to be left out.
 * @param ownDir the release's `_docshelf/`
 */
export async function readBundleSections(
  ownDir: string,
  files: readonly FileEntry[],
  trailingSlash: TrailingSlash,
  modelDigest: string | null,
): Promise<BundleSearch | null> {
  if ((await stat(join(ownDir, 'search/header.json')).catch(() => null)) === null) return null;
  // Only bundles of the exporter need it, and ajv takes 35 ms to load (measured).
  const { decodeBundleSearch } = await import('./bundle-format.ts');
  const read = (path: string): Promise<Uint8Array | null> =>
    readFile(join(ownDir, path.replace(/^_docshelf\//, ''))).catch(() => null);
  const found = await decodeBundleSearch(read, modelDigest).catch(() => null);
  if (found === null) return null;
  const table = new Map(files.map((entry) => [entry.path, entry]));
  const sections = found.sections.filter(({ section }) => {
    const page = percentDecode(section.path.replace(/[?#].*$/, '').slice(1));
    return page !== null && resolvePath(table, page, trailingSlash).kind !== 'missing';
  });
  return { sections, vectors: sections.length === found.sections.length ? found.vectors : null };
}
