import { type ExtractedPage, extractPage } from '../../../src/search/extract/extract-page.ts';

/** Extracts a page with this body at `/a`. */
export function extractBody(body: string, head = ''): ExtractedPage | null {
  return extractPage({
    path: 'a.html',
    url: '/a',
    html: `<!doctype html><html lang="en"><head>${head}</head><body>${body}</body></html>`,
  });
}

/** Sections of the page as path, headings and text. */
export function sectionsOf(body: string, head = ''): { path: string; headings: string; text: string }[] {
  const page = extractBody(body, head);
  return (page?.sections ?? []).map(({ path, headings, text }) => ({ path, headings: headings.join(' > '), text }));
}

/** Text of a page with one section. */
export function textOf(content: string): string {
  const texts = sectionsOf(`<main>${content}</main>`).map(({ text }) => text);
  if (texts.length !== 1) throw new Error(`one section was expected, not ${texts.length}`);
  return texts[0] ?? '';
}
