import { Scheduler } from '../../threads/scheduler.ts';
import type { Embedder } from '../ports.ts';

/** A model that is loaded as often as texts are embedded at once, up to so many times: a run of it holds its thread. */
export class ModelPool implements Embedder {
  readonly digest: string;
  readonly dims: number;
  readonly #first: Embedder;
  readonly #load: () => Promise<Embedder>;
  readonly #scheduler: Scheduler;
  /** By place in the scheduler. */
  readonly #models: (Promise<Embedder> | undefined)[];

  private constructor(first: Embedder, load: () => Promise<Embedder>, modelsMax: number) {
    this.digest = first.digest;
    this.dims = first.dims;
    this.#first = first;
    this.#load = load;
    this.#scheduler = new Scheduler(modelsMax);
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
    await Promise.all(models.map((model) => (model.status === 'fulfilled' ? model.value?.close?.() : null)));
  }

  #use<Result>(act: (model: Embedder) => Promise<Result>): Promise<Result> {
    return this.#scheduler.run(async (_, place) => {
      const model = this.#models[place] ?? this.#load();
      this.#models[place] = model;
      model.catch(() => {
        this.#models[place] = undefined;
      });
      return act(await model);
    });
  }
}
