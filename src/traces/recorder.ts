import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { DocshelfError, toDocshelfError } from '../domain/errors.ts';
import type { Span, SpanFacts, SpanKind, SpanOptions, Tracer } from './tracer.ts';

export interface EndedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly kind: SpanKind;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly facts: SpanFacts;
  readonly error: string | null;
}

export class Recorder implements Tracer {
  readonly #running = new AsyncLocalStorage<OpenSpan>();
  readonly #onEnded: (span: EndedSpan) => void;

  constructor(onEnded: (span: EndedSpan) => void) {
    this.#onEnded = onEnded;
  }

  get traceparent(): string | null {
    const running = this.#running.getStore();
    return running === undefined ? null : writeTraceparent(running.leads());
  }

  async span<T>(name: string, { kind = 'internal', parent, facts = {} }: SpanOptions, act: (span: Span) => Promise<T>) {
    const above = parent === undefined ? (this.#running.getStore()?.leads() ?? null) : readTraceparent(parent);
    const span = new OpenSpan(name, kind, above, facts);
    try {
      return await this.#running.run(span, act, span);
    } catch (error) {
      span.fail(error);
      throw error;
    } finally {
      const ended = span.end();
      if (ended !== null) this.#onEnded(ended);
    }
  }

  follow(traceparent: string | null): void {
    this.#running.getStore()?.follow(readTraceparent(traceparent));
  }
}

class OpenSpan implements Span {
  readonly #name: string;
  readonly #kind: SpanKind;
  readonly #startedAtMs = Date.now();
  readonly #startedMs = performance.now();
  #parent: SpanPlace | null;
  #place: SpanPlace;
  #hasChildren = false;
  #facts: SpanFacts;
  #error: string | null = null;

  constructor(name: string, kind: SpanKind, parent: SpanPlace | null, facts: SpanFacts) {
    this.#name = name;
    this.#kind = kind;
    this.#parent = parent;
    this.#facts = facts;
    const { traceId = randomId(16), isSampled = true } = parent ?? {};
    this.#place = { traceId, isSampled, spanId: randomId(8) };
  }

  leads(): SpanPlace {
    this.#hasChildren = true;
    return this.#place;
  }

  note(facts: SpanFacts): void {
    this.#facts = { ...this.#facts, ...facts };
  }

  fail(error: unknown): void {
    const { code, message } = toDocshelfError(error);
    this.#error = message;
    this.note({ 'error.type': code });
  }

  follow(cause: SpanPlace | null): void {
    if (cause === null || this.#parent !== null || this.#hasChildren) return;
    this.#parent = cause;
    this.#place = { ...cause, spanId: this.#place.spanId };
  }

  end(): EndedSpan | null {
    const { traceId, spanId, isSampled } = this.#place;
    if (!isSampled) return null;
    return {
      traceId,
      spanId,
      parentSpanId: this.#parent?.spanId ?? null,
      name: this.#name,
      kind: this.#kind,
      startedAtMs: this.#startedAtMs,
      endedAtMs: this.#startedAtMs + performance.now() - this.#startedMs,
      facts: this.#facts,
      error: this.#error,
    };
  }
}

const randomId = (bytes: number): string => randomBytes(bytes).toString('hex');

interface SpanPlace {
  readonly traceId: string;
  readonly spanId: string;
  /** True if the client that started the trace records it. docshelf discards the spans of other traces. */
  readonly isSampled: boolean;
}

/** Format of `traceparent` (W3C Trace Context, section 3.2.2). Later versions can append fields; version ff is invalid. */
const FORM =
  /^(?!ff)(?<version>[0-9a-f]{2})-(?<traceId>[0-9a-f]{32})-(?<spanId>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})(?<more>-.*)?$/;
const SAMPLED = 1;

/** Returns null for an invalid header, because W3C Trace Context requires docshelf to ignore such a header. */
export function readTraceparent(text: string | null | undefined): SpanPlace | null {
  const { version, traceId, spanId, flags, more } = FORM.exec(text ?? '')?.groups ?? {};
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId) || (version === '00' && more !== undefined)) return null;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) !== 0 };
}

const writeTraceparent = ({ traceId, spanId, isSampled }: SpanPlace): string =>
  `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;

export type SendSpans = (
  spans: readonly EndedSpan[],
  signal: AbortSignal,
) => Promise<{ readonly status: number; readonly retryAfterMs: number | null }>;

interface SpanSenderOptions {
  readonly send: SendSpans;
  readonly onAway: (error: DocshelfError) => void;
  readonly onBack: (lost: number) => void;
  readonly everyMs?: number;
}

/** Maximum spans in memory, about 2 MiB. Further spans are dropped, so that tracing never delays a job. */
const WAITING_MAX = 4_096;
const SPANS_PER_REQUEST_MAX = 512;
const EVERY_MS = 5_000;
const SEND_MS_MAX = 10_000;
const PAUSE_MS_MAX = 60_000;
const STOP_MS_MAX = 2_000;

/** Status codes to retry (OTLP specification 1.9, "Retryable Response Codes"). All other error codes are final. */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Keeps a limited number of ended spans until the collector has accepted them. Only `stop` waits for the collector. */
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
      return { fault, isFinal: !RETRYABLE.has(status), retryAfterMs: retryAfterMs ?? 0 };
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
  'Check traces.headersFile and traces.endpoint. docshelf appends /v1/traces to the endpoint. Pages and jobs are not affected.';

function refused(status: number): DocshelfError {
  return new DocshelfError('source_failed', `Cannot send traces: the collector responds with ${status}`, {
    next: NEXT,
  });
}

function unsent(error: unknown): DocshelfError {
  if (error instanceof DOMException) {
    return new DocshelfError('source_timeout', 'Cannot send traces: the collector does not respond in time', {
      next: NEXT,
    });
  }
  const { code, message } = toDocshelfError(error);
  return new DocshelfError(code, `Cannot send traces: ${message}`, { next: NEXT, cause: error });
}

/** Numbers of the enum `SpanKind` (trace.proto of opentelemetry-proto). */
const KINDS = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 } as const;
const STATUS_ERROR = 2;

/** Body of a request to `/v1/traces`: OTLP in JSON, with hex ids (OTLP specification 1.9, "JSON Protobuf Encoding"). */
export function otlpRequest(spans: readonly EndedSpan[], resource: SpanFacts): string {
  const scope = { name: 'docshelf' };
  const request = {
    resourceSpans: [
      { resource: { attributes: attributes(resource) }, scopeSpans: [{ scope, spans: spans.map(otlpSpan) }] },
    ],
  };
  return JSON.stringify(request);
}

function otlpSpan({ traceId, spanId, parentSpanId, name, kind, startedAtMs, endedAtMs, facts, error }: EndedSpan) {
  return {
    traceId,
    spanId,
    ...(parentSpanId === null ? {} : { parentSpanId }),
    name,
    kind: KINDS[kind],
    startTimeUnixNano: nanoseconds(startedAtMs),
    endTimeUnixNano: nanoseconds(endedAtMs),
    attributes: attributes(facts),
    ...(error === null ? {} : { status: { code: STATUS_ERROR, message: error } }),
  };
}

const attributes = (facts: SpanFacts) =>
  Object.entries(facts).flatMap(([key, value]) => (value === null ? [] : [{ key, value: anyValue(value) }]));

function anyValue(value: string | number | boolean) {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

const nanoseconds = (ms: number): string => `${Math.round(ms * 1000)}000`;
