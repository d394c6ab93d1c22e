import { DocshelfError } from '../domain/errors.ts';

/** More than a second's worth is of no use to whoever waits. */
const WAITING_MAX = 400;
/** The thread looks words up for one while the model reads for others: with eight it is never idle. */
const RUNNING_MAX = 8;

/** Queries of all sites to one thread, in turns: one site after the other, so that no site waits behind all that are asked of another. */
export class QueryTurns {
  /** By site, the next one first. */
  readonly #waiting = new Map<object, PromiseWithResolvers<void>[]>();
  #running = 0;

  /** @throws DocshelfError `queue_full` where too many of the site's queries wait; what the task throws */
  async run<Result>(site: object, task: () => Promise<Result>): Promise<Result> {
    if (this.#running < RUNNING_MAX) this.#running += 1;
    else await this.#turn(site);
    try {
      return await task();
    } finally {
      this.#next();
    }
  }

  #turn(site: object): Promise<void> {
    const queue = this.#waiting.get(site) ?? [];
    if (queue.length >= WAITING_MAX) {
      throw new DocshelfError('queue_full', 'Cannot search now: too many calls are waiting', {
        next: 'Try again in a moment.',
        fields: { retryAfterS: 1 },
      });
    }
    const turn = Promise.withResolvers<void>();
    queue.push(turn);
    this.#waiting.set(site, queue);
    return turn.promise;
  }

  /** The place is handed on. */
  #next(): void {
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#running -= 1;
      return;
    }
    const [site, queue] = first;
    queue.shift()?.resolve();
    // Behind the other sites.
    this.#waiting.delete(site);
    if (queue.length > 0) this.#waiting.set(site, queue);
  }
}
