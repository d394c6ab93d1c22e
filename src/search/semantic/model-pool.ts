import type { Embedder } from '../ports.ts';

/** A model that is loaded as often as texts are embedded at once, up to so many times: a run of it holds its thread. */
export class ModelPool implements Embedder {
  readonly digest: string;
  readonly dims: number;
  readonly #first: Embedder;
  readonly #load: () => Promise<Embedder>;
  readonly #modelsMax: number;
  readonly #idle: Embedder[];
  readonly #waiting: ((model: Embedder) => void)[] = [];
  readonly #models: Promise<Embedder>[];

  private constructor(first: Embedder, load: () => Promise<Embedder>, modelsMax: number) {
    this.digest = first.digest;
    this.dims = first.dims;
    this.#first = first;
    this.#load = load;
    this.#modelsMax = modelsMax;
    this.#idle = [first];
    this.#models = [Promise.resolve(first)];
  }

  /** @throws what `load` throws */
  static async load(load: () => Promise<Embedder>, modelsMax: number): Promise<ModelPool> {
    return new ModelPool(await load(), load, modelsMax);
  }

  reads(language: string): boolean {
    return this.#first.reads(language);
  }

  embedQuery(text: string, signal?: AbortSignal): Promise<Float32Array> {
    return this.#use((model) => model.embedQuery(text, signal));
  }

  embedPassages(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]> {
    return this.#use((model) => model.embedPassages(texts, signal));
  }

  async close(): Promise<void> {
    const models = await Promise.allSettled(this.#models);
    await Promise.all(models.map((model) => (model.status === 'fulfilled' ? model.value.close?.() : null)));
  }

  async #use<Result>(act: (model: Embedder) => Promise<Result>): Promise<Result> {
    const model = this.#idle.pop() ?? (await this.#another());
    try {
      return await act(model);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#idle.push(model);
      else next(model);
    }
  }

  async #another(): Promise<Embedder> {
    if (this.#models.length >= this.#modelsMax) return new Promise((resolve) => this.#waiting.push(resolve));
    const loading = this.#load();
    this.#models.push(loading);
    return loading;
  }
}
