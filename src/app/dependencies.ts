import { setTimeout as sleep } from 'node:timers/promises';

export type DependencyName = 'database' | 'bucket';

export type DependencyState = { readonly dependency: DependencyName; readonly isUp: boolean };

/** Functions that check an external server. Each starts a check, or returns null if the daemon does not use the server. */
type Checks = Readonly<Record<DependencyName, () => Promise<void> | null>>;

/** Minimum time between checks of an external server. Clients can read the cached state more often. */
const EVERY_MS = 30_000;
const CHECK_MS_MAX = 2_000;

/** Checks the database and the bucket when a client requests their state, and caches the result. */
export class Dependencies {
  readonly #checks: Checks;
  #last: { readonly atMs: number; readonly states: Promise<readonly DependencyState[]> } | null = null;

  constructor(checks: Checks) {
    this.#checks = checks;
  }

  /** State of each external server that the daemon uses. Resolves within two seconds, and never rejects. */
  read(): Promise<readonly DependencyState[]> {
    const atMs = performance.now();
    if (this.#last === null || atMs - this.#last.atMs >= EVERY_MS) this.#last = { atMs, states: this.#check() };
    return this.#last.states;
  }

  async notices(): Promise<string[]> {
    const names = { database: 'database (database.urlFile)', bucket: 'bucket of exports (exportApi.store)' };
    const down = (await this.read()).filter(({ isUp }) => !isUp);
    return down.map(
      ({ dependency }) => `The ${names[dependency]} does not respond. To find the cause, run "docshelf doctor".`,
    );
  }

  #check(): Promise<readonly DependencyState[]> {
    const states = (['database', 'bucket'] as const).flatMap((dependency) => {
      const running = this.#checks[dependency]()?.then(
        () => true,
        () => false,
      );
      return running === undefined ? [] : [inTime(running).then((up) => ({ dependency, isUp: up === true }))];
    });
    return Promise.all(states);
  }
}

/** Resolves to null after two seconds. If one server's check took longer, Prometheus would discard all metrics of the daemon. */
export function inTime<T>(result: Promise<T>): Promise<T | null> {
  return Promise.race([result, sleep(CHECK_MS_MAX, null, { ref: false })]);
}
