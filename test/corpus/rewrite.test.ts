import { beforeAll, describe, expect, it } from 'vitest';
import { htmlCharset, mediaTypeOf, pageText } from '../../src/web/media-type.ts';
import { findLinks } from '../../src/web/references.ts';
import { findReferences } from '../../src/web/rewrite/find-references.ts';
import type { FoundReferences } from '../../src/web/rewrite/reference.ts';
import { sourceTypeOf, utf8Bytes } from '../../src/web/rewrite/source-text.ts';
import { rewriteFile, writtenUrl } from '../../src/web/rewrite/write.ts';
import { bundleFile, corpus, whyNoCorpus } from '../helpers/corpus.ts';
import { readArchive } from '../helpers/read-archive.ts';
import { parsedElements, scannedElements } from '../web/rewrite/parse5-oracle.ts';
import { SITES } from './bundles.ts';

/** Interval of pages that are compared with parse5, whose trees are slow. */
const TREE_EVERY = 10;
/** Addresses without a file, which are no references. */
const NO_FILE = /^(?:data|javascript|mailto|tel|blob|about):/i;

interface ReadFile {
  readonly path: string;
  readonly bytes: Buffer;
  readonly found: FoundReferences;
}

describe.skipIf(corpus === undefined).each(SITES)(`rewriting references in $name${whyNoCorpus}`, ({ name, pages }) => {
  let files: ReadFile[];
  let read: ReadFile[];

  beforeAll(async () => {
    const archive = await readArchive(bundleFile(name));
    read = [];
    for (const [path, bytes] of archive) {
      const type = path.endsWith('.webmanifest') ? 'manifest' : sourceTypeOf(mediaTypeOf(path));
      if (type === null) continue;
      const charset = htmlCharset(bytes) ?? 'utf-8';
      const inUtf8 = Buffer.from(utf8Bytes(bytes, type, charset));
      read.push({ path, bytes: inUtf8, found: findReferences({ type, bytes: inUtf8, path: `/${path}` }) });
    }
    files = read.filter(({ path }) => /\.x?html?$/.test(path));
  });

  it('finds more than 20 references per page on average', () => {
    expect(files.length).toBeGreaterThanOrEqual(pages);
    const total = files.reduce((sum, { found }) => sum + found.references.length, 0);
    expect(total).toBeGreaterThan(pages * 20);
  });

  it('returns every file unchanged if nothing is replaced', () => {
    const wrong = read.filter(({ bytes, found }) => !bytes.equals(rewriteFile(bytes, found, () => null).bytes));
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  it('changes only the replaced links', () => {
    const wrong = read.filter(({ bytes, found }) => {
      const places = found.references
        .filter(({ kind }) => kind !== 'mention' && kind !== 'mounted')
        .toSorted((a, b) => a.start - b.start);
      // Replaced by splitting and joining the text.
      let glued = '';
      let at = 0;
      for (const { start, end, writing } of places) {
        glued += bytes.toString('latin1', at, start) + writtenUrl('/x?a&b', writing);
        at = end;
      }
      glued += bytes.toString('latin1', at);
      const { bytes: after, changed } = rewriteFile(bytes, found, () => '/x?a&b');
      return changed !== places.length || glued !== Buffer.from(after).toString('latin1');
    });
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  it('finds every link that findLinks() finds', () => {
    const missed: string[] = [];
    for (const { path, bytes, found } of files) {
      const urls = new Set(found.references.map(({ url }) => url));
      const { references, base } = findLinks(pageText(bytes, 'text/html'));
      if (base !== found.base) missed.push(`${path}: base ${base}`);
      for (const { url, kind } of references) {
        const isOwnFragment = url.startsWith('#') && kind === 'asset';
        if (!urls.has(url) && !NO_FILE.test(url) && !isOwnFragment) missed.push(`${path}: ${url}`);
      }
    }
    expect(missed).toEqual([]);
  });

  it('finds the same elements as parse5', () => {
    const wrong: string[] = [];
    for (const { path, bytes } of files.filter((_, index) => index % TREE_EVERY === 0)) {
      const html = bytes.toString('latin1');
      const [parsed, scanned] = [parsedElements(html), scannedElements(html)];
      const difference = [...parsed, ...scanned].filter((element) => !parsed.has(element) || !scanned.has(element));
      if (difference.length > 0) wrong.push(`${path}: ${difference.slice(0, 3).join(' ')}`);
    }
    expect(wrong).toEqual([]);
  });
});
