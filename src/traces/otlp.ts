import type { EndedSpan } from './recorder.ts';
import type { SpanFacts } from './tracer.ts';

/** Numbers of the enum `SpanKind` (opentelemetry-proto, trace.proto). */
const KINDS = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 } as const;
const STATUS_ERROR = 2;

/** The body of a request to `/v1/traces`: OTLP in JSON (OTLP specification 1.9, "JSON Protobuf Encoding"), ids in hex. */
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

function attributes(facts: SpanFacts) {
  return Object.entries(facts).flatMap(([key, value]) => (value === null ? [] : [{ key, value: anyValue(value) }]));
}

/** 64-bit integers are decimal strings. */
function anyValue(value: string | number | boolean) {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** Through microseconds, which a double holds exactly until the year 2255. */
function nanoseconds(ms: number): string {
  return `${Math.round(ms * 1000)}000`;
}
