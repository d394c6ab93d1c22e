import type { Config } from '../../config/index.ts';
import type { PrepareSwap } from '../../deploy/index.ts';
import type { ReleaseView } from '../../domain/release.ts';
import { type SiteServer, SiteSnapshot, type SnapshotForm } from '../../serve/index.ts';
import { normalBasePath } from '../../web/mount/base-path.ts';

export function snapshotForm({ server }: Config): SnapshotForm {
  return { trailingSlash: server.trailingSlash, basePath: normalBasePath(server.basePath) };
}

/** The release that becomes active becomes the snapshot that is served. */
export class SiteSwitch {
  readonly #server: SiteServer;
  #form: SnapshotForm;
  #served: { readonly active: ReleaseView; readonly older: readonly ReleaseView[] } | null = null;

  constructor(server: SiteServer, form: SnapshotForm) {
    this.#server = server;
    this.#form = form;
  }

  get release(): ReleaseView | null {
    return this.#served?.active ?? null;
  }

  /** Builds the snapshot; the act that it gives only swaps a reference. */
  readonly prepare: PrepareSwap = (active, older) => {
    const snapshot = new SiteSnapshot(active, older, this.#form);
    return () => {
      this.#served = { active, older };
      this.#server.swap(snapshot);
    };
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
