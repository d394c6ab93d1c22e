import { expect, test } from 'vitest';
import { type EndedSpan, otlpRequest } from '../../src/traces/recorder.ts';

const SPAN: EndedSpan = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  parentSpanId: null,
  name: 'fetch',
  kind: 'client',
  startedAtMs: 1_795_471_200_000,
  endedAtMs: 1_795_471_200_001.25,
  facts: { text: 'é', whole: 5, part: 0.5, is: false, none: null },
  error: null,
};

test('otlpRequest() encodes spans as OTLP in JSON', () => {
  const failed: EndedSpan = { ...SPAN, spanId: 'c8ad6b7169203331', parentSpanId: SPAN.spanId, error: 'Cannot fetch' };
  const written = JSON.parse(otlpRequest([SPAN, failed], { 'service.name': 'docshelf' })) as object;
  const span = {
    traceId: SPAN.traceId,
    spanId: SPAN.spanId,
    name: 'fetch',
    kind: 3,
    startTimeUnixNano: '1795471200000000000',
    endTimeUnixNano: '1795471200001250000',
    attributes: [
      { key: 'text', value: { stringValue: 'é' } },
      { key: 'whole', value: { intValue: '5' } },
      { key: 'part', value: { doubleValue: 0.5 } },
      { key: 'is', value: { boolValue: false } },
    ],
  };
  const status = { code: 2, message: 'Cannot fetch' };
  expect(written).toEqual({
    resourceSpans: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: 'docshelf' } }] },
        scopeSpans: [
          {
            scope: { name: 'docshelf' },
            spans: [span, { ...span, spanId: failed.spanId, parentSpanId: SPAN.spanId, status }],
          },
        ],
      },
    ],
  });
});
