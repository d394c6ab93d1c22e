import type { SiteConfig } from '../../config/index.ts';
import type { PrepareSwap } from '../../deploy/index.ts';
import type { KeptRelease, ReleaseView } from '../../domain/release.ts';
import { type SiteServer, SiteSnapshot, type SnapshotForm } from '../../serve/index.ts';

export function snapshotForm({ config, basePath }: SiteConfig): SnapshotForm {
  return { trailingSlash: config.server.trailingSlash, basePath };
}

/** The release that becomes active becomes the snapshot that is served. */
export class SiteSwitch {
  readonly #server: SiteServer;
  #form: SnapshotForm;
  #served: { readonly active: ReleaseView; readonly older: readonly KeptRelease[] } | null = null;

  constructor(server: SiteServer, form: SnapshotForm) {
    this.#server = server;
    this.#form = form;
  }

  get release(): ReleaseView | null {
    return this.#served?.active ?? null;
  }

  /** Builds the snapshot; the act that it gives only swaps a reference. */
  readonly prepare: PrepareSwap = (active, older) => {
    const form = this.#form;
    const snapshot = new SiteSnapshot(active, older, form);
    return () => {
      this.#served = { active, older };
      // A reload may have come in between.
      this.#server.swap(form === this.#form ? snapshot : new SiteSnapshot(active, older, this.#form));
    };
  };

  readonly useOthers = (older: readonly KeptRelease[]): void => {
    if (this.#served !== null) this.prepare(this.#served.active, older)();
  };

  readonly turnOff = (): void => {
    this.#served = null;
    this.#server.swap(null);
  };

  use(form: SnapshotForm): void {
    if (form.trailingSlash === this.#form.trailingSlash && form.basePath === this.#form.basePath) return;
    this.#form = form;
    if (this.#served !== null) this.prepare(this.#served.active, this.#served.older)();
  }
}
