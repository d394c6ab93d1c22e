interface Running<Result> {
  readonly result: Promise<Result>;
  readonly abort: AbortController;
  wanted: number;
}

/** Work by a key: whoever asks for what is under way joins it, and it is given up once nobody wants it any more. */
export class SharedWork<Result> {
  readonly #running = new Map<string, Running<Result>>();

  /** @throws what the work throws; the signal's reason, and for the last who wanted it once the work has ended */
  async run(key: string, work: (signal: AbortSignal) => Promise<Result>, signal: AbortSignal): Promise<Result> {
    signal.throwIfAborted();
    let running = this.#running.get(key);
    while (running?.abort.signal.aborted) {
      await running.result.catch(() => undefined);
      running = this.#running.get(key);
      signal.throwIfAborted();
    }
    running ??= this.#start(key, work);
    return this.#join(running, signal);
  }

  #start(key: string, work: (signal: AbortSignal) => Promise<Result>): Running<Result> {
    const abort = new AbortController();
    const result = work(abort.signal).finally(() => this.#running.delete(key));
    // Everybody may have left it.
    result.catch(() => undefined);
    const running = { result, abort, wanted: 0 };
    this.#running.set(key, running);
    return running;
  }

  async #join(running: Running<Result>, signal: AbortSignal): Promise<Result> {
    const left = Promise.withResolvers<never>();
    const leave = (): void => {
      running.wanted -= 1;
      if (running.wanted === 0) running.abort.abort(signal.reason);
      else left.reject(signal.reason);
    };
    running.wanted += 1;
    signal.addEventListener('abort', leave, { once: true });
    try {
      return await Promise.race([running.result, left.promise]);
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }
}
