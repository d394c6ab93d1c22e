import { parentPort, workerData } from 'node:worker_threads';
import { DocshelfError, toDocshelfError } from '../domain/errors.ts';
import { buildIndex } from './build-index.ts';
import { embedInThread } from './embed-thread.ts';
import type { FromThread, ModelChoice, SearchRole, ToThread } from './messages.ts';
import { ParentEmbedder } from './parent-embedder.ts';
import type { Embedder } from './ports.ts';
import { QueryThread } from './query-thread.ts';

/** The entry of search's threads: one builds an index, one makes vectors, one answers queries. */

const post = (message: FromThread): void => parentPort?.postMessage(message);

const work = workerData as SearchRole;
if (work.role === 'query') answerQueries();
else await doOnce(work);

async function doOnce(role: Exclude<SearchRole, { role: 'query' }>): Promise<void> {
  try {
    post({ kind: 'done', result: role.role === 'build' ? await buildIndex(role.order) : await embed(role.order) });
  } catch (error) {
    post({ kind: 'failed', error: toDocshelfError(error).toPlain() });
  }
  parentPort?.close();
}

async function embed(order: Extract<SearchRole, { role: 'embed' }>['order']): Promise<{ modelDigest: string }> {
  const { digest, load } = await modelOf(order.model);
  const stopping = new AbortController();
  parentPort?.on('message', (message: ToThread) => {
    if (message.kind === 'stop')
      stopping.abort(new DocshelfError('stopping', 'Cannot go on: embedding was interrupted'));
  });
  return embedInThread(order, digest, load, (progress) => post({ kind: 'progress', progress }), stopping.signal);
}

function answerQueries(): void {
  const thread = new QueryThread(async (model) => (await modelOf(model)).load());
  parentPort?.on('message', (message: ToThread) => {
    if (message.kind === 'stop') parentPort?.close();
    if (message.kind !== 'call') return;
    thread.answer(message.call).then(
      (result) => post({ kind: 'answer', id: message.id, result }),
      (error: unknown) => post({ kind: 'refusal', id: message.id, error: toDocshelfError(error).toPlain() }),
    );
  });
}

/** The model's digest, and how to load it. The runtime, 45 MB of code, comes with the loading. */
async function modelOf(choice: ModelChoice): Promise<{ digest: string; load: () => Promise<Embedder> }> {
  if (choice.kind === 'parent') {
    const embedder = new ParentEmbedder(choice.digest, choice.dims, post);
    parentPort?.on('message', (message: ToThread) => {
      if (message.kind === 'vectors' || message.kind === 'vectors-failed') embedder.answered(message);
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
