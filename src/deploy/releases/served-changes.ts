import type { SiteStore } from './site-store.ts';

/** A file system may know no time between two seconds, FAT between two even ones: what has just changed may change again unseen. */
const TICK_MS = 2_000;

/** Tells when a daemon on the folder has marked a release as served: before it serves it, so that others know it in time. */
export class ServedChanges {
  readonly #store: Pick<SiteStore, 'servedChangedMs'>;
  #seenMs = 0;
  #following: Promise<void> | null = null;

  constructor(store: Pick<SiteStore, 'servedChangedMs'>) {
    this.#store = store;
  }

  /** Carries `act` out where something has changed since it was last carried out; who asks meanwhile waits for the next one. */
  async follow(act: () => Promise<void>): Promise<void> {
    const changedMs = await this.#store.servedChangedMs();
    if (changedMs === this.#seenMs) return;
    // One that began earlier may have read the folder before this change.
    await this.#following;
    this.#following ??= act().finally(() => {
      this.#following = null;
    });
    await this.#following;
    this.#seenMs = Date.now() - changedMs > TICK_MS ? changedMs : 0;
  }
}
