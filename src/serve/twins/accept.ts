const MARKDOWN = 'text/markdown';
const RANGE = /^\s*([^\s;/]+)\/([^\s;]+)\s*(?:;(.*))?$/;
const WEIGHT = /(?:^|;)\s*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*(?:;|$)/i;
const HTML_RANGES = ['text/html', 'text/*', '*/*'] as const;

/** True for a field that may prefer Markdown: nearly none does. */
export const namesMarkdown = (accept: string | undefined): boolean =>
  accept !== undefined && /text\/markdown/i.test(accept);

/**
 * True where Markdown is named and weighs more than HTML (RFC 9110, section 12.5.1). Of two that weigh the same HTML is sent, as it
 * is to whoever accepts all.
 */
export function prefersMarkdown(accept: string | undefined): boolean {
  if (accept === undefined || !namesMarkdown(accept)) return false;
  const weights = new Map<string, number>();
  for (const item of accept.split(',')) {
    const [, type = '', subtype = '', parameters = ''] = RANGE.exec(item) ?? [];
    const weight = WEIGHT.exec(parameters)?.[1];
    if (type !== '') weights.set(`${type}/${subtype}`.toLowerCase(), weight === undefined ? 1 : Number(weight));
  }
  const html = HTML_RANGES.map((range) => weights.get(range)).find((weight) => weight !== undefined) ?? 0;
  return (weights.get(MARKDOWN) ?? 0) > html;
}
