import { prefersType } from '../web/media-type.ts';

/** Content codings that docshelf produces. */
export type Coding = 'gzip' | 'br' | 'zstd';
export type Encoding = 'identity' | Coding;

/** The bytes of a content in an encoding, by one compressor. */
export interface Form {
  readonly encoding: Encoding;
  /** Ends the entity tag: a strong one differs by bytes (RFC 9110, section 8.8.3). */
  readonly tag: string;
}

/** Forms that docshelf compresses on request. */
export const FORMS: Readonly<Record<Encoding, Form>> = {
  identity: { encoding: 'identity', tag: '' },
  gzip: { encoding: 'gzip', tag: '-gz' },
  br: { encoding: 'br', tag: '-br' },
  zstd: { encoding: 'zstd', tag: '-zst' },
};

const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i;

function weightOf(parameter: string | undefined): number {
  if (parameter === undefined) return 1;
  const match = WEIGHT.exec(parameter.trim());
  return match === null ? 0 : Number(match[1]);
}

/** Names without weights, as browsers send them. */
const UNWEIGHTED = /^[a-z-]+(?:, ?[a-z-]+)*$/;
const HAS_BR = /(?:^|[ ,])br(?:,|$)/;
const HAS_ZSTD = /(?:^|[ ,])zstd(?:,|$)/;
const HAS_GZIP = /(?:^|[ ,])gzip(?:,|$)/;

/** By weight, then Brotli, Zstandard, gzip, identity (RFC 9110, section 12.5.3). If all are excluded: identity, not 406. */
export function negotiateEncoding(accept: string | undefined): Encoding {
  if (accept === undefined || accept === '') return 'identity';
  if (UNWEIGHTED.test(accept)) {
    if (HAS_BR.test(accept)) return 'br';
    if (HAS_ZSTD.test(accept)) return 'zstd';
    if (HAS_GZIP.test(accept)) return 'gzip';
  }
  const weights = new Map<string, number>();
  for (const item of accept.split(',')) {
    const [coding = '', parameter] = item.split(';', 2);
    const name = coding.trim().toLowerCase();
    weights.set(name === 'x-gzip' ? 'gzip' : name, weightOf(parameter));
  }
  const rest = weights.get('*');
  // A client that accepts all may not know Zstandard, the youngest coding.
  const of = (coding: Coding): number => weights.get(coding) ?? (coding === 'zstd' ? 0 : (rest ?? 0));
  // Identity that is not named is acceptable, but less wanted than anything that is.
  const identity = weights.get('identity') ?? (rest === 0 ? 0 : Number.MIN_VALUE);
  const most = Math.max(of('br'), of('zstd'), of('gzip'));
  if (most === 0 || most < identity) return 'identity';
  return (['br', 'zstd'] as const).find((coding) => of(coding) === most) ?? 'gzip';
}

const MARKDOWN = 'text/markdown';

/** Cheap test: nearly no client names Markdown. */
export const namesMarkdown = (accept: string | undefined): boolean =>
  accept !== undefined && /text\/markdown/i.test(accept);

/** Assistants name both types and prefer Markdown. Browsers never name it. */
export const prefersMarkdown = (accept: string | undefined): boolean =>
  accept !== undefined && namesMarkdown(accept) && prefersType(accept, MARKDOWN, 'text/html');
