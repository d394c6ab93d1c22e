import { workerData } from 'node:worker_threads';
import { serve } from '../../threads/index.ts';
import { EmbeddingModel } from './model.ts';

export interface ModelFacts {
  readonly digest: string;
  readonly dims: number;
  readonly scripts: ReadonlySet<string>;
}

export interface ModelCalls {
  facts(order: null): Promise<ModelFacts>;
  embedQuery(text: string): Promise<Float32Array>;
  embedPassages(texts: readonly string[]): Promise<Float32Array[]>;
}

serveModel(workerData as string);

function serveModel(folder: string): void {
  let loading: Promise<EmbeddingModel> | null = null;
  let last: Promise<unknown> = Promise.resolve();
  const enqueue = <Answer>(answer: (model: EmbeddingModel) => Answer | Promise<Answer>): Promise<Answer> => {
    loading ??= EmbeddingModel.load(folder).catch((error: unknown) => {
      loading = null;
      throw error;
    });
    const answering = Promise.all([loading, last]).then(([model]) => answer(model));
    last = answering.catch(() => undefined);
    return answering;
  };
  const handlers: ModelCalls = {
    facts: () => enqueue(({ digest, dims, scripts }) => ({ digest, dims, scripts })),
    embedQuery: (text) => enqueue((model) => model.embedQuery(text)),
    embedPassages: (texts) => enqueue((model) => model.embedPassages(texts)),
  };
  serve(handlers, { end: async () => (await loading?.catch(() => null))?.close() });
}
