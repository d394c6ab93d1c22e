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
  facts(order: null): Promise<ModelFacts>;
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
  const turns = new Scheduler(1);
  const inTurn = <Answer>(answer: (model: EmbeddingModel) => Answer | Promise<Answer>): Promise<Answer> =>
    turns.run(async () => answer(await load()));
  const handlers: ModelCalls = {
    facts: () => inTurn(({ digest, dims, scripts }) => ({ digest, dims, scripts })),
    embedQuery: (text) => inTurn((model) => model.embedQuery(text)),
    embedPassages: (texts) => inTurn((model) => model.embedPassages(texts)),
  };
  serve(handlers, { end: () => loaded?.close() });
}
