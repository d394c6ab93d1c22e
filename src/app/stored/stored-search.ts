import type { Config } from '../../config/index.ts';
import type { KeptVersion } from '../../deploy/index.ts';
import { normalBasePath } from '../../domain/deployment.ts';
import { DocshelfError } from '../../domain/errors.ts';
import {
  type EmbeddedEngine,
  EmbeddedIndex,
  type IndexedRelease,
  PLAIN_FORM,
  type ResultForm,
  type SearchAnswer,
  type SearchRequest,
  type ShelfResult,
  ShelfSearch,
} from '../../search/index.ts';
import { openEngine } from '../open-search.ts';
import { atKeptVersion } from '../sites/readers-search.ts';
import { readStore } from '../slices.ts';
import { openNetwork } from './open-network.ts';
import { readableVersion } from './stored-versions.ts';

/** Well under a second, and longer on a machine that has other work. */
const VECTORS_MS_MAX = 30_000;

/** A version of a site, to be searched. */
export interface SearchedVersion {
  readonly domain: string;
  /** As a daemon of this site alone would have it. */
  readonly config: Config;
  readonly digest: string;
  readonly label: string;
  /** Readers get it: the words that ask for another one search that. */
  readonly isActive: boolean;
}

/** By keywords and, where vectors are there, by meaning; merged as on the shelf page. */
export async function searchOnce(
  config: Config,
  versions: readonly SearchedVersion[],
  request: SearchRequest,
): Promise<readonly ShelfResult[]> {
  const network = await openNetwork(config);
  const engine = openEngine(config, network);
  const stored = new StoredSearch(engine);
  const search = new ShelfSearch(() =>
    versions.map((version) => {
      return { site: version.domain, search: { search: (asked) => stored.search(version, asked) } };
    }),
  );
  try {
    return (await search.search(request, new AbortController().signal)).results;
  } finally {
    await engine.stop();
    await network.close();
  }
}

/** Open at once in a session. */
const OPEN_MAX = 4;

/** Stored versions by the indexes and vectors that they have: nothing is made. */
export class StoredSearch {
  readonly #index: EmbeddedIndex;
  /** By digest, the last used ones last. */
  readonly #opened = new Map<string, Promise<IndexedRelease>>();

  constructor(engine: EmbeddedEngine) {
    this.#index = new EmbeddedIndex(engine);
  }

  /** As readers of the version search, by `filter.version` those beside it. @throws DocshelfError `search_off`, `release_damaged`, `index_damaged` */
  async search(version: SearchedVersion, request: SearchRequest): Promise<SearchAnswer> {
    const form = { ...PLAIN_FORM, root: normalBasePath(version.config.server.basePath).slice(0, -1) };
    const kept = await keptBeside(version, request.filter.version);
    if (kept === null) return this.#search(version, request, form);
    const own = atKeptVersion(request, form, kept.version);
    return this.#search({ ...version, label: kept.version, digest: kept.digest }, own.request, own.form);
  }

  async #search(version: SearchedVersion, request: SearchRequest, form: ResultForm): Promise<SearchAnswer> {
    const { digest, label } = version;
    const opening = this.#opened.get(digest) ?? this.#open(version);
    this.#opened.delete(digest);
    this.#opened.set(digest, opening);
    // What is missing now may be there at the next question.
    opening.catch(() => this.#opened.delete(digest));
    return this.#index.search(await opening, request, label, form);
  }

  /** But for the last used ones: a session that goes on with the next version asks the former no more. */
  async closeOthers(): Promise<void> {
    for (const [digest, opening] of [...this.#opened].slice(0, -OPEN_MAX)) {
      this.#opened.delete(digest);
      await opening.then((release) => this.#index.close(release)).catch(() => undefined);
    }
  }

  async #open({ config, digest, label }: SearchedVersion): Promise<IndexedRelease> {
    if (!config.search.enabled) {
      throw new DocshelfError('search_off', 'Cannot search: search.enabled is false', {
        next: 'Set search.enabled to true.',
      });
    }
    const store = await readStore(config);
    const info = await store.info(digest);
    if (info === null)
      throw new DocshelfError('release_damaged', `Cannot search version "${label}": its release is not whole`);
    const release = { digest, releaseDir: store.folderOf(digest), trailingSlash: info.trailingSlash };
    await this.#index.open(release);
    if (config.search.model !== 'off') {
      // A question is no occasion to make vectors.
      const isMissing = new AbortController();
      const signal = AbortSignal.any([isMissing.signal, AbortSignal.timeout(VECTORS_MS_MAX)]);
      const onProgress = ({ passages, embedded }: { readonly passages: number; readonly embedded: number }): void => {
        if (embedded < passages) isMissing.abort();
      };
      await this.#index.embed(release, onProgress, signal).catch(() => undefined);
    }
    return release;
  }
}

/** Null unless another stored version has this label. */
async function keptBeside(
  { config, digest, label, isActive }: SearchedVersion,
  named: string | null,
): Promise<KeptVersion | null> {
  if (!isActive || named === null || named === label) return null;
  const kept = await readableVersion(config, { version: label, digest }, named);
  return kept?.digest === digest ? null : kept;
}
