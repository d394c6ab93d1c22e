/**
 * Named by OpenTelemetry's semantic conventions where they have a name, else `docshelf.*`; null is left out. Never the query of a link,
 * a key, or the path that a reader asks for.
 */
export type SpanFacts = Readonly<Record<string, string | number | boolean | null>>;

/** As OTLP names them; `producer` and `consumer` are the two ends of a queue. */
export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';

export interface SpanOptions {
  /** `internal` by default. */
  readonly kind?: SpanKind;
  /** `traceparent` of the cause (W3C Trace Context, section 3.2); null, or none of that form: a new trace. Left out: the running span. */
  readonly parent?: string | null;
  readonly facts?: SpanFacts;
}

export interface Span {
  note(facts: SpanFacts): void;
  /** For a fault that the act answers and does not throw. */
  fail(error: unknown): void;
}

/** Spans of what is done for an export and for the swap of a bundle; readers' requests have none. */
export interface Tracer {
  /** Carries `act` out in a span, which runs for all that it awaits. What it throws is the span's fault, and is thrown on. */
  span<T>(name: string, options: SpanOptions, act: (span: Span) => Promise<T>): Promise<T>;
  /** Of the running span, for whoever goes on elsewhere; null where none runs. */
  readonly traceparent: string | null;
  /** Moves the running span into the trace that turned out to have caused it. One with a parent, or with children, stays. */
  follow(traceparent: string | null): void;
}

const NO_SPAN: Span = { note: () => undefined, fail: () => undefined };

export const NO_TRACES: Tracer = {
  span: (_name, _options, act) => act(NO_SPAN),
  traceparent: null,
  follow: () => undefined,
};
