import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { yieldToReaders } from '../../threads/index.ts';
import { KeywordIndex } from '../keyword/index.ts';
import type { EmbedOrder, EmbedProgressOf, KnownModel, ModelChoice } from '../orders.ts';
import type { Embedder, EmbedProgress } from '../ports.ts';
import { embedRelease, type PassageText, passageText } from '../semantic/embed-release.ts';
import { sweepVectors } from '../semantic/sweep-vectors.ts';
import { VectorTable } from '../semantic/vector-table.ts';
import { KEYWORD_FILE, VECTOR_FILE } from './index-files.ts';
import { readSectionFacts, type SectionFacts } from './section-facts.ts';

const LANES_EVERY_MS = 1_000;

/** Embeds one release after another by a model that is loaded once: it takes 0.3 s, and a small release needs no more. */
export class EmbedProcess {
  readonly #modelOf: (choice: ModelChoice, modelsMax: number) => Promise<KnownModel>;
  readonly #askLanes: () => Promise<number>;
  readonly #models = new Map<string, Promise<LoadedOnce>>();

  /** @param askLanes texts to be embedded at once, now */
  constructor(
    modelOf: (choice: ModelChoice, modelsMax: number) => Promise<KnownModel>,
    askLanes: () => Promise<number>,
  ) {
    this.#modelOf = modelOf;
    this.#askLanes = askLanes;
  }

  /** Vectors that are there for this model are kept. */
  async embed(
    { searchDir, release, cacheDir, model: choice, lanesMax }: EmbedOrder,
    tell: (progress: EmbedProgressOf) => void,
    signal: AbortSignal,
  ): Promise<void> {
    yieldToReaders();
    const model = await this.#model(choice, lanesMax);
    const { digest: modelDigest } = model;
    const onProgress = (progress: EmbedProgress): void => tell({ ...progress, modelDigest });
    const file = join(searchDir, VECTOR_FILE);
    const passages = wholeTable(file, model.digest);
    if (passages !== null) {
      onProgress({ passages, embedded: passages });
      return;
    }
    let lanes = 1;
    const asking = setInterval(() => {
      const answered = this.#askLanes().then((now) => {
        lanes = now;
      });
      answered.catch(() => undefined);
    }, LANES_EVERY_MS);
    const keyword = KeywordIndex.open(join(searchDir, KEYWORD_FILE));
    try {
      const facts = await readSectionFacts(searchDir, keyword.count);
      const embedder = await model.load();
      const texts = (order: () => Iterable<number>) => () => passageTexts(keyword, facts, embedder, order());
      await embedRelease({
        passages: texts(() => upTo(facts.count)),
        byImportance: texts(() => byPrior(keyword)),
        ...{ embedder, release, cacheDir, file, signal, onProgress },
        lanes: () => lanes,
      });
      await sweepCache(searchDir, join(cacheDir, model.digest), embedder.dims);
    } finally {
      clearInterval(asking);
      keyword.close();
    }
  }

  async end(): Promise<void> {
    const models = await Promise.allSettled(this.#models.values());
    await Promise.allSettled(models.map((model) => (model.status === 'fulfilled' ? model.value.close() : null)));
  }

  #model(choice: ModelChoice, modelsMax: number): Promise<LoadedOnce> {
    const key = choice.kind === 'folder' ? choice.folder : choice.digest;
    const known = this.#models.get(key);
    if (known !== undefined) return known;
    const model = this.#modelOf(choice, modelsMax).then((found) => new LoadedOnce(found));
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

/** How many vectors there are, where none is missing. */
function wholeTable(file: string, modelDigest: string): number | null {
  const table = openSound(file, modelDigest);
  if (table === null) return null;
  try {
    let there = 0;
    for (const _ of table.rows()) there += 1;
    return there === table.count ? there : null;
  } finally {
    table.close();
  }
}

/** Null for one that is damaged: it is made anew. */
function openSound(file: string, modelDigest: string): VectorTable | null {
  try {
    return VectorTable.open(file, modelDigest);
  } catch {
    return null;
  }
}

const upTo = (count: number): Uint32Array => new Uint32Array(count).map((_, number) => number);

/** Sections of pages that many others link to first. */
function byPrior(keyword: KeywordIndex): Uint32Array {
  const { priors } = keyword;
  const priorOf = (section: number): number => priors[section] ?? 0;
  return upTo(priors.length).sort((one, other) => priorOf(other) - priorOf(one) || one - other);
}

function* passageTexts(
  keyword: KeywordIndex,
  facts: SectionFacts,
  embedder: Embedder,
  sections: Iterable<number>,
): Generator<PassageText> {
  for (const number of sections) {
    const language = facts.language(number);
    if (language !== null && !embedder.reads(language)) continue;
    const section = keyword.section(number);
    if (section === null) continue;
    for (const passage of facts.passages(number)) yield { section: number, text: passageText(section, passage) };
  }
}
