import { parentPort, Worker, workerData } from 'node:worker_threads';
import { DocshelfError, toDocshelfError } from '../domain/errors.ts';
import { outcomeOf } from '../threads/call-outcome.ts';
import { buildIndex, type IndexFacts } from './build-index.ts';
import { embedInThread } from './embed-thread.ts';
import type {
  BundleSearchFacts,
  BundleSearchOrder,
  EmbedOrder,
  FromThread,
  ModelChoice,
  SearchRole,
  ToThread,
} from './messages.ts';
import { ModelThread } from './model-thread.ts';
import { ParentEmbedder } from './parent-embedder.ts';
import type { Embedder, EmbedProgress } from './ports.ts';
import { QueryThread } from './query-thread.ts';

/**
 * The entry of search's threads: one builds an index, one makes vectors, one makes a bundle's search data, one answers queries,
 * one has the model that they are read with.
 */

const post = (message: FromThread): void => parentPort?.postMessage(message);

const work = workerData as SearchRole;
if (work.role === 'query') answerQueries();
else if (work.role === 'model') await readQueries(work.folder);
else await doOnce(work);

type Task = Exclude<SearchRole, { role: 'query' | 'model' }>;

async function doOnce(role: Task): Promise<void> {
  try {
    post({ kind: 'done', result: await resultOf(role) });
  } catch (error) {
    post({ kind: 'failed', error: toDocshelfError(error).toPlain() });
  }
  parentPort?.close();
}

function resultOf(role: Task): Promise<IndexFacts | BundleSearchFacts | { modelDigest: string }> {
  if (role.role === 'build') return buildIndex(role.order);
  return role.role === 'embed' ? embed(role.order) : makeForBundle(role.order);
}

async function embed(order: EmbedOrder): Promise<{ modelDigest: string }> {
  const { digest, load } = await modelOf(order.model);
  return embedInThread(order, digest, load, tell, stopSignal());
}

async function makeForBundle(order: BundleSearchOrder): Promise<BundleSearchFacts> {
  const signal = stopSignal();
  // Loaded here: only exports need it, and its schemas take 0.1 s to load.
  const { makeBundleSearch } = await import('./bundle-search.ts');
  const model = order.model === null ? null : await modelOf(order.model);
  return makeBundleSearch(order, model, tell, signal);
}

function tell(progress: EmbedProgress): void {
  post({ kind: 'progress', progress });
}

/** Aborted when the thread is told to stop. */
function stopSignal(): AbortSignal {
  const stopping = new AbortController();
  parentPort?.on('message', (message: ToThread) => {
    if (message.kind === 'stop')
      stopping.abort(new DocshelfError('stopping', 'Cannot go on: embedding was interrupted'));
  });
  return stopping.signal;
}

function answerQueries(): void {
  const thread = new QueryThread((model) => queryModelOf(model));
  parentPort?.on('message', (message: ToThread) => {
    if (message.kind === 'stop') void thread.end().finally(() => parentPort?.close());
    if (message.kind !== 'call') return;
    void outcomeOf(message.id, thread.answer(message.call)).then(post);
  });
}

async function readQueries(folder: string): Promise<void> {
  const { serveModel } = await import('./serve-model.ts');
  if (parentPort !== null) serveModel(parentPort, folder);
}

/** A model in a folder reads queries in a thread of its own, beside the one that looks up their words. */
async function queryModelOf(choice: ModelChoice): Promise<Embedder> {
  if (choice.kind === 'parent') return (await modelOf(choice)).load();
  const workerData: SearchRole = { role: 'model', folder: choice.folder };
  return ModelThread.load(() => new Worker(new URL(import.meta.url), { workerData }));
}

/** The model's digest, and how to load it. The runtime, 45 MB of code, comes with the loading. */
async function modelOf(choice: ModelChoice): Promise<{ digest: string; load: () => Promise<Embedder> }> {
  if (choice.kind === 'parent') {
    const embedder = new ParentEmbedder(choice.digest, choice.dims, post);
    parentPort?.on('message', (message: ToThread) => {
      if (message.kind === 'answer' || message.kind === 'refusal') embedder.answered(message);
    });
    return { digest: choice.digest, load: async () => embedder };
  }
  const { readModelFiles } = await import('./semantic/model-files.ts');
  const { digest } = await readModelFiles(choice.folder);
  return {
    digest,
    load: async () => (await import('./semantic/model.ts')).EmbeddingModel.load(choice.folder),
  };
}
