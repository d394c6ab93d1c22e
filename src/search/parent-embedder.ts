import { DocshelfError } from '../domain/errors.ts';
import type { FromThread, ToThread } from './messages.ts';
import type { Embedder } from './ports.ts';

/** Embeds by asking the thread that spawned this one: the way to an embeddings endpoint is an adapter, and those live there. */
export class ParentEmbedder implements Embedder {
  readonly digest: string;
  readonly dims: number;
  readonly #post: (message: FromThread) => void;
  readonly #waiting = new Map<number, PromiseWithResolvers<Float32Array[]>>();
  #asked = 0;

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
  answered(message: ToThread & { kind: 'vectors' | 'vectors-failed' }): void {
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.kind === 'vectors') waiting?.resolve(message.vectors);
    else waiting?.reject(DocshelfError.fromPlain(message.error));
  }

  #ask(purpose: 'query' | 'passages', texts: readonly string[]): Promise<Float32Array[]> {
    const id = this.#asked++;
    const answer = Promise.withResolvers<Float32Array[]>();
    this.#waiting.set(id, answer);
    this.#post({ kind: 'embed', id, purpose, texts });
    return answer.promise;
  }
}
