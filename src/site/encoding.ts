import { prefersType, weightsOf } from '../web/media-type.ts';

export type Coding = 'gzip' | 'br' | 'zstd';
export type Encoding = 'identity' | Coding;

export interface Form {
  readonly encoding: Encoding;
  /** Suffix of the entity tag, because a strong tag must differ if the bytes differ (RFC 9110, section 8.8.3). */
  readonly tag: string;
}

export const FORMS: Readonly<Record<Encoding, Form>> = {
  identity: { encoding: 'identity', tag: '' },
  gzip: { encoding: 'gzip', tag: '-gz' },
  br: { encoding: 'br', tag: '-br' },
  zstd: { encoding: 'zstd', tag: '-zst' },
};

const UNWEIGHTED = /^[a-z-]+(?:, ?[a-z-]+)*$/;
const HAS_BR = /(?:^|[ ,])br(?:,|$)/;
const HAS_ZSTD = /(?:^|[ ,])zstd(?:,|$)/;
const HAS_GZIP = /(?:^|[ ,])gzip(?:,|$)/;

/** Selects the coding with the highest weight (RFC 9110, section 12.5.3). Equal weights: Brotli, then Zstandard, then gzip. */
export function negotiateEncoding(accept: string | undefined): Encoding {
  if (accept === undefined || accept === '') return 'identity';
  if (UNWEIGHTED.test(accept)) {
    if (HAS_BR.test(accept)) return 'br';
    if (HAS_ZSTD.test(accept)) return 'zstd';
    if (HAS_GZIP.test(accept)) return 'gzip';
  }
  // `x-gzip` is an older name of `gzip` (RFC 9110, section 8.4.1.3).
  const weights = weightsOf(accept.replaceAll(/x-gzip/gi, 'gzip'), 0);
  const rest = weights.get('*');
  // Do not apply `*` to Zstandard, because a client that does not name this new coding may not support it.
  const of = (coding: Coding): number => weights.get(coding) ?? (coding === 'zstd' ? 0 : (rest ?? 0));
  // If Accept-Encoding does not list identity, identity is acceptable, but comes after all codings that the client accepts.
  const identity = weights.get('identity') ?? (rest === 0 ? 0 : Number.MIN_VALUE);
  const most = Math.max(of('br'), of('zstd'), of('gzip'));
  if (most === 0 || most < identity) return 'identity';
  return (['br', 'zstd'] as const).find((coding) => of(coding) === most) ?? 'gzip';
}

const MARKDOWN = 'text/markdown';

/** Cheap test before `Accept` is parsed, because few clients name Markdown. */
export const namesMarkdown = (accept: string | undefined): boolean =>
  accept !== undefined && /text\/markdown/i.test(accept);

/** True for assistants, which accept Markdown and HTML. Browsers never list Markdown in `Accept`. */
export const prefersMarkdown = (accept: string | undefined): boolean =>
  accept !== undefined && prefersType(accept, MARKDOWN, 'text/html');
