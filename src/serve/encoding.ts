export type Encoding = 'identity' | 'gzip' | 'br';

/** Entity tag suffixes: a strong tag must differ by encoding (RFC 9110, section 8.8.3). */
export const ETAG_SUFFIX: Readonly<Record<Encoding, string>> = { identity: '', gzip: '-gz', br: '-br' };

const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i;

function weightOf(parameter: string | undefined): number {
  if (parameter === undefined) return 1;
  const match = WEIGHT.exec(parameter.trim());
  return match === null ? 0 : Number(match[1]);
}

/** Names without weights, as browsers send them. */
const UNWEIGHTED = /^[a-z-]+(?:, ?[a-z-]+)*$/;
const HAS_BR = /(?:^|[ ,])br(?:,|$)/;
const HAS_GZIP = /(?:^|[ ,])gzip(?:,|$)/;

/** By weight, then Brotli, gzip, identity (RFC 9110, section 12.5.3); identity where all are excluded, not 406. */
export function negotiateEncoding(accept: string | undefined): Encoding {
  if (accept === undefined || accept === '') return 'identity';
  if (UNWEIGHTED.test(accept)) {
    if (HAS_BR.test(accept)) return 'br';
    if (HAS_GZIP.test(accept)) return 'gzip';
  }
  const weights = new Map<string, number>();
  for (const item of accept.split(',')) {
    const [coding = '', parameter] = item.split(';', 2);
    const name = coding.trim().toLowerCase();
    weights.set(name === 'x-gzip' ? 'gzip' : name, weightOf(parameter));
  }
  const rest = weights.get('*');
  const br = weights.get('br') ?? rest ?? 0;
  const gzip = weights.get('gzip') ?? rest ?? 0;
  // Identity that is not named is acceptable, but less wanted than anything that is.
  const identity = weights.get('identity') ?? (rest === 0 ? 0 : Number.MIN_VALUE);
  if (br > 0 && br >= gzip && br >= identity) return 'br';
  return gzip > 0 && gzip >= identity ? 'gzip' : 'identity';
}
