import { mkdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DEFAULT_DOMAIN } from '../../domain/deployment.ts';
import type { ReleaseInfo, ReleaseView } from '../../domain/release.ts';
import { membersOf } from '../../domain/shape.ts';
import { isVersion } from '../../domain/version.ts';
import { flushPath, ifThere, namesIn, readIfThere, replaceFile, writeOnce } from '../../files/index.ts';
import type { Choice, ObservedState, ReleaseRef } from '../plan.ts';
import {
  type DataPaths,
  dataPaths,
  expectedDomain,
  hasDefaultDomain,
  moveInbox,
  refuseOldLayout,
  type SitePaths,
  settleFolderDomain,
  sitePaths,
} from './data-folder.ts';
import { DIGEST, ReleaseStore } from './release-store.ts';

export interface LabelPointer {
  readonly digest: string;
  readonly linkDigest: string | null;
  /**
   * Creation time of the bundle, RFC 3339, UTC. Stored per site: if the bundle states no time, the import sets it, so two
   * sites can have different times for one release.
   */
  readonly createdAt?: string;
}

export interface ActivePointer extends ReleaseRef {
  readonly activatedAt: string;
  /** Digest of the bundle that was fetched last. Fetching another digest replaces a release that an operator activated. */
  readonly lastFetched: string | null;
  readonly history: readonly ReleaseRef[];
}

export interface NewestRelease {
  readonly version: string;
  readonly createdAt: string;
}

/** Release that belongs to a site: the site imported or served the release, or a record of the site points to it. */
export interface OwnRelease extends ReleaseInfo {
  readonly servedAt: string | null;
}

export interface SiteRecords {
  readonly labels: ReadonlyMap<string, LabelPointer>;
  readonly active: ActivePointer | null;
  readonly choice: Choice | null;
  /** Releases that are complete and readable, by digest. */
  readonly releases: ReadonlyMap<string, OwnRelease>;
}

/** Entry of the `links` file: the digest that a link returned for a pinned version. */
interface FetchedLink {
  readonly link: string;
  readonly digest: string;
  readonly version: string;
}

/** Maximum entries of the `links` file. Contract section 2: "the last 50 triples". */
const LINKS_MAX = 50;

export class SiteStore extends ReleaseStore {
  readonly isListed: boolean;
  /** Domain of the site, and its paths. In a list of sites, the config sets the domain. Otherwise, `settleDomain` can change it. */
  site: SitePaths;

  constructor(paths: DataPaths, listed: string | null = null) {
    super(paths);
    this.isListed = listed !== null;
    this.site = sitePaths(paths, listed ?? DEFAULT_DOMAIN, this.isListed);
  }

  /** Opens the records of a site for reading only. @throws DocshelfError `data_folder_older` */
  static async read(dir: string, configuredDomain: string | null, listed: string | null = null): Promise<SiteStore> {
    const store = new SiteStore(dataPaths(dir), listed);
    await refuseOldLayout(store.paths);
    const domain = (await store.expectedDomain(configuredDomain)) ?? DEFAULT_DOMAIN;
    store.site = sitePaths(store.paths, domain, store.isListed);
    return store;
  }

  get domain(): string {
    return this.site.domain;
  }

  async open(): Promise<void> {
    const { inbox, rejected } = this.site;
    for (const folder of [inbox, rejected]) await mkdir(folder, { recursive: true });
    // Move archives from the inbox that this site had in a list of sites, because the config may have changed to a single site.
    if (!this.isListed) await moveInbox(sitePaths(this.paths, this.domain, true).inbox, inbox);
  }

  async expectedDomain(configured: string | null): Promise<string | null> {
    return this.isListed ? this.domain : expectedDomain(this.paths, configured);
  }

  /** True if neither a config nor a manifest has chosen the domain of the folder. */
  async hasDefaultDomain(): Promise<boolean> {
    return !this.isListed && (await hasDefaultDomain(this.paths));
  }

  async settleDomain(configured: string | null, bundle: { readonly manifestDomain: string | null } | null) {
    if (this.isListed) return;
    const domain = await settleFolderDomain(this.paths, configured, bundle);
    if (domain !== this.domain) this.site = sitePaths(this.paths, domain, false);
  }

  async labels(): Promise<Map<string, LabelPointer>> {
    const labels = new Map<string, LabelPointer>();
    for (const name of await namesIn(this.site.versions)) {
      const pointer = await this.label(name);
      if (pointer !== null) labels.set(name, pointer);
    }
    return labels;
  }

  async label(version: string): Promise<LabelPointer | null> {
    if (!isVersion(version)) return null;
    return this.#pointer<LabelPointer>(join(this.site.versions, version));
  }

  async setLabel(version: string, pointer: LabelPointer): Promise<void> {
    await this.#write(join(this.site.versions, version), pointer);
  }

  async removeLabel(version: string): Promise<void> {
    await rm(join(this.site.versions, version), { force: true });
    await flushPath(this.site.versions);
  }

  async active(): Promise<ActivePointer | null> {
    return this.#pointer<ActivePointer>(this.site.active);
  }

  async setActive(pointer: ActivePointer): Promise<void> {
    await this.#write(this.site.active, pointer);
  }

  async choice(): Promise<Choice | null> {
    return this.#pointer<Choice>(this.site.wanted);
  }

  async setChoice(choice: Choice | null): Promise<void> {
    if (choice !== null) return this.#write(this.site.wanted, choice);
    await rm(this.site.wanted, { force: true });
    await ifThere(flushPath(this.site.dir));
  }

  async servedAt(digest: string): Promise<string | null> {
    return (await readIfThere(join(this.site.served, digest)))?.trim() || null;
  }

  /** Time of the last change of the `served` folder, in milliseconds since 1970. 0 if no release was ever active. */
  async servedChangedMs(): Promise<number> {
    return (await ifThere(stat(this.site.served)))?.mtimeMs ?? 0;
  }

  async markServed(digest: string, at: string): Promise<void> {
    await this.#write(join(this.site.served, digest), at);
  }

  /** Records that the site owns a release. Call this before a version label points to it, so that no other site removes it. */
  async markOwned(digest: string): Promise<void> {
    await this.#makeFolder(this.site.served);
    await writeOnce(join(this.site.served, digest), '\n');
  }

  async forgetServed(digest: string): Promise<void> {
    await rm(join(this.site.served, digest), { force: true });
  }

  async newest(): Promise<NewestRelease | null> {
    const newest = membersOf<NewestRelease>(await readIfThere(this.site.newest));
    return typeof newest.createdAt !== 'string' ? null : (newest as NewestRelease);
  }

  /** Records the newest release that was active. Replaces a future creation time with now, so that docshelf accepts later bundles. */
  async noteActive(release: NewestRelease): Promise<void> {
    const newest = await this.newest();
    const now = new Date().toISOString();
    const createdAt = release.createdAt < now ? release.createdAt : now;
    if (newest !== null && newest.createdAt >= createdAt) return;
    await this.#write(this.site.newest, { ...release, createdAt });
  }

  async links(): Promise<readonly FetchedLink[]> {
    const links = membersOf(await readIfThere(this.site.links));
    return Array.isArray(links) ? links : [];
  }

  async addLink(added: FetchedLink): Promise<void> {
    const text = JSON.stringify(added);
    const others = (await this.links()).filter((known) => JSON.stringify(known) !== text);
    await this.#write(this.site.links, [...others, added].slice(-LINKS_MAX));
  }

  async preloadTable(): Promise<string | null> {
    return readIfThere(this.site.preloadTable);
  }

  /**
   * Writes the table of preloaded archives, if the data folder has a domain. Without one, the write would create a folder for
   * the default domain.
   */
  async setPreloadTable(text: string): Promise<void> {
    if ((await this.expectedDomain(null)) === this.domain) await this.#write(this.site.preloadTable, text);
  }

  async observe(): Promise<ObservedState & Pick<SiteRecords, 'releases'>> {
    const { labels, active, choice, releases } = await this.records();
    // Ignore version labels of damaged releases, so that docshelf fetches their bundles again.
    const readable = new Map<string, string>();
    for (const [version, { digest }] of labels) if (releases.has(digest)) readable.set(version, digest);
    const pointer = active === null ? undefined : labels.get(active.version);
    const ownTime = pointer?.digest === active?.digest ? pointer?.createdAt : undefined;
    const ofActive = active === null ? undefined : releases.get(active.digest);
    return {
      labels: readable,
      digests: releases,
      active,
      activeCreatedAt: ownTime ?? ofActive?.createdAt ?? null,
      choice,
      releases,
    };
  }

  /** Digests of the releases that the site owns. */
  async names(): Promise<ReadonlySet<string>> {
    return (await this.#named()).digests;
  }

  /** @throws DocshelfError `data_folder_newer` */
  async records(): Promise<SiteRecords> {
    const { digests, ...named } = await this.#named();
    const read = async (digest: string): Promise<OwnRelease | null> => {
      const info = await this.readable(digest);
      return info && { ...info, servedAt: await this.servedAt(digest) };
    };
    const releases = new Map<string, OwnRelease>();
    for (const release of await Promise.all([...digests].map(read)))
      if (release !== null) releases.set(release.digest, release);
    for (const { digest, createdAt } of named.labels.values()) {
      const release = releases.get(digest);
      if (release !== undefined && createdAt !== undefined) releases.set(digest, { ...release, createdAt });
    }
    return { ...named, releases };
  }

  async #named() {
    const labels = await this.labels();
    const active = await this.active();
    const choice = await this.choice();
    const claimed = (await namesIn(this.site.served)).filter((name) => DIGEST.test(name));
    const named = [...labels.values(), active, choice].flatMap((pointer) => pointer?.digest ?? []);
    return { labels, active, choice, digests: new Set([...named, ...claimed]) };
  }

  override async view(digest: string, version: string): Promise<ReleaseView> {
    const view = await super.view(digest, version);
    const pointer = await this.label(version);
    return pointer?.digest === digest ? { ...view, createdAt: pointer.createdAt ?? view.createdAt } : view;
  }

  /**
   * Removes releases of the site. Keeps the files of a release that another site uses.
   * @param choose function that returns the digests to remove; runs under the exclusive lock of the data folder
   */
  async removeReleases(choose: () => Promise<readonly string[]>): Promise<readonly string[]> {
    const folders: string[] = [];
    const digests = await this.whileStored('exclusive', async () => {
      const chosen = await choose();
      const elsewhere = chosen.length === 0 ? new Set<string>() : await this.#namedElsewhere();
      for (const digest of chosen) {
        for (const [version, pointer] of await this.labels()) {
          if (pointer.digest === digest) await this.removeLabel(version);
        }
        if (!elsewhere.has(digest)) folders.push(await this.putAside(digest));
        await this.forgetServed(digest);
      }
      return chosen;
    });
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
    return digests;
  }

  async #namedElsewhere(): Promise<Set<string>> {
    const domains = (await namesIn(this.paths.sites)).filter((domain) => domain !== this.domain);
    const names = domains.map((domain) => new SiteStore(this.paths, domain).names());
    return new Set((await Promise.all(names)).flatMap((each) => [...each]));
  }

  async #pointer<T extends { readonly digest: string }>(file: string): Promise<T | null> {
    const pointer = membersOf<T>(await readIfThere(file));
    const { digest } = pointer;
    const isPointer = typeof digest === 'string' && DIGEST.test(digest) && (await this.has(digest));
    return isPointer ? (pointer as T) : null;
  }

  async #write(file: string, value: unknown): Promise<void> {
    await this.#makeFolder(dirname(file));
    await replaceFile(file, `${typeof value === 'string' ? value : JSON.stringify(value)}\n`);
  }

  async #makeFolder(folder: string): Promise<void> {
    const made = await mkdir(folder, { recursive: true });
    if (made !== undefined) for (const parent of [this.site.dir, this.paths.sites]) await flushPath(parent);
  }
}
