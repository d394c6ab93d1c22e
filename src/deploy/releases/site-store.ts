import { mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DEFAULT_DOMAIN } from '../../domain/deployment.ts';
import { membersOf } from '../../domain/shape.ts';
import { isVersion } from '../../domain/version.ts';
import { flushPath, ifThere, readIfThere, replaceFile } from '../../files/index.ts';
import type { Choice, ReleaseRef } from '../plan.ts';
import { dataPaths, refuseOldLayout, type SitePaths, sitePaths } from './data-folder.ts';
import { DIGEST, ReleaseStore } from './release-store.ts';
import { expectedDomain, settleFolderDomain } from './site-domain.ts';

export interface LabelPointer {
  readonly digest: string;
  /** SHA-256 of the link that it was fetched from; null where it was not fetched. */
  readonly linkDigest: string | null;
}

/** `active`: what an unpinned start serves, and the way back. */
export interface ActivePointer extends ReleaseRef {
  readonly activatedAt: string;
  /** A start that fetches another digest than this ends an operator's choice. */
  readonly lastFetched: string | null;
  readonly history: readonly ReleaseRef[];
}

/** A line of `links`: what a link gave for a pinned version. */
export interface FetchedLink {
  /** Without its query. */
  readonly link: string;
  readonly digest: string;
  readonly version: string;
}

/** Contract section 2: "the last 50 triples". */
const LINKS_MAX = 50;

export class SiteStore extends ReleaseStore {
  #domain = DEFAULT_DOMAIN;

  /** For reading alone. @throws DocshelfError `data_folder_older` */
  static async read(dir: string, configuredDomain: string | null): Promise<SiteStore> {
    const store = new SiteStore(dataPaths(dir));
    await refuseOldLayout(store.paths);
    store.#domain = (await expectedDomain(store.paths, configuredDomain)) ?? DEFAULT_DOMAIN;
    return store;
  }

  get domain(): string {
    return this.#domain;
  }

  get site(): SitePaths {
    return sitePaths(this.paths, this.#domain);
  }

  /** @throws DocshelfError `config_invalid` */
  async settleDomain(configured: string | null, bundle: { readonly manifestDomain: string | null } | null) {
    this.#domain = await settleFolderDomain(this.paths, configured, bundle);
  }

  async labels(): Promise<Map<string, LabelPointer>> {
    const labels = new Map<string, LabelPointer>();
    for (const name of await namesIn(this.site.versions)) {
      const pointer = await this.label(name);
      if (pointer !== null) labels.set(name, pointer);
    }
    return labels;
  }

  /** Null where it leads to no complete release. */
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

  /** Digest -> RFC 3339 of the last time that it was active. */
  async served(): Promise<Map<string, string>> {
    const served = new Map<string, string>();
    for (const digest of await namesIn(this.site.served)) {
      const at = DIGEST.test(digest) ? await readIfThere(join(this.site.served, digest)) : null;
      if (at !== null) served.set(digest, at.trim());
    }
    return served;
  }

  async markServed(digest: string, at: string): Promise<void> {
    await this.#write(join(this.site.served, digest), at);
  }

  async forgetServed(digest: string): Promise<void> {
    await rm(join(this.site.served, digest), { force: true });
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

  /** Not before the site has a folder: the table only saves hashing. */
  async setPreloadTable(text: string): Promise<void> {
    if ((await expectedDomain(this.paths, null)) === this.#domain) await this.#write(this.site.preloadTable, text);
  }

  /** Digests that no other site of the folder names. */
  async ownDigests(): Promise<Set<string>> {
    const own = new Set((await this.list()).map((info) => info.digest));
    for (const domain of await namesIn(this.paths.sites)) {
      if (domain === this.#domain) continue;
      const other = new SiteStore(this.paths);
      other.#domain = domain;
      const active = await other.active();
      const named = [...(await other.labels()).values(), ...(active === null ? [] : [active, ...active.history])];
      for (const digest of [...named.map((each) => each.digest), ...(await other.served()).keys()]) own.delete(digest);
    }
    return own;
  }

  /** Null where it cannot be read, or leads to no complete release. */
  async #pointer<T extends { readonly digest: string }>(file: string): Promise<T | null> {
    const pointer = membersOf<T>(await readIfThere(file));
    const { digest } = pointer;
    const isPointer = typeof digest === 'string' && DIGEST.test(digest) && (await this.has(digest));
    return isPointer ? (pointer as T) : null;
  }

  async #write(file: string, value: unknown): Promise<void> {
    const made = await mkdir(dirname(file), { recursive: true });
    if (made !== undefined) for (const folder of [this.site.dir, this.paths.sites]) await flushPath(folder);
    await replaceFile(file, `${typeof value === 'string' ? value : JSON.stringify(value)}\n`);
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return (await ifThere(readdir(folder))) ?? [];
}
