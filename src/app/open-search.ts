import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Config } from '../config/index.ts';
import { EmbeddedIndex, type Model, type SearchEvent, SiteSearch } from '../search/index.ts';
import { httpClientSlice } from './slices.ts';
import { workerEntry } from './worker-entry.ts';

/** The model that docshelf brings along; from `src/app` as from `dist/app`, it lies two folders up. */
const BUILTIN_MODEL = fileURLToPath(new URL('../../models/all-MiniLM-L6-v2', import.meta.url));

/** The search engine over the site, or null where it is turned off. Nothing runs before the first index or query. */
export function openSearch(config: Config, onEvent: (event: SearchEvent) => void): SiteSearch | null {
  const { enabled, model } = config.search;
  if (!enabled) return null;
  const folder = {
    builtin: BUILTIN_MODEL,
    folder: model.kind === 'folder' ? model.folder : null,
    off: null,
    endpoint: null,
  };
  const modelFolder = folder[model.kind];
  const index = new EmbeddedIndex({
    spawn: (role) => new Worker(workerEntry('../search/worker'), { workerData: role }),
    model: modelOf(config, modelFolder),
    modelFolder,
    cacheDir: join(config.storage.dir, 'vectors'),
  });
  return new SiteSearch({ index, isSemantic: model.kind !== 'off', onEvent });
}

/** The model when it is first needed. An endpoint is asked what it is; one that does not answer is asked again. */
function modelOf(config: Config, folder: string | null): () => Promise<Model> {
  let connected: Promise<Model> | null = null;
  return () => {
    if (folder !== null) return Promise.resolve({ choice: { kind: 'folder', folder }, embedder: null });
    connected ??= connect(config).catch((error: unknown) => {
      connected = null;
      throw error;
    });
    return connected;
  };
}

async function connect(config: Config): Promise<Model> {
  const { model } = config.search;
  if (model.kind !== 'endpoint') throw new Error(`no embedder for search.model ${model.kind}`);
  const [{ EmbeddingEndpoint }, { HttpClient }] = await Promise.all([
    import('../adapters/embedding-endpoint.ts'),
    import('../adapters/http-client.ts'),
  ]);
  const client = new HttpClient(httpClientSlice(config));
  const embedder = await EmbeddingEndpoint.connect(client, model, new AbortController().signal);
  return { choice: { kind: 'parent', digest: embedder.digest, dims: embedder.dims }, embedder };
}
