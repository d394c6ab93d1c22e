import { decodeReferences } from '../rewrite/character-references.ts';
import { RAW_TEXT } from '../rewrite/markup/elements.ts';
import { MarkupScanner } from '../rewrite/markup/scanner.ts';
import type { Edit } from '../rewrite/write.ts';
import type { Mount } from './base-path.ts';
import { rebaseAt } from './edits.ts';

/** Addresses that a copy of a site passes over, and a server does not: forms, quotes, and what other sites show of a page. */
const ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  form: ['action'],
  button: ['formaction'],
  input: ['formaction'],
  blockquote: ['cite'],
  q: ['cite'],
  html: ['manifest'],
};
const SHOWN = /^(?:og:(?:url|image|audio|video)(?::(?:url|secure_url))?|twitter:(?:image|player|url)(?::src)?)$/i;

/** Layers of `&amp;` in an attribute (`write.ts`). */
const ONE_LAYER = 1;

export function editsOfForms(text: string, isXml: boolean, mount: Mount): Edit[] {
  const edits: Edit[] = [];
  const scanner = new MarkupScanner(text, isXml);
  const attributeValue = (index: number): string => {
    const [start, end] = [scanner.valueStart(index), scanner.valueEnd(index)];
    return decodeReferences(text, start, end, 'attribute')?.text ?? text.slice(start, end);
  };
  const add = (name: string): void => {
    const index = scanner.indexOfAttribute(name);
    if (index === -1) return;
    const edit = rebaseAt(
      text,
      scanner.valueStart(index),
      scanner.valueEnd(index),
      attributeValue(index),
      ONE_LAYER,
      mount,
    );
    if (edit !== null) edits.push(edit);
  };
  scanner.read({
    onStartTag: () => {
      const tag = scanner.tagName;
      for (const name of ATTRIBUTES[tag] ?? []) add(name);
      if (tag === 'meta') {
        const index = Math.max(scanner.indexOfAttribute('property'), scanner.indexOfAttribute('name'));
        if (index !== -1 && SHOWN.test(attributeValue(index).trim())) add('content');
      }
      if (!isXml && RAW_TEXT.has(tag) && tag !== 'noscript') scanner.skipRawText();
    },
  });
  return edits;
}

/** In sitemaps, feeds and Open Search: an element's whole text, and attributes, those of escaped HTML among them. */
const TEXT =
  /<(?:[\w-]+:)?(?:loc|link|url|guid|id|icon|logo|image|comments|docs|Url)(?:\s[^<>]*)?>\s*(?<url>\/(?!\/)[^<\s]*)\s*</dg;
const ATTRIBUTE =
  /\b(?:href|src|url|template|poster|scheme)\s*=\s*(?:["']|&quot;|&#3[49];|&apos;)(?<url>\/(?!\/)[^"'<>\s&]*)/dg;

export function editsOfFeed(text: string, mount: Mount): Edit[] {
  return [TEXT, ATTRIBUTE].flatMap((pattern) =>
    [...text.matchAll(pattern)].flatMap((match) => {
      const [start, end] = match.indices?.groups?.url ?? [0, 0];
      return rebaseAt(text, start, end, match.groups?.url ?? '', ONE_LAYER, mount) ?? [];
    }),
  );
}
