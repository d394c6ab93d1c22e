import { setTimeout as sleep } from 'node:timers/promises';
import { DocshelfError } from '../../domain/errors.ts';
import { HEAPS, Thread, type ThreadCall, threadEntry } from '../../threads/index.ts';
import type { DaemonCalls, OpenedPort } from './orders.ts';
import type { ServingCalls, StartOrder } from './worker.ts';

export interface ServingProcessOptions {
  readonly start: () => StartOrder;
  /** Tells a new one all that it serves, and has it listen. */
  readonly open: (call: ThreadCall<ServingCalls>) => Promise<OpenedPort>;
  readonly calls: Pick<DaemonCalls, 'report' | 'fault'>;
  readonly onEnded: (fault: DocshelfError) => void;
  /** For tests, which cannot wait. */
  readonly answerMsMax?: number | undefined;
}

/** A process that answers nothing for so long is ended: its readers wait, and a swap does. */
const ANSWER_MS_MAX = 30_000;
/** In that time it is looked after so often. A daemon that was stopped itself finds the answers at its next look. */
const LOOKS = 3;
/** Of a start, with some thousand sites on a busy machine. */
const START_MS_MAX = 120_000;
/** One that lives for longer did not end by how it was started. */
const SOUND_MS = 60_000;
const AGAIN_MS_MAX = 10_000;
const LAST_REPORT_MS = 500;

interface TellOptions {
  readonly signal: AbortSignal;
  /** All sites may swap at once. */
  readonly isUrgent: boolean;
}

interface Incarnation {
  readonly thread: Thread<ServingCalls>;
  readonly startedMs: number;
  /** Of the start: from then on it is told of changes. */
  isFed: boolean;
  pid: number;
  isHung: boolean;
}

/** A place among the processes that serve. It is filled anew whenever its process ends. */
export class ServingProcess {
  readonly #options: ServingProcessOptions;
  readonly #answerMsMax: number;
  #current: Incarnation | null = null;
  #ready: Promise<OpenedPort> = Promise.reject(new Error('not started'));
  /** Others have taken their place, and they end what they have begun. */
  readonly #leaving = new Set<Thread<ServingCalls>>();
  #endedEarly = 0;
  #isStopping = false;

  constructor(options: ServingProcessOptions) {
    this.#options = options;
    this.#answerMsMax = options.answerMsMax ?? ANSWER_MS_MAX;
    this.#ready.catch(() => undefined);
  }

  /** Of the process that serves; null while one is started. */
  get running(): { readonly pid: number; readonly startedAt: string } | null {
    if (this.#current?.isFed !== true) return null;
    const { pid, startedMs } = this.#current;
    return { pid, startedAt: new Date(startedMs).toISOString() };
  }

  /** @throws DocshelfError of its listener, or `worker_ended` */
  start(): Promise<OpenedPort> {
    this.#begin();
    return this.#ready;
  }

  /** Resolves when the process has done it, or another one in its place that has been told by its start. Never rejects. */
  async tell(act: (call: ThreadCall<ServingCalls>, options: TellOptions) => Promise<unknown>): Promise<void> {
    const told = this.#current;
    if (told?.isFed === true) {
      const options = { signal: AbortSignal.timeout(this.#answerMsMax), isUrgent: true };
      const done = await act(told.thread.call, options).then(
        () => true,
        () => false,
      );
      if (done) return;
      // It may serve what it should not any more; another one is told all.
      if (this.#current === told && !this.#isStopping) await told.thread.terminate();
    }
    if (this.#isStopping) return;
    await Promise.race([this.#ready.catch(() => undefined), sleep(this.#answerMsMax, null, { ref: false })]);
  }

  async stop(deadlineMs: number): Promise<void> {
    this.#isStopping = true;
    // One that is not told what to serve yet has no readers.
    const current = this.#current?.isFed === true ? [this.#current.thread] : [];
    const signal = AbortSignal.timeout(deadlineMs + LAST_REPORT_MS);
    const stop = (thread: Thread<ServingCalls>): Promise<void> =>
      thread.call('stop', deadlineMs, { signal }).catch(() => undefined);
    await Promise.all([...current, ...this.#leaving].map(stop));
    await Promise.all([this.#current?.thread, ...this.#leaving].map((thread) => thread?.terminate()));
  }

  #begin(): void {
    const thread: Thread<ServingCalls> = new Thread({
      task: 'serve in a process of its own',
      heap: HEAPS.serving,
      entry: threadEntry('./worker', import.meta),
      isProcess: true,
      sharesPorts: true,
      isReplaced: false,
      handlers: { ...this.#options.calls, leave: () => this.#replace(thread) },
      onEnd: (fault) => this.#ended(thread, fault),
    });
    const current = { thread, startedMs: Date.now(), isFed: false, pid: 0, isHung: false };
    this.#current = current;
    this.#ready = this.#open(current);
    // One that cannot listen leaves its place.
    this.#ready.catch(() => void thread.terminate());
  }

  async #open(current: Incarnation): Promise<OpenedPort> {
    const { call } = current.thread;
    current.pid = await call('start', this.#options.start(), { signal: AbortSignal.timeout(START_MS_MAX) });
    current.isFed = true;
    this.#watch(current);
    return this.#options.open(call);
  }

  /** Ends one that hangs, whether or not it is told anything. */
  #watch(current: Incarnation): void {
    const { thread } = current;
    let unanswered = 0;
    const watch = setInterval(() => {
      if (unanswered >= LOOKS) {
        current.isHung = true;
        void thread.terminate();
      } else if (unanswered === 0) {
        void thread.call('ping', null, { isUrgent: true }).then(
          () => {
            unanswered = 0;
          },
          () => clearInterval(watch),
        );
      }
      unanswered += 1;
    }, this.#answerMsMax / LOOKS).unref();
  }

  async #replace(thread: Thread<ServingCalls>): Promise<void> {
    if (this.#isStopping || this.#current?.thread !== thread) return;
    this.#leaving.add(thread);
    this.#begin();
    await this.#ready.catch(() => undefined);
  }

  #ended(thread: Thread<ServingCalls>, fault: DocshelfError): void {
    if (this.#leaving.delete(thread) || this.#isStopping || this.#current?.thread !== thread) return;
    const isSound = Date.now() - this.#current.startedMs > SOUND_MS;
    this.#endedEarly = isSound ? 0 : this.#endedEarly + 1;
    this.#options.onEnded(this.#current.isHung ? hung(this.#answerMsMax) : fault);
    this.#current = null;
    const again = Promise.withResolvers<OpenedPort>();
    this.#ready = again.promise;
    again.promise.catch(() => undefined);
    const waitMs = this.#endedEarly <= 1 ? 0 : Math.min(AGAIN_MS_MAX, 100 * 2 ** this.#endedEarly);
    setTimeout(() => {
      if (this.#isStopping) return;
      this.#begin();
      again.resolve(this.#ready);
    }, waitMs);
  }
}

function hung(ms: number): DocshelfError {
  const message = `Cannot serve in a process of its own: it answered nothing for ${Math.round(ms / 1000)} s`;
  return new DocshelfError('worker_ended', message, { fields: { retryable: true } });
}
