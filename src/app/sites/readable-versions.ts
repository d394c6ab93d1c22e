import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { SiteConfig } from '../../config/index.ts';
import {
  type KeptVersion,
  keptVersion,
  keptVersions,
  mayBeRead,
  newestFirst,
  type SiteStore,
} from '../../deploy/index.ts';
import { type DocshelfError, toDocshelfError } from '../../domain/errors.ts';
import type { ReleaseView } from '../../domain/release.ts';
import { ownVersions } from '../../files/index.ts';
import type { SiteAssets } from '../../http/site/site-assets.ts';
import { publicOrigin } from '../../http/site/site-routes.ts';
import type { ListedVersion, OpenedVersion, VersionSource } from '../../http/site/version-answers.ts';
import type { SiteSearch } from '../../search/index.ts';
import {
  type BodyCache,
  buildVersion,
  NOTICES,
  noticeResponse,
  readVersion,
  SamePages,
  type SiteRequest,
  SiteServer,
  type SiteSnapshot,
  type SiteState,
  type VersionSurvey,
} from '../../site/index.ts';
import { sharedLoads } from '../../threads/once.ts';
import { encodeAddress } from '../../web/escape.ts';
import type { DocumentedVersions } from '../assistants/site-documentation.ts';
import { previewPasses } from './preview.ts';
import { type ServedSettings, switcherFilesOf } from './site-form.ts';

export type OpenVersion = { readonly server: SiteServer; readonly snapshot: SiteSnapshot };

const OPEN_BYTES_MAX = 64 * 1024 ** 2;
/** Bytes of memory that an open version needs for each of its files: 110,000 files take 14 MiB (`files/file-table.ts`). */
const FILE_BYTES = 136;
const PREPARED_BYTES = 1024 ** 2;
/** Time without a request after which docshelf closes a version. Readers who compare two versions usually return earlier. */
const IDLE_MS = 10 * 60_000;
/** Maximum number of versions whose search is open. The search engine separately limits the memory of their indexes. */
const SEARCHES_MAX = 32;

export class OpenVersions {
  readonly pages = new SamePages();
  readonly #open: LRUCache<string, OpenVersion, () => Promise<OpenVersion>>;
  readonly #searches: LRUCache<string, SiteSearch, () => SiteSearch>;

  constructor({ bytesMax = OPEN_BYTES_MAX, idleMs = IDLE_MS } = {}) {
    const untilIdle = { ttl: idleMs, updateAgeOnGet: true, ttlAutopurge: true };
    this.#open = new LRUCache({
      ...untilIdle,
      maxSize: bytesMax,
      sizeCalculation: ({ snapshot }) => Math.min(bytesMax, PREPARED_BYTES + FILE_BYTES * snapshot.release.files.size),
      ...sharedLoads<OpenVersion>(),
    });
    this.#searches = new LRUCache({
      ...untilIdle,
      max: SEARCHES_MAX,
      memoMethod: (_key, _stale, { context: make }) => make(),
      dispose: (search) => search.close(),
    });
  }

  get size(): number {
    return this.#open.size;
  }

  get(key: string, open: () => Promise<OpenVersion>): Promise<OpenVersion> {
    return this.#open.forceFetch(key, { context: open });
  }

  search(key: string, make: () => SiteSearch): SiteSearch {
    return this.#searches.memo(key, { context: make });
  }
}

interface ReadableVersionsOptions {
  readonly store: SiteStore;
  readonly bodies: BodyCache;
  readonly assets: SiteAssets;
  readonly open: OpenVersions;
  readonly site: { readonly state: SiteState<ServedSettings> };
  readonly onFault: (error: DocshelfError, requestId: string | null) => void;
}

interface List {
  readonly readMs: number;
  readonly state: SiteState<ServedSettings>;
  readonly rows: Promise<readonly ListedVersion[]>;
}

type Current = ReturnType<typeof currentOf>;

function currentOf(settings: ServedSettings, domain: string) {
  return { settings, domain, key: randomUUID(), passes: previewPasses(settings.held, domain) };
}

type Admitted =
  | Exclude<OpenedVersion, { readonly kind: 'kept' }>
  | { readonly kind: 'kept'; readonly kept: KeptVersion; readonly isStaged: boolean };

/** Minimum interval between reads of the version list from disk. Each page that a reader opens can request the list. */
const LIST_MS = 1_000;

/** Stored versions that readers may open. Reads the disk for each request, because commands and other daemons can change them. */
export class ReadableVersions implements VersionSource, DocumentedVersions {
  readonly #options: ReadableVersionsOptions;
  #list: List | null = null;
  #known: Current | null = null;

  constructor(options: ReadableVersionsOptions) {
    this.#options = options;
  }

  async list(): Promise<readonly ListedVersion[]> {
    const { state } = this.#options.site;
    if (state.version === null) return [];
    const known = this.#list;
    if (known?.state === state && performance.now() - known.readMs < LIST_MS) return known.rows;
    const rows = this.#readList(state.version.release);
    this.#list = { readMs: performance.now(), state, rows };
    return rows;
  }

  async open(version: string, request: SiteRequest): Promise<OpenedVersion | null> {
    const admitted = await this.#admitted(version, request);
    return admitted?.kind === 'kept' ? this.#opened(admitted.kept, admitted.isStaged) : admitted;
  }

  async samePage(path: string, from: string, to: string, request: SiteRequest): Promise<string | null> {
    const views = await Promise.all([from, to].map((version) => this.#viewOf(version, request)));
    const [source, target] = views;
    return source && target ? encodeAddress(await this.#options.open.pages.find(path, source, target)) : null;
  }

  /**
   * Returns a version if all readers may read it, else null. A null `version` means the active one.
   * @throws DocshelfError `cannot_read`, `release_damaged`
   */
  async at(version: string | null): Promise<SiteSnapshot | null> {
    const current = this.#options.site.state.version?.snapshot ?? null;
    if (current === null || version === null || version === current.version) return current;
    const kept = await this.#readable(version);
    return kept?.digest === current.digest ? current : kept && (await this.#openedOnce(kept)).snapshot;
  }

  async labels(): Promise<readonly string[]> {
    return (await this.list()).flatMap(({ version, aliases }) => [version, ...aliases]);
  }

  async #admitted(version: string, request: SiteRequest): Promise<Admitted | null> {
    const kept = await keptVersion(this.#options.store, version);
    const { enabled } = this.#config.config.staticExport;
    // Exclude the active release, because it is never staged. The requested version label can point to it.
    const mayBeStaged = enabled && kept !== null && kept.digest !== this.#active?.digest && !this.#isReadable(kept);
    const staged = mayBeStaged ? await this.#staged(kept, request) : null;
    if (staged !== null) return staged;
    if (this.#active?.version === version) return { kind: 'active' };
    if (kept === null || !this.#isReadable(kept)) return null;
    return kept.digest === this.#active?.digest ? { kind: 'active' } : { kind: 'kept', kept, isStaged: false };
  }

  async #staged(kept: KeptVersion, request: SiteRequest): Promise<Admitted | null> {
    const { passes } = this.#current;
    const cookie = await passes.cookieFor(kept, request);
    if (cookie !== null) return { kind: 'preview', cookie };
    return (await passes.admits(kept, request)) ? { kind: 'kept', kept, isStaged: true } : null;
  }

  async #viewOf(version: string, request: SiteRequest): Promise<ReleaseView | null> {
    const admitted = await this.#admitted(version, request);
    if (admitted?.kind === 'active') return this.#active;
    if (admitted?.kind !== 'kept') return null;
    return this.#openedOnce(admitted.kept).then(
      ({ snapshot }) => snapshot.release,
      () => null,
    );
  }

  get #active(): ReleaseView | null {
    return this.#options.site.state.version?.release ?? null;
  }

  get #config(): SiteConfig {
    return this.#options.site.state.settings.held;
  }

  async searched(version: string): Promise<KeptVersion | null> {
    const kept = this.#active?.version === version ? null : await this.#readable(version);
    return kept?.digest === this.#active?.digest ? null : kept;
  }

  async #readable(version: string): Promise<KeptVersion | null> {
    const kept = this.#areKept ? await keptVersion(this.#options.store, version) : null;
    return kept !== null && this.#isReadable(kept) ? kept : null;
  }

  get #areKept(): boolean {
    return this.#config.config.staticExport.serveVersions === 'kept';
  }

  #isReadable(kept: KeptVersion): boolean {
    const active = this.#active;
    return this.#areKept && active !== null && mayBeRead(kept, active);
  }

  /**
   * Lists each release once. Of several version labels, uses the active label or else the first, and lists the others as
   * aliases.
   */
  async #readList({ version, digest, createdAt }: ReleaseView): Promise<readonly ListedVersion[]> {
    const stored = this.#areKept ? await keptVersions(this.#options.store) : [];
    // Exclude the active version label, because the list already contains it. This label can meanwhile point to another release.
    const others = stored.filter((each) => each.version !== version && this.#isReadable(each)).reverse();
    const byRelease = Map.groupBy([{ version, digest, createdAt }, ...others], (each) => each.digest);
    return [...byRelease.values()]
      .flatMap(([first, ...aliases]) => (first === undefined ? [] : [{ ...first, aliases }]))
      .sort(newestFirst)
      .map(({ version: name, aliases }) => ({
        version: name,
        title: name,
        aliases: aliases.map((each) => each.version),
      }));
  }

  async #opened(kept: KeptVersion, isStaged: boolean): Promise<OpenedVersion> {
    const { onFault } = this.#options;
    try {
      const { server, snapshot } = await this.#openedOnce(kept);
      return { kind: 'kept', server, isStaged, canonical: (path) => this.#canonical(path, snapshot.release) };
    } catch (error) {
      const respond: SiteServer['respond'] = (request) => {
        onFault(toDocshelfError(error), request.id());
        return noticeResponse(request, { ...NOTICES.unavailable, language: null });
      };
      return { kind: 'kept', server: { respond }, isStaged, canonical: async () => null };
    }
  }

  /**
   * Opens a version, or returns it from the cache. The cache key contains the active version, because pages of the opened
   * version link to the active version.
   */
  #openedOnce(kept: KeptVersion): Promise<OpenVersion> {
    const active = this.#active;
    const key = [this.#current.key, kept.version, kept.digest, active?.version, active?.digest].join('\n');
    return this.#options.open.get(key, () => this.#read(kept, active));
  }

  get #current(): Current {
    const { site, store } = this.#options;
    const { settings } = site.state;
    const { domain } = store;
    if (this.#known?.settings !== settings || this.#known.domain !== domain) this.#known = currentOf(settings, domain);
    return this.#known;
  }

  async #read({ version, digest }: KeptVersion, active: ReleaseView | null): Promise<OpenVersion> {
    const { store, bodies, assets, open, site, onFault } = this.#options;
    const { settings } = site.state;
    const release = await store.view(digest, version);
    // Pass null as `servedAt` (never active), so that the version compares its files with other releases, but does not serve
    // their assets.
    const stored = (await store.records()).releases.values();
    const others = [...stored].filter((other) => other.digest !== digest);
    const retained = others.map((other) => store.kept(other, null));
    const form = { ...settings.form, switcher: active && switcherFilesOf(settings.held, assets) };
    const surveyKept = async (): Promise<VersionSurvey> => ({ hasOthers: true, own: await ownVersions(release) });
    const parts = await readVersion(release, retained, form, surveyKept);
    const { snapshot } = buildVersion(parts, form, { active, pages: open.pages });
    return { snapshot, server: new SiteServer(bodies, { current: snapshot }, { onFault }) };
  }

  async #canonical(path: string, release: ReleaseView): Promise<string | null> {
    const active = this.#active;
    if (active === null) return null;
    const { config, hosts, basePath } = this.#config;
    const page = await this.#options.open.pages.find(path, release, active);
    const origin = publicOrigin(config.server.publicUrl, hosts) ?? '';
    return origin + basePath + encodeAddress(page);
  }
}

export async function surveyVersions(store: SiteStore, active: ReleaseView): Promise<VersionSurvey> {
  const versions = await keptVersions(store);
  const hasOthers = versions.some(({ digest, servedAt }) => digest !== active.digest && servedAt !== null);
  return { hasOthers, own: hasOthers ? await ownVersions(active) : [] };
}
