/**
 * Attributes of a span, named by OpenTelemetry's semantic conventions, else `docshelf.*`. Null values are left out. They never contain
 * the query of a link, a key, or the path that a reader requests.
 */
export type SpanFacts = Readonly<Record<string, string | number | boolean | null>>;

/** As OTLP names them; `producer` and `consumer` are the two ends of a queue. */
export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';

export interface SpanOptions {
  readonly kind?: SpanKind;
  /** `traceparent` of the cause (W3C Trace Context, section 3.2). Null or invalid starts a new trace. The default is the running span. */
  readonly parent?: string | null;
  readonly facts?: SpanFacts;
}

export type Span = { note(facts: SpanFacts): void; fail(error: unknown): void };

/** Records spans of exports and of swaps. Requests of readers have none. */
export interface Tracer {
  span<T>(name: string, options: SpanOptions, act: (span: Span) => Promise<T>): Promise<T>;
  readonly traceparent: string | null;
  /** Moves the running span into the trace that caused it, once that is known. A span with a parent or with children stays. */
  follow(traceparent: string | null): void;
}

const NO_SPAN: Span = { note: () => undefined, fail: () => undefined };

export const NO_TRACES: Tracer = {
  span: (_name, _options, act) => act(NO_SPAN),
  traceparent: null,
  follow: () => undefined,
};
