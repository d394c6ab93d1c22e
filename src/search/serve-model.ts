import type { MessagePort } from 'node:worker_threads';
import { outcomeOf } from '../threads/call-outcome.ts';
import type { ModelCall, ModelFacts, ToModelThread } from './messages.ts';
import { EmbeddingModel } from './semantic/model.ts';

/** Answers what `ModelThread` asks, one text after another, until it is told to stop. The model is loaded by the first call. */
export function serveModel(port: MessagePort, folder: string): void {
  let loading: Promise<EmbeddingModel> | null = null;
  let last: Promise<void> = Promise.resolve();
  port.on('message', (message: ToModelThread) => {
    if (message.kind === 'stop') last = last.then(() => end(port, loading));
    else {
      loading ??= EmbeddingModel.load(folder);
      const { id, call } = message;
      const answering = Promise.all([loading, last]).then(([model]) => answer(model, call));
      last = outcomeOf(id, answering).then((outcome) => port.postMessage(outcome));
    }
  });
}

async function answer(model: EmbeddingModel, call: ModelCall): Promise<unknown> {
  switch (call.kind) {
    case 'facts':
      return { digest: model.digest, dims: model.dims, scripts: model.scripts } satisfies ModelFacts;
    case 'query':
      return model.embedQuery(call.text);
    case 'passages':
      return model.embedPassages(call.texts);
  }
}

/** The model's weights are outside the thread's heap: they do not go with the thread. */
async function end(port: MessagePort, loading: Promise<EmbeddingModel> | null): Promise<void> {
  const model = await loading?.catch(() => null);
  await model?.close();
  port.close();
}
