/** Content codings that bodies are kept and sent in. */
export type Encoding = 'identity' | 'gzip' | 'br';

/** Entity tag suffixes: a strong tag must differ by encoding (RFC 9110, section 8.8.3). */
export const ETAG_SUFFIX: Readonly<Record<Encoding, string>> = { identity: '', gzip: '-gz', br: '-br' };

const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i;

/** The weight of one `Accept-Encoding` item's parameters: 1 where there is none, 0 where it is no weight. */
function weightOf(parameter: string | undefined): number {
  if (parameter === undefined) return 1;
  const match = WEIGHT.exec(parameter.trim());
  return match === null ? 0 : Number(match[1]);
}

/**
 * The encoding that a client likes best of those that are made here, after RFC 9110, section 12.5.3: by weight, and
 * at equal weight Brotli before gzip before none. Where the client excludes everything, identity is answered all the
 * same: a readable page serves it better than 406.
 *
 * @param accept the `Accept-Encoding` header. Absent or empty means that only identity is sure to be read.
 */
export function negotiateEncoding(accept: string | undefined): Encoding {
  if (accept === undefined || accept === '') return 'identity';
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
