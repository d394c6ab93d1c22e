import { LRUCache } from 'lru-cache';
import type { Config, SiteConfig } from '../../config/index.ts';
import { type KeptVersion, keptVersion, keptVersions, mayBeRead, type ReleaseRef } from '../../deploy/index.ts';
import { isVersion } from '../../domain/version.ts';
import { type Beside, buildVersion, readVersion, SamePages, type SiteSnapshot } from '../../serve/index.ts';
import type { DocumentedVersions } from '../assistants/site-documentation.ts';
import { snapshotForm } from '../sites/site-form.ts';
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
    const known = this.#open.get(key);
    if (known !== undefined) return known;
    const opening = this.#read({ version, digest }, beside);
    this.#open.set(key, opening);
    // What is missing now may be there at the next question.
    opening.catch(() => this.#open.delete(key));
    return opening;
  }

  /** @throws DocshelfError `release_damaged` */
  async #read({ version, digest }: ReleaseRef, beside: Beside | null): Promise<SiteSnapshot> {
    const store = await readStore(this.#site.config);
    const parts = await readVersion(await store.view(digest, version), []);
    return buildVersion(parts, snapshotForm(this.#site), beside).snapshot;
  }
}

/** Assistants read Markdown, which contains no notice about the active version. */
const BESIDE: Beside = { active: null, pages: new SamePages() };

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
