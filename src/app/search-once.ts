import type { Config } from '../config/index.ts';
import { normalBasePath } from '../domain/deployment.ts';
import { DocshelfError } from '../domain/errors.ts';
import {
  EmbeddedIndex,
  MountedSearch,
  type SearchAnswer,
  type SearchRequest,
  type ShelfResult,
  ShelfSearch,
} from '../search/index.ts';
import { Network } from './network.ts';
import { openEngine } from './open-search.ts';
import { readStore } from './slices.ts';

/** Well under a second, and longer on a machine that has other work. */
const VECTORS_MS_MAX = 30_000;

/** A version of a site, to be searched. */
export interface SearchedVersion {
  readonly domain: string;
  /** As a daemon of this site alone would have it. */
  readonly config: Config;
  readonly digest: string;
  readonly label: string;
}

/** By keywords and, where vectors are there, by meaning; merged as on the shelf page. */
export async function searchOnce(
  config: Config,
  versions: readonly SearchedVersion[],
  request: SearchRequest,
): Promise<readonly ShelfResult[]> {
  const network = new Network(config);
  const engine = openEngine(config, network);
  const index = new EmbeddedIndex(engine);
  const search = new ShelfSearch(() =>
    versions.map((version) => {
      const stored = { search: (asked: SearchRequest) => searchVersion(index, version, asked) };
      const basePath = normalBasePath(version.config.server.basePath);
      return { site: version.domain, search: new MountedSearch(stored, () => basePath) };
    }),
  );
  try {
    return (await search.search(request, new AbortController().signal)).results;
  } finally {
    await engine.stop();
    await network.close();
  }
}

async function searchVersion(
  index: EmbeddedIndex,
  { config, digest, label }: SearchedVersion,
  request: SearchRequest,
): Promise<SearchAnswer> {
  if (!config.search.enabled) {
    throw new DocshelfError('search_off', 'Cannot search: search.enabled is false', {
      next: 'Set search.enabled to true.',
    });
  }
  const store = await readStore(config);
  const info = await store.info(digest);
  if (info === null)
    throw new DocshelfError('release_damaged', `Cannot search version "${label}": its release is not whole`);
  const release = { digest, releaseDir: store.folderOf(digest), trailingSlash: info.trailingSlash };
  await index.open(release);
  if (config.search.model !== 'off') {
    // One search is no occasion to make vectors.
    const isMissing = new AbortController();
    const signal = AbortSignal.any([isMissing.signal, AbortSignal.timeout(VECTORS_MS_MAX)]);
    const onProgress = ({ passages, embedded }: { readonly passages: number; readonly embedded: number }): void => {
      if (embedded < passages) isMissing.abort();
    };
    await index.embed(release, onProgress, signal).catch(() => undefined);
  }
  return index.search(release, request, label);
}
