import { type PackedFile, packTarGz } from '../../test/helpers/pack-tar-gz.ts';
import { serveBundle } from './served-bundle.ts';
import type { Document } from './test-set.ts';

export interface Hit {
  readonly id: string;
  readonly score: number;
}

export interface HttpSearcher {
  search(query: string, limit: number): Promise<Hit[]>;
  close(): Promise<void>;
}

/** Serves the documents of a set at the endpoint, one page each. */
export async function serveDocuments(
  documents: readonly Document[],
  options: { readonly model: 'builtin' | 'off' },
): Promise<HttpSearcher> {
  const served = await serveBundle((to) => packTarGz({ files: pagesOf(documents), to }), options);
  return {
    async search(query, limit) {
      const found = await served.search(query, limit);
      return found.map(({ path, score }) => ({ id: documents[Number(/\d+/.exec(path)?.[0])]?.id ?? path, score }));
    },
    close: () => served.close(),
  };
}

/** One page per document, named by its number. */
export function pagesOf(documents: readonly Document[]): PackedFile[] {
  return documents.map(({ title, text }, at) => ({ path: `${at}.html`, bytes: Buffer.from(pageOf(title, text)) }));
}

function pageOf(title: string, text: string): string {
  // Sets of code have no titles.
  if (title === '') return pageOf('Snippet', text).replace('<pre>', '<pre><code>').replace('</pre>', '</code></pre>');
  const escaped = (raw: string) => raw.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<!doctype html><html lang="en"><title>${escaped(title)}</title><main><h1>${escaped(title)}</h1><pre>${escaped(text)}</pre></main></html>`;
}
