import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { yieldToReaders } from '../../threads/index.ts';
import { KeywordIndex } from '../keyword/index.ts';
import type { EmbedOrder, KnownModel, ModelChoice } from '../orders.ts';
import type { Embedder, EmbedProgress } from '../ports.ts';
import { embedRelease, type PassageText, passageText } from '../semantic/embed-release.ts';
import { sweepVectors } from '../semantic/sweep-vectors.ts';
import { readVectors } from '../semantic/vector-file.ts';
import { KEYWORD_FILE, VECTOR_FILE } from './build-index.ts';
import { readSectionFacts, type SectionFacts } from './section-facts.ts';

/** Embeds one release after another by a model that is loaded once: it takes 0.3 s, and a small release needs no more. */
export class EmbedProcess {
  readonly #modelOf: (choice: ModelChoice) => Promise<KnownModel>;
  readonly #models = new Map<string, Promise<LoadedOnce>>();

  constructor(modelOf: (choice: ModelChoice) => Promise<KnownModel>) {
    this.#modelOf = modelOf;
  }

  /** Vectors that are there for this model are kept. */
  async embed(
    { searchDir, release, cacheDir, model: choice }: EmbedOrder,
    onProgress: (progress: EmbedProgress) => void,
    signal: AbortSignal,
  ): Promise<{ modelDigest: string }> {
    yieldToReaders();
    const model = await this.#model(choice);
    const file = join(searchDir, VECTOR_FILE);
    const known = await readVectors(file, model.digest).catch(() => null);
    if (known !== null) {
      onProgress({ passages: known.sections.length, embedded: known.sections.length });
      return { modelDigest: model.digest };
    }
    const keyword = KeywordIndex.open(join(searchDir, KEYWORD_FILE));
    try {
      const facts = await readSectionFacts(searchDir, keyword.count);
      const embedder = await model.load();
      const passages = () => passageTexts(keyword, facts, embedder);
      await embedRelease({ passages, embedder, release, cacheDir, file, signal, onProgress });
      await sweepCache(searchDir, join(cacheDir, model.digest), embedder.dims);
    } finally {
      keyword.close();
    }
    return { modelDigest: model.digest };
  }

  async end(): Promise<void> {
    const models = await Promise.allSettled(this.#models.values());
    await Promise.allSettled(models.map((model) => (model.status === 'fulfilled' ? model.value.close() : null)));
  }

  #model(choice: ModelChoice): Promise<LoadedOnce> {
    const key = choice.kind === 'folder' ? choice.folder : choice.digest;
    const known = this.#models.get(key);
    if (known !== undefined) return known;
    const model = this.#modelOf(choice).then((found) => new LoadedOnce(found));
    this.#models.set(key, model);
    model.catch(() => this.#models.delete(key));
    return model;
  }
}

class LoadedOnce {
  readonly digest: string;
  readonly #load: () => Promise<Embedder>;
  #loading: Promise<Embedder> | null = null;

  constructor({ digest, load }: KnownModel) {
    this.digest = digest;
    this.#load = load;
  }

  load(): Promise<Embedder> {
    this.#loading ??= this.#load().catch((error: unknown) => {
      this.#loading = null;
      throw error;
    });
    return this.#loading;
  }

  async close(): Promise<void> {
    await (await this.#loading)?.close?.();
  }
}

/** Bounded by the releases that are stored. A sweep that fails is made good after the next release. */
async function sweepCache(searchDir: string, folder: string, dims: number): Promise<void> {
  const releasesDir = dirname(dirname(searchDir));
  const stored = await readdir(releasesDir).catch(() => null);
  if (stored !== null) await sweepVectors(folder, dims, new Set(stored), Date.now()).catch(() => undefined);
}

function* passageTexts(keyword: KeywordIndex, facts: SectionFacts, embedder: Embedder): Generator<PassageText> {
  for (let number = 0; number < facts.count; number += 1) {
    const language = facts.language(number);
    if (language !== null && !embedder.reads(language)) continue;
    const section = keyword.section(number);
    if (section === null) continue;
    for (const passage of facts.passages(number)) yield { section: number, text: passageText(section, passage) };
  }
}
