import { isDeepStrictEqual } from 'node:util';
import type { SiteConfig } from '../../config/index.ts';
import type { KeptRelease, ReleaseView } from '../../domain/release.ts';
import { loadSiteRules, type SiteServer, SiteSnapshot, type SnapshotForm } from '../../serve/index.ts';
import type { SiteRules } from '../../web/rules/index.ts';
import { policyHeaders } from '../slices.ts';

export function snapshotForm({ config, domain, basePath }: SiteConfig): SnapshotForm {
  const { trailingSlash, spaFallback, headers } = config.server;
  return {
    trailingSlash,
    basePath,
    spaFallback,
    headers: { ...headers, policy: policyHeaders(config, domain ?? '', basePath) },
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

/** The release that becomes active becomes the snapshot that is served. */
export class SiteSwitch {
  readonly #server: SiteServer;
  #form: SnapshotForm;
  #served: Served | null = null;

  constructor(server: SiteServer, form: SnapshotForm) {
    this.#server = server;
    this.#form = form;
  }

  get release(): ReleaseView | null {
    return this.#served?.active ?? null;
  }

  /** What of the site's own rules was not understood. */
  get notices(): readonly string[] {
    return this.#served?.rules.notices ?? [];
  }

  /** Builds the snapshot; the act that it gives only swaps a reference. */
  readonly prepare = async (active: ReleaseView, older: readonly KeptRelease[]): Promise<() => void> => {
    const served = { active, older, rules: await loadSiteRules(active) };
    const form = this.#form;
    const snapshot = snapshotOf(served, form);
    return () => {
      this.#served = served;
      // A reload may have come in between.
      this.#server.swap(form === this.#form ? snapshot : snapshotOf(served, this.#form));
    };
  };

  readonly useOthers = (older: readonly KeptRelease[]): void => {
    if (this.#served !== null) this.#serve({ ...this.#served, older });
  };

  readonly turnOff = (): void => {
    this.#served = null;
    this.#server.swap(null);
  };

  use(form: SnapshotForm): void {
    if (isDeepStrictEqual(form, this.#form)) return;
    this.#form = form;
    if (this.#served !== null) this.#serve(this.#served);
  }

  #serve(served: Served): void {
    this.#served = served;
    this.#server.swap(snapshotOf(served, this.#form));
  }
}
