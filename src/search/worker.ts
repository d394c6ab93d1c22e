import { type CallContext, serve, yieldToReaders } from '../threads/index.ts';
import type { BundleSearchRequest } from './bundle-data/make-bundle-search.ts';
import { type BuildIndexRequest, buildIndex } from './indexing/build-index.ts';
import { type EmbedIndexRequest, EmbedProcess, type EmbedProgressOf } from './indexing/embed-index.ts';
import type { EmbedProgress, KnownModel, ModelChoice } from './ports.ts';
import { type QueryRequest, QueryThread } from './query/query-thread.ts';
import { type EmbedderCalls, ModelThreads, ParentEmbedder } from './semantic/embedders.ts';

const queries = new QueryThread(async (choice) =>
  choice.kind === 'parent' ? (await modelOf(choice)).load() : ModelThreads.load(choice.folder),
);
const embedding = new EmbedProcess(modelOf);

const handlers = {
  build: (request: BuildIndexRequest, context: CallContext<string | null>) => {
    yieldToReaders();
    return buildIndex(request, (page) => {
      context.progress(page);
      // Report the page before reading it, so that docshelf knows the page if reading it ends this process.
      context.flush();
    });
  },
  embed: (request: EmbedIndexRequest, { progress, signal }: CallContext<EmbedProgressOf>) => {
    yieldToReaders();
    return embedding.embed(request, progress, signal);
  },
  makeForBundle: async (request: BundleSearchRequest, { progress, signal }: CallContext<EmbedProgress>) => {
    yieldToReaders();
    const { makeBundleSearch } = await import('./bundle-data/make-bundle-search.ts');
    return makeBundleSearch(request, await modelOf(request.model, request.lanesMax), progress, signal);
  },
  open: (searchDir: string) => queries.open(searchDir),
  close: (searchDir: string) => queries.close(searchDir),
  search: (request: QueryRequest) => queries.search(request),
};
export type SearchCalls = typeof handlers;

const parent = serve<EmbedderCalls>(handlers, () => Promise.all([queries.end(), embedding.end()]));

/** Only `load` imports the model runtime, which has 45 MB of code. */
async function modelOf(choice: ModelChoice, modelsMax = 1): Promise<KnownModel> {
  if (choice.kind === 'parent') {
    const embedder = new ParentEmbedder(choice.digest, choice.dims, parent.call);
    return { digest: choice.digest, load: async () => embedder };
  }
  const { readModelFiles } = await import('./semantic/model-files.ts');
  const { digest } = await readModelFiles(choice.folder);
  return {
    digest,
    load: async () => {
      if (modelsMax > 1) return ModelThreads.load(choice.folder, modelsMax);
      return (await import('./semantic/model.ts')).EmbeddingModel.load(choice.folder);
    },
  };
}
