import { prefersType } from '../web/media-type.ts';

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

const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i;

function weightOf(parameter: string | undefined): number {
  if (parameter === undefined) return 1;
  const match = WEIGHT.exec(parameter.trim());
  return match === null ? 0 : Number(match[1]);
}

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
  const weights = new Map<string, number>();
  for (const item of accept.split(',')) {
    const [coding = '', parameter] = item.split(';', 2);
    const name = coding.trim().toLowerCase();
    weights.set(name === 'x-gzip' ? 'gzip' : name, weightOf(parameter));
  }
  const rest = weights.get('*');
  // `*` excludes Zstandard, because a client that does not name this new coding may not support it.
  const of = (coding: Coding): number => weights.get(coding) ?? (coding === 'zstd' ? 0 : (rest ?? 0));
  // Without a weight, identity is acceptable, but comes after all codings that the client accepts.
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
  accept !== undefined && namesMarkdown(accept) && prefersType(accept, MARKDOWN, 'text/html');
