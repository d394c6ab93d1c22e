import { isDeepStrictEqual } from 'node:util';
import type { SiteConfig } from '../../config/index.ts';
import type { KeptRelease, ReleaseView } from '../../domain/release.ts';
import type { SiteAssets } from '../../http/site/site-assets.ts';
import { loadSiteRules, type SiteServer, SiteSnapshot, type SnapshotForm } from '../../serve/index.ts';
import type { SiteRules } from '../../web/rules/index.ts';
import { policyHeaders } from '../slices.ts';
import { pageAdditions } from './page-additions.ts';

/** @param hasSearch as the site was opened: `search.enabled` waits for a restart */
export function snapshotForm(
  site: SiteConfig,
  assets: SiteAssets,
  hasSearch = site.config.search.enabled,
): SnapshotForm {
  const { config, domain, basePath } = site;
  const { trailingSlash, spaFallback, headers, markdown } = config.server;
  return {
    trailingSlash,
    basePath,
    spaFallback,
    markdown,
    headers: { ...headers, policy: policyHeaders(config, domain ?? '', basePath) },
    additions: pageAdditions(site, assets),
    search: hasSearch ? { address: `${basePath}_docshelf/search`, version: null } : null,
  };
}

interface Served {
  readonly active: ReleaseView;
  readonly older: readonly KeptRelease[];
  readonly rules: SiteRules;
}

function snapshotOf({ active, older, rules }: Served, form: SnapshotForm): SiteSnapshot {
  return new SiteSnapshot(active, older, form, rules);
}

/** Other processes that serve the site, too. */
export interface SwapFollower {
  /** Resolves when all of them are ready for the act, which resolves when all of them have made the swap. */
  prepare(served: ServedRelease, form: SnapshotForm): Promise<() => Promise<void>>;
  /** @param served null: nothing is served */
  follow(served: ServedRelease | null, form: SnapshotForm): Promise<void>;
}

type ServedRelease = Pick<Served, 'active' | 'older'>;

/** In the tick of each swap, by another release or another form. */
type OnServed = (served: ServedRelease, form: SnapshotForm) => void;

/** The release that becomes active becomes the snapshot that is served. */
export class SiteSwitch {
  readonly #server: SiteServer;
  readonly #follower: SwapFollower | null;
  readonly #onServed: OnServed;
  #form: SnapshotForm;
  #served: Served | null = null;

  constructor(
    server: SiteServer,
    form: SnapshotForm,
    follower: SwapFollower | null = null,
    onServed: OnServed = () => undefined,
  ) {
    this.#server = server;
    this.#form = form;
    this.#follower = follower;
    this.#onServed = onServed;
  }

  get release(): ReleaseView | null {
    return this.#served?.active ?? null;
  }

  /** What of the site's own rules was not understood. */
  get notices(): readonly string[] {
    return this.#served?.rules.notices ?? [];
  }

  /** Builds the snapshot; the act that it gives only swaps a reference, here and in the processes that follow. */
  readonly prepare = async (active: ReleaseView, older: readonly KeptRelease[]): Promise<() => Promise<void>> => {
    const served = { active, older, rules: await loadSiteRules(active) };
    const form = this.#form;
    const snapshot = snapshotOf(served, form);
    const followers = await this.#follower?.prepare(served, form);
    return async () => {
      // A reload may have come in between.
      if (form !== this.#form) return this.#serve(served);
      this.#swap(served, snapshot);
      await followers?.();
    };
  };

  readonly useOthers = (older: readonly KeptRelease[]): void => {
    if (this.#served !== null) void this.#serve({ ...this.#served, older });
  };

  readonly turnOff = async (): Promise<void> => {
    this.#served = null;
    this.#server.swap(null);
    await this.#follower?.follow(null, this.#form);
  };

  use(form: SnapshotForm): void {
    if (isDeepStrictEqual(form, this.#form)) return;
    this.#form = form;
    if (this.#served !== null) void this.#serve(this.#served);
  }

  async #serve(served: Served): Promise<void> {
    this.#swap(served, snapshotOf(served, this.#form));
    await this.#follower?.follow(served, this.#form);
  }

  #swap(served: Served, snapshot: SiteSnapshot): void {
    this.#served = served;
    this.#server.swap(snapshot);
    this.#onServed(served, this.#form);
  }
}
