import { workerData } from 'node:worker_threads';
import { serve } from '../../threads/index.ts';
import { once } from '../../threads/once.ts';
import { Scheduler } from '../../threads/scheduler.ts';
import { EmbeddingModel } from './model.ts';

export interface ModelFacts {
  readonly digest: string;
  readonly dims: number;
  readonly scripts: ReadonlySet<string>;
}

export interface ModelCalls {
  facts(request: null): Promise<ModelFacts>;
  embedQuery(text: string): Promise<Float32Array>;
  embedPassages(texts: readonly string[]): Promise<Float32Array[]>;
}

serveModel(workerData as string);

function serveModel(folder: string): void {
  let loaded: EmbeddingModel | null = null;
  const load = once(async () => {
    loaded = await EmbeddingModel.load(folder);
    return loaded;
  });
  const scheduler = new Scheduler(1);
  const enqueue = <Answer>(answer: (model: EmbeddingModel) => Answer | Promise<Answer>): Promise<Answer> =>
    scheduler.run(async () => answer(await load()));
  const handlers: ModelCalls = {
    facts: () => enqueue(({ digest, dims, scripts }) => ({ digest, dims, scripts })),
    embedQuery: (text) => enqueue((model) => model.embedQuery(text)),
    embedPassages: (texts) => enqueue((model) => model.embedPassages(texts)),
  };
  serve(handlers, () => loaded?.close());
}
