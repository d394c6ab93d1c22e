import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileEntry, TrailingSlash } from '../../domain/release.ts';
import { resolvePath } from '../../web/resolve.ts';
import type { Vectors } from '../semantic/vector-file.ts';
import type { CutSection } from './bundle-format.ts';

/** Search data of a bundle that docshelf exported. */
export interface BundleSections {
  readonly sections: readonly CutSection[];
  /** Null where they are another model's, or of sections that had to be left out. */
  readonly vectors: Vectors | null;
}

/**
 * The sections that the bundle brings, those whose page is in this release; null where it brings none, or none that are
 * sound: then the pages are read, as with any other bundle.
 *
 * @param ownDir the release's `_docshelf/`
 */
export async function readBundleSections(
  ownDir: string,
  files: readonly FileEntry[],
  trailingSlash: TrailingSlash,
  modelDigest: string | null,
): Promise<BundleSections | null> {
  if ((await stat(join(ownDir, 'search/header.json')).catch(() => null)) === null) return null;
  // Loaded here: only bundles of the exporter need it, and its schemas take 0.1 s to load.
  const { decodeBundleSearch } = await import('./bundle-format.ts');
  const read = (path: string): Promise<Uint8Array | null> =>
    readFile(join(ownDir, path.replace(/^_docshelf\//, ''))).catch(() => null);
  const found = await decodeBundleSearch(read, modelDigest).catch(() => null);
  if (found === null) return null;
  const table = new Map(files.map((entry) => [entry.path, entry]));
  const sections = found.sections.filter(({ section }) => {
    const page = decodePath(section.path.replace(/[?#].*$/, '').slice(1));
    return page !== null && resolvePath(table, page, trailingSlash).kind !== 'missing';
  });
  return { sections, vectors: sections.length === found.sections.length ? found.vectors : null };
}

function decodePath(path: string): string | null {
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}
