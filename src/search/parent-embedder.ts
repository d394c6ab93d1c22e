import { DocshelfError } from '../domain/errors.ts';
import type { CallContext, ThreadCall } from '../threads/index.ts';
import type { Embedder } from './ports.ts';

/** Calls of a thread whose model is an endpoint: the way out to it is in the thread that started it. */
export interface EmbedderCalls {
  embedQuery(text: string, context: CallContext): Promise<Float32Array>;
  embedPassages(texts: readonly string[], context: CallContext): Promise<Float32Array[]>;
}

export type EmbedParentCalls = EmbedderCalls & {
  /** Texts that are to be embedded at once, now. */
  lanes(): number;
};

export class ParentEmbedder implements Embedder {
  readonly digest: string;
  readonly dims: number;
  readonly #call: ThreadCall<EmbedderCalls>;

  constructor(digest: string, dims: number, call: ThreadCall<EmbedderCalls>) {
    this.digest = digest;
    this.dims = dims;
    this.#call = call;
  }

  /** Whoever configures an endpoint has chosen its model for the site. */
  reads(): boolean {
    return true;
  }

  embedQuery(text: string, signal?: AbortSignal): Promise<Float32Array> {
    return this.#call('embedQuery', text, { signal });
  }

  embedPassages(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]> {
    return this.#call('embedPassages', texts, { signal });
  }
}

export function embedWith(model: () => Promise<Embedder | null>): EmbedderCalls {
  const given = async (): Promise<Embedder> => {
    const embedder = await model();
    if (embedder === null) throw new DocshelfError('internal', 'Cannot embed: there is no embedder');
    return embedder;
  };
  return {
    embedQuery: async (text, { signal }) => (await given()).embedQuery(text, signal),
    embedPassages: async (texts, { signal }) => (await given()).embedPassages(texts, signal),
  };
}
