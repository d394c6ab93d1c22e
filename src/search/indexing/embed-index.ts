import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { lockFile } from '../../files/file-lock.ts';
import { once } from '../../threads/once.ts';
import type { BundleVectors } from '../bundle-data/bundle-vectors.ts';
import { KeywordIndex } from '../keyword/keyword-index.ts';
import type { Embedder, EmbedProgress, KnownModel, ModelChoice } from '../ports.ts';
import { embedRelease, passageText } from '../semantic/embed-release.ts';
import { sweepVectors } from '../semantic/vector-cache.ts';
import { VectorTable } from '../semantic/vector-table.ts';
import { KEYWORD_FILE, REFUSED_FILE, SEARCH_FOLDER, VECTOR_FILE, VECTOR_LOCK } from './index-files.ts';

export interface EmbedIndexRequest {
  readonly searchDir: string;
  readonly release: string;
  readonly cacheDir: string;
  readonly model: ModelChoice;
  readonly lanesMax: number;
  readonly ignoresOthers: boolean;
}

export type EmbedProgressOf = EmbedProgress & { readonly modelDigest: string };

/** Keeps a model loaded between releases, because loading it takes 0.3 s, as long as embedding a small release. */
export class EmbedProcess {
  readonly #modelOf: (choice: ModelChoice, modelsMax: number) => Promise<KnownModel>;
  /** All releases of a daemon have the same model. */
  #model: (() => Promise<KnownModel>) | null = null;
  readonly #loaded: Embedder[] = [];

  constructor(modelOf: (choice: ModelChoice, modelsMax: number) => Promise<KnownModel>) {
    this.#modelOf = modelOf;
  }

  /**
   * Computes the missing vectors. If another process already computes them, returns the number of existing vectors, and null
   * otherwise.
   */
  async embed(
    request: EmbedIndexRequest,
    report: (progress: EmbedProgressOf) => void,
    signal: AbortSignal,
  ): Promise<number | null> {
    const { searchDir, ignoresOthers } = request;
    this.#model ??= once(() => this.#open(request));
    const model = await this.#model();
    const onProgress = (progress: EmbedProgress): void => report({ ...progress, modelDigest: model.digest });
    const there = vectorsIn(join(searchDir, VECTOR_FILE), model.digest);
    const isWhole = there.passages !== null && there.embedded === there.passages;
    const lock = isWhole || ignoresOthers ? null : lockFile(join(searchDir, VECTOR_LOCK), 'exclusive');
    try {
      if (!isWhole && lock !== 'taken') await this.#embed(request, model, onProgress, signal);
      // Until the other process has written its first vectors, the number of passages is unknown, so report 0 of 1 passages.
      else onProgress({ passages: there.passages ?? 1, embedded: there.embedded });
    } finally {
      if (lock !== 'taken') lock?.close();
    }
    return lock === 'taken' ? there.embedded : null;
  }

  async end(): Promise<void> {
    await Promise.allSettled(this.#loaded.map((embedder) => embedder.close?.()));
  }

  async #embed(
    { searchDir, release, cacheDir, lanesMax }: EmbedIndexRequest,
    model: KnownModel,
    onProgress: (progress: EmbedProgress) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const keyword = new KeywordIndex(join(searchDir, KEYWORD_FILE));
    try {
      const embedder = await model.load();
      const texts = (sections: () => Iterable<number>) => () => passageTexts(keyword, embedder, sections());
      const carried = await carriedVectors(searchDir, embedder);
      await embedRelease({
        ...(carried === null ? {} : { carried: () => carried.records() }),
        passages: texts(() => upTo(keyword.count)),
        byImportance: texts(() => byPrior(keyword)),
        ...{ embedder, release, cacheDir, signal, onProgress },
        file: join(searchDir, VECTOR_FILE),
        lanes: lanesMax,
      });
      await sweepCache(searchDir, join(cacheDir, model.digest), embedder.dims);
    } finally {
      keyword.close();
    }
  }

  async #open({ model, lanesMax }: EmbedIndexRequest): Promise<KnownModel> {
    const { digest, load } = await this.#modelOf(model, lanesMax);
    const loadNoted = async (): Promise<Embedder> => {
      const embedder = await load();
      this.#loaded.push(embedder);
      return embedder;
    };
    return { digest, load: once(loadNoted) };
  }
}

async function carriedVectors(searchDir: string, { digest, dims }: Embedder): Promise<BundleVectors | null> {
  const releaseDir = dirname(searchDir);
  const isUsable = existsSync(join(releaseDir, SEARCH_FOLDER)) && !existsSync(join(searchDir, REFUSED_FILE));
  if (!isUsable) return null;
  const { BundleVectors: Vectors } = await import('../bundle-data/bundle-vectors.ts');
  try {
    const carried = Vectors.open(releaseDir);
    return carried?.header.modelDigest === digest && carried.header.dims === dims ? carried : null;
  } catch {
    return null;
  }
}

async function sweepCache(searchDir: string, folder: string, dims: number): Promise<void> {
  const releasesDir = dirname(dirname(searchDir));
  const stored = await readdir(releasesDir).catch(() => null);
  if (stored !== null) await sweepVectors(folder, dims, new Set(stored), Date.now()).catch(() => undefined);
}

function vectorsIn(file: string, modelDigest: string): { readonly passages: number | null; readonly embedded: number } {
  const table = openIfValid(file, modelDigest);
  if (table === null) return { passages: null, embedded: 0 };
  try {
    let embedded = 0;
    for (const _ of table.rows()) embedded += 1;
    return { passages: table.count, embedded };
  } finally {
    table.close();
  }
}

function openIfValid(file: string, modelDigest: string): VectorTable | null {
  try {
    return VectorTable.open(file, modelDigest);
  } catch {
    return null;
  }
}

const upTo = (count: number): Uint32Array => new Uint32Array(count).map((_, number) => number);

function byPrior(keyword: KeywordIndex): Uint32Array {
  const { priors } = keyword;
  const priorOf = (section: number): number => priors[section] ?? 0;
  return upTo(priors.length).sort((one, other) => priorOf(other) - priorOf(one) || one - other);
}

function* passageTexts(keyword: KeywordIndex, embedder: Embedder, sections: Iterable<number>) {
  for (const number of sections) {
    const section = keyword.section(number);
    if (section === null || !embedder.reads(section.language)) continue;
    for (const passage of section.passages) yield { section: number, text: passageText(section, passage) };
  }
}
