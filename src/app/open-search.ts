import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config } from '../config/index.ts';
import type { BundleSearchMaker } from '../search/bundle-data/bundle-search-maker.ts';
import { embedLanes } from '../search/embedded-engine.ts';
import { EmbeddedEngine, type Model, type SearchEvent, SiteSearch } from '../search/index.ts';
import { once } from '../threads/once.ts';
import type { Network } from './network.ts';

/** Path of the built-in model, relative to this file. It is correct in `src/app` and in the compiled `dist/app`. */
const BUILTIN_MODEL = fileURLToPath(new URL('../../models/all-MiniLM-L6-v2', import.meta.url));

/** Delay between a change of the active version and loading the model, so that quick changes load the model only once. */
const EMBED_AFTER_MS = 500;

export interface OpenedSearch {
  /** Opens the search of a site. Null if search is off for the site. Call `close` when the daemon removes the site. */
  site(settings: Pick<Config['search'], 'enabled' | 'model'>, onEvent: (event: SearchEvent) => void): SiteSearch | null;
  stop(): Promise<void>;
}

export function openSearch(config: Config, network: Network): OpenedSearch {
  const engine = openEngine(config, network);
  return {
    site: ({ enabled, model }, onEvent) => {
      if (!enabled) return null;
      // All sites share one model for vectors. A site's config can turn the model off, but cannot select another model.
      const isSemantic = model !== 'off' && config.search.model !== 'off';
      return new SiteSearch({ index: engine, isSemantic, embedAfterMs: EMBED_AFTER_MS, onEvent });
    },
    stop: () => engine.stop(),
  };
}

export function openEngine(config: Config, network: Network): EmbeddedEngine {
  return new EmbeddedEngine({
    model: modelOf(config, network),
    cacheDir: join(config.storage.dir, 'vectors'),
    memoryBytesMax: config.search.memory,
  });
}

/** Computes vectors for exported bundles with this daemon's model. A deployment with another model must compute its own vectors. */
export async function openBundleSearch(config: Config, network: Network): Promise<BundleSearchMaker | null> {
  const { enabled, model } = config.search;
  if (!enabled || model === 'off') return null;
  const { BundleSearchMaker } = await import('../search/bundle-data/bundle-search-maker.ts');
  const cores = 1 + Math.floor((availableParallelism() - 1) / config.exportApi.concurrency);
  return new BundleSearchMaker({
    model: modelOf(config, network),
    cacheDir: join(config.storage.dir, 'vectors'),
    lanesMax: embedLanes(cores, config.search.memory),
  });
}

function modelOf({ search: { model } }: Config, network: Network): () => Promise<Model> {
  if (typeof model === 'string') {
    const folder = model === 'builtin' ? BUILTIN_MODEL : model;
    return async () => ({ choice: { kind: 'folder', folder }, embedder: null });
  }
  return once(async () => {
    const { EmbeddingEndpoint } = await import('../search/semantic/embedding-endpoint.ts');
    const endpoint = { url: model.url, model: model.model, key: model.keyFile?.text ?? null };
    const embedder = await EmbeddingEndpoint.connect(() => network.client(), endpoint, new AbortController().signal);
    return { choice: { kind: 'parent', digest: embedder.digest, dims: embedder.dims }, embedder };
  });
}
