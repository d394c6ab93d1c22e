import { type CallContext, serve } from '../threads/index.ts';
import { buildIndex, type IndexOrder } from './indexing/build-index.ts';
import { embedInThread } from './indexing/embed-index.ts';
import type { BundleSearchOrder, EmbedOrder, ModelChoice } from './orders.ts';
import { type EmbedderCalls, ParentEmbedder } from './parent-embedder.ts';
import type { Embedder, EmbedProgress } from './ports.ts';
import { ModelThread } from './query/model-thread.ts';
import { QueryThread, type SearchOrder, type VectorsOrder } from './query/open-releases.ts';

/** One thread for each build, one for each release or bundle that is embedded, and one for all queries. */

const queries = new QueryThread(queryModelOf);

const handlers = {
  build: (order: IndexOrder) => buildIndex(order),
  embed: async (order: EmbedOrder, { progress, signal }: CallContext<EmbedProgress>) => {
    const { digest, load } = await modelOf(order.model);
    return embedInThread(order, digest, load, progress, signal);
  },
  makeForBundle: async (order: BundleSearchOrder, { progress, signal }: CallContext<EmbedProgress>) => {
    // Loaded here: only exports need it, and it takes 65 ms to load, half of that ajv (measured).
    const { makeBundleSearch } = await import('./bundle-data/make-bundle-search.ts');
    const model = order.model === null ? null : await modelOf(order.model);
    return makeBundleSearch(order, model, progress, signal);
  },
  open: (searchDir: string) => queries.open(searchDir),
  close: (searchDir: string) => queries.close(searchDir),
  useVectors: (order: VectorsOrder) => queries.useVectors(order),
  search: (order: SearchOrder) => queries.search(order),
};
export type SearchCalls = typeof handlers;

const parent = serve<EmbedderCalls>(handlers, { end: () => queries.end() });

async function queryModelOf(choice: ModelChoice): Promise<Embedder> {
  return choice.kind === 'parent' ? (await modelOf(choice)).load() : ModelThread.load(choice.folder);
}

/** The runtime, 45 MB of code, comes with `load`. */
async function modelOf(choice: ModelChoice): Promise<{ digest: string; load: () => Promise<Embedder> }> {
  if (choice.kind === 'parent') {
    const embedder = new ParentEmbedder(choice.digest, choice.dims, parent.call);
    return { digest: choice.digest, load: async () => embedder };
  }
  const { readModelFiles } = await import('./semantic/model-files.ts');
  const { digest } = await readModelFiles(choice.folder);
  return {
    digest,
    load: async () => (await import('./semantic/model.ts')).EmbeddingModel.load(choice.folder),
  };
}
