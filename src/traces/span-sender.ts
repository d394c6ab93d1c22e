import { DocshelfError, toDocshelfError } from '../domain/errors.ts';
import type { EndedSpan } from './recorder.ts';

/** Posts spans. @throws DocshelfError where nothing answered; the signal's reason */
export type SendSpans = (
  spans: readonly EndedSpan[],
  signal: AbortSignal,
) => Promise<{ readonly status: number; readonly retryAfterMs: number | null }>;

interface SpanSenderOptions {
  readonly send: SendSpans;
  /** Once, until one is taken again. */
  readonly onAway: (error: DocshelfError) => void;
  /** @param lost spans, meanwhile */
  readonly onBack: (lost: number) => void;
  /** For tests. */
  readonly everyMs?: number;
}

/** Some 2 MiB. What comes on top is lost: traces cost jobs nothing. */
const WAITING_MAX = 4_096;
const SPANS_PER_REQUEST_MAX = 512;
const EVERY_MS = 5_000;
/** As OpenTelemetry's exporters have it by default. */
const SEND_MS_MAX = 10_000;
const PAUSE_MS_MAX = 60_000;
const STOP_MS_MAX = 2_000;

/** OTLP specification 1.9, "Retryable Response Codes"; other refusals are for good. */
const MAY_PASS: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Keeps what has ended until the collector has taken it, bounded in number and time. Nobody waits for it but the stop. */
export class SpanSender {
  readonly #options: SpanSenderOptions;
  readonly #everyMs: number;
  readonly #ending = new AbortController();
  #waiting: EndedSpan[] = [];
  #timer: NodeJS.Timeout | null = null;
  #sending: Promise<void> = Promise.resolve();
  #isStopping = false;
  #failures = 0;
  #lost = 0;

  constructor(options: SpanSenderOptions) {
    this.#options = options;
    this.#everyMs = options.everyMs ?? EVERY_MS;
  }

  add(span: EndedSpan): void {
    if (this.#waiting.length < WAITING_MAX) this.#waiting.push(span);
    else this.#lost += 1;
    this.#sendIn(this.#everyMs);
  }

  /** Sends what waits, for two seconds at the most. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    const bound = setTimeout(() => this.#ending.abort(), STOP_MS_MAX);
    await this.#sending;
    if (!this.#ending.signal.aborted) await this.#sendAll();
    clearTimeout(bound);
  }

  #sendIn(ms: number): void {
    if (this.#timer !== null || this.#isStopping) return;
    const send = async (): Promise<void> => {
      const pauseMs = await this.#sendAll();
      this.#timer = null;
      if (this.#waiting.length > 0) this.#sendIn(pauseMs);
    };
    this.#timer = setTimeout(() => {
      this.#sending = send();
    }, ms).unref();
  }

  /** @returns for how long the next try may wait */
  async #sendAll(): Promise<number> {
    while (this.#waiting.length > 0) {
      const spans = this.#waiting.slice(0, SPANS_PER_REQUEST_MAX);
      const { fault, isFinal, retryAfterMs } = await this.#send(spans);
      if (fault === null || isFinal) this.#waiting = this.#waiting.slice(spans.length);
      if (fault === null) {
        this.#isBack();
        continue;
      }
      if (isFinal) this.#lost += spans.length;
      if (this.#failures === 0) this.#options.onAway(fault);
      this.#failures += 1;
      return Math.min(PAUSE_MS_MAX, Math.max(retryAfterMs, this.#everyMs * 2 ** Math.min(this.#failures - 1, 10)));
    }
    return this.#everyMs;
  }

  async #send(spans: readonly EndedSpan[]) {
    try {
      const signal = AbortSignal.any([this.#ending.signal, AbortSignal.timeout(SEND_MS_MAX)]);
      const { status, retryAfterMs } = await this.#options.send(spans, signal);
      const isTaken = status >= 200 && status < 300;
      const fault = isTaken ? null : refused(status);
      return { fault, isFinal: !MAY_PASS.has(status), retryAfterMs: retryAfterMs ?? 0 };
    } catch (error) {
      return { fault: unsent(error), isFinal: false, retryAfterMs: 0 };
    }
  }

  #isBack(): void {
    if (this.#failures === 0) return;
    this.#options.onBack(this.#lost);
    this.#failures = 0;
    this.#lost = 0;
  }
}

const NEXT =
  'Jobs and pages go on without. Check traces.endpoint, behind which /v1/traces is put, and traces.headersFile.';

function refused(status: number): DocshelfError {
  return new DocshelfError('source_failed', `Cannot send traces: the collector answers ${status}`, { next: NEXT });
}

function unsent(error: unknown): DocshelfError {
  if (error instanceof DOMException) {
    return new DocshelfError('source_timeout', 'Cannot send traces: the collector gives no answer in time', {
      next: NEXT,
    });
  }
  const { code, message } = toDocshelfError(error);
  return new DocshelfError(code, `Cannot send traces: ${message}`, { next: NEXT, cause: error });
}
