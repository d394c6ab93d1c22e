/** Where a span stands. Ids are lower-case hex digits: 32 of the trace, 16 of the span. */
export interface SpanPlace {
  readonly traceId: string;
  readonly spanId: string;
  /** False: whoever began the trace wants no records of it. */
  readonly isSampled: boolean;
}

/** W3C Trace Context, section 3.2.2: later versions may have more behind the flags, ff is none. */
const FORM =
  /^(?!ff)(?<version>[0-9a-f]{2})-(?<traceId>[0-9a-f]{32})-(?<spanId>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})(?<more>-.*)?$/;
const SAMPLED = 1;

/** Null for a header that is to be ignored. */
export function readTraceparent(text: string | null | undefined): SpanPlace | null {
  const { version, traceId, spanId, flags, more } = FORM.exec(text ?? '')?.groups ?? {};
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId) || (version === '00' && more !== undefined)) return null;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) !== 0 };
}

export function writeTraceparent({ traceId, spanId, isSampled }: SpanPlace): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}
