const MARKDOWN = 'text/markdown';
const RANGE = /^\s*([^\s;/]+)\/([^\s;]+)\s*(?:;(.*))?$/;
const WEIGHT = /(?:^|;)\s*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*(?:;|$)/i;
const HTML_RANGES = ['text/html', 'text/*', '*/*'] as const;

/** True for a field that may prefer Markdown: nearly none does. */
export const namesMarkdown = (accept: string | undefined): boolean =>
  accept !== undefined && /text\/markdown/i.test(accept);

/**
 * True where Markdown is named and HTML weighs no more (RFC 9110, section 12.5.1): assistants name both and mean this one, and
 * browsers never name it. Who accepts all is sent HTML.
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
  const markdown = weights.get(MARKDOWN) ?? 0;
  return markdown > 0 && markdown >= html;
}
