import type { Config } from '../../config/index.ts';
import type { KeptVersion } from '../../deploy/index.ts';
import { normalBasePath } from '../../domain/deployment.ts';
import { DocshelfError } from '../../domain/errors.ts';
import {
  type EmbeddedEngine,
  EmbeddedIndex,
  type IndexedRelease,
  MountedSearch,
  type Search,
  type SearchAnswer,
  type SearchRequest,
  type ShelfResult,
  ShelfSearch,
} from '../../search/index.ts';
import { openEngine } from '../open-search.ts';
import { VersionSearch } from '../sites/version-search.ts';
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
      const own = stored.searchOf(version);
      const basePath = normalBasePath(version.config.server.basePath);
      return { site: version.domain, search: new MountedSearch(own, () => basePath) };
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

  /** As readers of the version search, by `filter.version` those beside it. */
  searchOf(version: SearchedVersion): Search {
    const search = (label: string, digest: string): Search => ({
      search: (asked) => this.#search({ ...version, label, digest }, asked),
    });
    const { config, digest, label } = version;
    const active = search(label, digest);
    if (!version.isActive) return active;
    const find = async (named: string): Promise<KeptVersion | null> => {
      const kept = named === label ? null : await readableVersion(config, { version: label, digest }, named);
      return kept?.digest === digest ? null : kept;
    };
    return new VersionSearch({ active, find, open: (kept) => search(kept.version, kept.digest) });
  }

  /** @throws DocshelfError `search_off`, `release_damaged`, `index_damaged` */
  async #search(version: Omit<SearchedVersion, 'isActive'>, request: SearchRequest): Promise<SearchAnswer> {
    const { digest, label } = version;
    const opening = this.#opened.get(digest) ?? this.#open(version);
    this.#opened.delete(digest);
    this.#opened.set(digest, opening);
    // What is missing now may be there at the next question.
    opening.catch(() => this.#opened.delete(digest));
    return this.#index.search(await opening, request, label);
  }

  /** But for the last used ones: a session that goes on with the next version asks the former no more. */
  async closeOthers(): Promise<void> {
    for (const [digest, opening] of [...this.#opened].slice(0, -OPEN_MAX)) {
      this.#opened.delete(digest);
      await opening.then((release) => this.#index.close(release)).catch(() => undefined);
    }
  }

  async #open({ config, digest, label }: Omit<SearchedVersion, 'isActive'>): Promise<IndexedRelease> {
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
