import type { PrepareSwap } from '../deploy/index.ts';
import type { ReleaseView } from '../domain/release.ts';
import { type ServeSettings, type SiteServer, SiteSnapshot } from '../serve/index.ts';

type TrailingSlash = ServeSettings['trailingSlash'];

/** The release that becomes active becomes the snapshot that is served. */
export class SiteSwitch {
  readonly #server: SiteServer;
  #trailingSlash: TrailingSlash;
  #served: { readonly active: ReleaseView; readonly older: readonly ReleaseView[] } | null = null;

  constructor(server: SiteServer, trailingSlash: TrailingSlash) {
    this.#server = server;
    this.#trailingSlash = trailingSlash;
  }

  /** Builds the snapshot; the act that it gives only swaps a reference. */
  readonly prepare: PrepareSwap = (active, older) => {
    const snapshot = new SiteSnapshot(active, older, { trailingSlash: this.#trailingSlash });
    return () => {
      this.#served = { active, older };
      this.#server.swap(snapshot);
    };
  };

  readonly turnOff = (): void => {
    this.#served = null;
    this.#server.swap(null);
  };

  useTrailingSlash(trailingSlash: TrailingSlash): void {
    if (trailingSlash === this.#trailingSlash) return;
    this.#trailingSlash = trailingSlash;
    if (this.#served !== null) this.prepare(this.#served.active, this.#served.older)();
  }
}
