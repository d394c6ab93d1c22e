import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { LRUCache } from 'lru-cache';
import type { Config, SiteConfig } from '../config/index.ts';
import {
  asFolderUser,
  dataPaths,
  type KeptVersion,
  keptVersion,
  keptVersions,
  mayBeRead,
  type ReleaseRef,
  runningDaemons,
} from '../deploy/index.ts';
import { normalBasePath } from '../domain/deployment.ts';
import { DocshelfError } from '../domain/errors.ts';
import { ifThere } from '../files/index.ts';
import {
  type EmbeddedEngine,
  type IndexedRelease,
  PLAIN_FORM,
  type ResultForm,
  readAnswer,
  type SearchAnswer,
  type SearchRequest,
  type ShelfResult,
  ShelfSearch,
  searchDirOf,
} from '../search/index.ts';
import { type Beside, buildVersion, readVersion, type SiteSnapshot } from '../site/index.ts';
import { sharedLoads } from '../threads/once.ts';
import type { DocumentedVersions } from './assistants/site-documentation.ts';
import { Network } from './network.ts';
import { openEngine } from './open-search.ts';
import { atKeptVersion } from './sites/readers-search.ts';
import { snapshotForm } from './sites/site-form.ts';
import { readStore } from './slices.ts';

/** Creates HTTP client and egress policy for a command. Blocks requests to listeners of daemons that use the same data folder. */
export async function openNetwork(config: Config): Promise<Network> {
  const network = new Network(() => config);
  const daemons = (await ifThere(runningDaemons(dataPaths(config.storage.dir)))) ?? [];
  network.useOwnPorts(daemons.flatMap(({ owner, ports }) => (owner.host === hostname() ? ports : [])));
  return network;
}

const OPEN_VERSIONS_MAX = 4;

export class StoredVersions implements DocumentedVersions {
  readonly #site: SiteConfig;
  readonly #active: () => Promise<ReleaseRef | null>;
  readonly #open = new LRUCache<string, SiteSnapshot, () => Promise<SiteSnapshot>>({
    max: OPEN_VERSIONS_MAX,
    ...sharedLoads<SiteSnapshot>(),
  });

  constructor(site: SiteConfig, active: () => Promise<ReleaseRef | null>) {
    this.#site = site;
    this.#active = active;
  }

  async at(version: string | null): Promise<SiteSnapshot | null> {
    const active = await this.#active();
    if (active === null) return null;
    if (version === null || version === active.version) return this.#snapshot(active);
    const kept = await readableVersion(this.#site.config, active, version);
    if (kept?.digest === active.digest) return this.#snapshot(active);
    return kept && this.#snapshot(kept, BESIDE);
  }

  async labels(): Promise<readonly string[]> {
    const active = await this.#active();
    if (active === null) return [];
    const { config } = this.#site;
    const stored = areKept(config) ? await keptVersions(await readStore(config)) : [];
    const labels = stored.filter((kept) => mayBeRead(kept, active)).map(({ version }) => version);
    return labels.includes(active.version) ? labels : [active.version, ...labels];
  }

  #snapshot({ version, digest }: ReleaseRef, beside: Beside | null = null): Promise<SiteSnapshot> {
    const key = [version, digest, beside === null].join('\n');
    return this.#open.forceFetch(key, { context: () => this.#read({ version, digest }, beside) });
  }

  async #read({ version, digest }: ReleaseRef, beside: Beside | null): Promise<SiteSnapshot> {
    const store = await readStore(this.#site.config);
    const form = snapshotForm(this.#site);
    return buildVersion(await readVersion(await store.view(digest, version), [], form), form, beside).snapshot;
  }
}

const BESIDE: Beside = { active: null, pages: null };

const areKept = ({ staticExport }: Config): boolean => staticExport.serveVersions === 'kept';

/** Returns a stored version, or null if it does not exist or readers may not read it. @param config config of one site only */
async function readableVersion(config: Config, active: ReleaseRef, version: string): Promise<KeptVersion | null> {
  if (!areKept(config)) return null;
  const kept = await keptVersion(await readStore(config), version);
  return kept !== null && mayBeRead(kept, active) ? kept : null;
}

/** Maximum time to open the vectors of a version. This usually takes less than a second, but longer on a busy machine. */
const VECTORS_MS_MAX = 30_000;

export interface SearchedVersion {
  readonly domain: string;
  readonly config: Config;
  readonly digest: string;
  readonly label: string;
  /** True if this version is active. Only then can a search select another version with `filter.version`. */
  readonly isActive: boolean;
}

/** Searches by keywords, and by meaning if vectors exist. Merges the results of several versions as the shelf page does. */
export async function searchOnce(
  config: Config,
  versions: readonly SearchedVersion[],
  request: SearchRequest,
): Promise<readonly ShelfResult[]> {
  return withStoredSearch(config, async (stored) => {
    const search = new ShelfSearch(() =>
      versions.map((version) => {
        return { site: version.domain, search: { search: (asked) => stored.search(version, asked) } };
      }),
    );
    const answer = await search.search(request, new AbortController().signal);
    return readAnswer(answer).results as readonly ShelfResult[];
  });
}

export async function withStoredSearch<T>(config: Config, act: (stored: StoredSearch) => Promise<T>): Promise<T> {
  // Act as the user of the data folder, because the search engine creates a folder for vectors in it.
  return asFolderUser(dataPaths(config.storage.dir), async () => {
    await using opened = new AsyncDisposableStack();
    const network = opened.adopt(await openNetwork(config), (each) => each.close());
    const engine = opened.adopt(openEngine(config, network), (each) => each.stop());
    return await act(new StoredSearch(engine));
  });
}

class StoredSearch {
  readonly #index: EmbeddedEngine;
  /** Releases whose search index is open, by digest. The most recently used release is the last entry. */
  readonly #opened = new Map<string, Promise<IndexedRelease>>();

  constructor(engine: EmbeddedEngine) {
    this.#index = engine;
  }

  /** @throws DocshelfError `search_off`, `release_damaged`, `index_building`, `index_damaged` */
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
    opening.catch(() => this.#opened.delete(digest));
    return this.#index.search(await opening, request, label, form);
  }

  /**
   * Closes all releases except the most recently used ones. An assistant's session that changes to the next version rarely
   * returns to an old one.
   */
  async closeOthers(): Promise<void> {
    for (const [digest, opening] of [...this.#opened].slice(0, -OPEN_VERSIONS_MAX)) {
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
      throw new DocshelfError('release_damaged', `Cannot search version "${label}": its release is incomplete`);
    const release = { digest, releaseDir: store.folderOf(digest), trailingSlash: info.trailingSlash };
    await this.#index.open(release).catch((error: unknown) => {
      if (existsSync(searchDirOf(release))) throw error;
      throw new DocshelfError('index_building', `Cannot search version "${label}": its index is not built yet`, {
        next: 'Start the daemon, which builds the index, then try again.',
      });
    });
    if (config.search.model !== 'off') {
      // Use the stored vectors, but cancel if some are missing, because docshelf should not compute vectors for a single query.
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

async function keptBeside({ config, digest, label, isActive }: SearchedVersion, named: string | null) {
  if (!isActive || named === null || named === label) return null;
  const kept = await readableVersion(config, { version: label, digest }, named);
  return kept?.digest === digest ? null : kept;
}
