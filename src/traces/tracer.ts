/**
 * Attributes of a span. Names are from OpenTelemetry's semantic conventions, or start with `docshelf.`. Null values are not sent.
 * Values never contain an API key, the query string of a link, or the path that a reader requests.
 */
export type SpanFacts = Readonly<Record<string, string | number | boolean | null>>;

/** Span kinds of OTLP. `producer` adds a job to a queue, and `consumer` runs the job. */
export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';

export interface SpanOptions {
  readonly kind?: SpanKind;
  /** `traceparent` of the parent span. Null or an invalid value starts a new trace. Default: the running span. */
  readonly parent?: string | null;
  readonly facts?: SpanFacts;
}

export type Span = { note(facts: SpanFacts): void; fail(error: unknown): void };

/** Records spans of exports and of switches to another version. Requests of readers have no spans. */
export interface Tracer {
  span<T>(name: string, options: SpanOptions, act: (span: Span) => Promise<T>): Promise<T>;
  readonly traceparent: string | null;
  /** Moves the running span into the trace of its cause. Does nothing if the span already has a parent or children. */
  follow(traceparent: string | null): void;
}

const NO_SPAN: Span = { note: () => undefined, fail: () => undefined };

export const NO_TRACES: Tracer = {
  span: (_name, _options, act) => act(NO_SPAN),
  traceparent: null,
  follow: () => undefined,
};
