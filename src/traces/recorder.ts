import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { toDocshelfError } from '../domain/errors.ts';
import { readTraceparent, type SpanPlace, writeTraceparent } from './traceparent.ts';
import type { Span, SpanFacts, SpanKind, SpanOptions, Tracer } from './tracer.ts';

export interface EndedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly kind: SpanKind;
  /** Milliseconds since 1970, with fractions. */
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly facts: SpanFacts;
  /** The sentence that the log has. */
  readonly error: string | null;
}

/** The tracer that is loaded where traces are on. */
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

  /** What a child, here or elsewhere, stands below. */
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

  /** Null where the trace is not recorded. */
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
