import { LRUCache } from 'lru-cache';
import type { Config, SiteConfig } from '../../config/index.ts';
import { type KeptVersion, keptVersion, keptVersions, mayBeRead, type ReleaseRef } from '../../deploy/index.ts';
import { versionRoot } from '../../domain/release.ts';
import { isVersion } from '../../domain/version.ts';
import { loadSiteRules, SiteSnapshot } from '../../serve/index.ts';
import type { DocumentedVersions } from '../assistants/site-documentation.ts';
import { snapshotForm } from '../sites/site-switch.ts';
import { readStore } from '../slices.ts';

/** With their tables in memory: the active version, and some that are compared with it. */
const OPEN_MAX = 4;

/** Versions of a site as they lie on disk, with or without a daemon. */
export class StoredVersions implements DocumentedVersions {
  readonly #site: SiteConfig;
  readonly #active: () => Promise<ReleaseRef | null>;
  readonly #open = new LRUCache<string, Promise<SiteSnapshot>>({ max: OPEN_MAX });

  /** @param active the version that readers get now: asked for each question, since it may change in between */
  constructor(site: SiteConfig, active: () => Promise<ReleaseRef | null>) {
    this.#site = site;
    this.#active = active;
  }

  async at(version: string | null): Promise<SiteSnapshot | null> {
    const active = await this.#active();
    if (active === null) return null;
    const { config, basePath } = this.#site;
    if (version === null || version === active.version) return this.#snapshot(active, basePath);
    const kept = await readableVersion(config, active, version);
    if (kept?.digest === active.digest) return this.#snapshot(active, basePath);
    return kept && this.#snapshot(kept, versionRoot(basePath, version));
  }

  async labels(): Promise<readonly string[]> {
    const active = await this.#active();
    if (active === null) return [];
    const { config } = this.#site;
    const stored = areKept(config) ? await keptVersions(await readStore(config)) : [];
    const labels = stored.filter((kept) => mayBeRead(kept, active)).map(({ version }) => version);
    return labels.includes(active.version) ? labels : [active.version, ...labels];
  }

  #snapshot({ version, digest }: ReleaseRef, basePath: string): Promise<SiteSnapshot> {
    const key = [version, digest, basePath].join('\n');
    const known = this.#open.get(key);
    if (known !== undefined) return known;
    const opening = this.#read({ version, digest }, basePath);
    this.#open.set(key, opening);
    // What is missing now may be there at the next question.
    opening.catch(() => this.#open.delete(key));
    return opening;
  }

  /** @throws DocshelfError `release_damaged` */
  async #read({ version, digest }: ReleaseRef, basePath: string): Promise<SiteSnapshot> {
    const store = await readStore(this.#site.config);
    const view = await store.view(digest, version);
    const form = { ...snapshotForm(this.#site), basePath };
    return new SiteSnapshot(view, [], form, await loadSiteRules(view));
  }
}

const areKept = ({ staticExport }: Config): boolean => staticExport.serveVersions === 'kept';

/** Null for what is no version that readers of the site may read. @param config of the site alone */
export async function readableVersion(
  config: Config,
  active: ReleaseRef,
  version: string,
): Promise<KeptVersion | null> {
  if (!areKept(config) || !isVersion(version)) return null;
  const kept = await keptVersion(await readStore(config), version);
  return kept !== null && mayBeRead(kept, active) ? kept : null;
}
