import type { Config } from '../config/index.ts';
import { normalBasePath } from '../domain/deployment.ts';
import { DocshelfError } from '../domain/errors.ts';
import {
  type EmbeddedEngine,
  EmbeddedIndex,
  type IndexedRelease,
  MountedSearch,
  type SearchAnswer,
  type SearchRequest,
  type ShelfResult,
  ShelfSearch,
} from '../search/index.ts';
import { Network } from './network.ts';
import { openEngine } from './open-search.ts';
import { readStore } from './slices.ts';

/** Well under a second, and longer on a machine that has other work. */
const VECTORS_MS_MAX = 30_000;

/** A version of a site, to be searched. */
export interface SearchedVersion {
  readonly domain: string;
  /** As a daemon of this site alone would have it. */
  readonly config: Config;
  readonly digest: string;
  readonly label: string;
}

/** By keywords and, where vectors are there, by meaning; merged as on the shelf page. */
export async function searchOnce(
  config: Config,
  versions: readonly SearchedVersion[],
  request: SearchRequest,
): Promise<readonly ShelfResult[]> {
  const network = new Network(config);
  const engine = openEngine(config, network);
  const stored = new StoredSearch(engine);
  const search = new ShelfSearch(() =>
    versions.map((version) => {
      const own = { search: (asked: SearchRequest) => stored.search(version, asked) };
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

/** Stored versions by the indexes and vectors that they have: nothing is made. */
export class StoredSearch {
  readonly #index: EmbeddedIndex;
  /** By digest. */
  readonly #opened = new Map<string, Promise<IndexedRelease>>();

  constructor(engine: EmbeddedEngine) {
    this.#index = new EmbeddedIndex(engine);
  }

  /** @throws DocshelfError `search_off`, `release_damaged`, `index_damaged` */
  async search(version: SearchedVersion, request: SearchRequest): Promise<SearchAnswer> {
    const { digest, label } = version;
    const opening = this.#opened.get(digest) ?? this.#open(version);
    this.#opened.set(digest, opening);
    // What is missing now may be there at the next question.
    opening.catch(() => this.#opened.delete(digest));
    return this.#index.search(await opening, request, label);
  }

  /** But for one: a session that goes on with the next version asks the former no more. */
  async closeOthers(digest: string): Promise<void> {
    for (const [other, opening] of this.#opened) {
      if (other === digest) continue;
      this.#opened.delete(other);
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
