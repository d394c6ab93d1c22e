import type { CallOutcome } from '../threads/call-outcome.ts';
import { OpenCalls } from '../threads/open-calls.ts';
import type { FromThread } from './messages.ts';
import type { Embedder } from './ports.ts';

/** Embeds by asking the thread that spawned this one: the way to an embeddings endpoint is an adapter, and those live there. */
export class ParentEmbedder implements Embedder {
  readonly digest: string;
  readonly dims: number;
  readonly #post: (message: FromThread) => void;
  readonly #calls = new OpenCalls();

  constructor(digest: string, dims: number, post: (message: FromThread) => void) {
    this.digest = digest;
    this.dims = dims;
    this.#post = post;
  }

  /** What an endpoint's model can read nobody tells us: whoever configures one has chosen it for the site. */
  reads(): boolean {
    return true;
  }

  async embedQuery(text: string): Promise<Float32Array> {
    const [vector] = await this.#ask('query', [text]);
    return vector as Float32Array;
  }

  embedPassages(texts: readonly string[]): Promise<Float32Array[]> {
    return this.#ask('passages', texts);
  }

  /** Takes the parent's answer. */
  answered(outcome: CallOutcome): void {
    this.#calls.settle(outcome);
  }

  #ask(purpose: 'query' | 'passages', texts: readonly string[]): Promise<Float32Array[]> {
    const { id, answer } = this.#calls.open();
    this.#post({ kind: 'embed', id, purpose, texts });
    return answer as Promise<Float32Array[]>;
  }
}
