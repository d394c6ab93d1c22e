export interface ByteRange {
  readonly start: number;
  readonly length: number;
}

const SINGLE_RANGE = /^bytes=(?:(\d+)-(\d*)|-(\d+))$/i;

/** RFC 9110, section 14.1.2. `whole`: several ranges, other units, garbage; `unsatisfiable`: past the end. */
export function parseRange(header: string, size: number): ByteRange | 'whole' | 'unsatisfiable' {
  const match = SINGLE_RANGE.exec(header);
  if (match === null) return 'whole';
  const [, first, last, suffix] = match;
  if (suffix !== undefined) {
    const length = Math.min(Number(suffix), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, length };
  }
  const start = Number(first);
  const end = last === undefined || last === '' ? size - 1 : Number(last);
  if (last !== '' && end < start) return 'whole';
  if (start >= size) return 'unsatisfiable';
  return { start, length: Math.min(end, size - 1) - start + 1 };
}
