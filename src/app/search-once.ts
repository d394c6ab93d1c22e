import type { Config } from '../config/index.ts';
import { DocshelfError } from '../domain/errors.ts';
import { EmbeddedIndex, type SearchRequest, type SearchResult } from '../search/index.ts';
import { Network } from './network.ts';
import { openEngine } from './open-search.ts';
import { readStore } from './slices.ts';

/** Well under a second, and longer on a machine that has other work. */
const VECTORS_MS_MAX = 30_000;

/** By keywords and, where its vectors are there, by meaning. */
export async function searchOnce(
  config: Config,
  { digest, label }: { readonly digest: string; readonly label: string },
  request: SearchRequest,
): Promise<readonly SearchResult[]> {
  if (!config.search.enabled) {
    throw new DocshelfError('search_off', 'Cannot search: search.enabled is false', {
      next: 'Set search.enabled to true.',
    });
  }
  const network = new Network(config);
  const engine = openEngine(config, network);
  const index = new EmbeddedIndex(engine);
  const store = await readStore(config);
  const info = await store.info(digest);
  if (info === null)
    throw new DocshelfError('release_damaged', `Cannot search version "${label}": its release is not whole`);
  const release = { digest, releaseDir: store.folderOf(digest), trailingSlash: info.trailingSlash };
  try {
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
    return (await index.search(release, request, label)).results;
  } finally {
    await engine.stop();
    await network.close();
  }
}
