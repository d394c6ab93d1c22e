import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listTree, type TreeQuestion } from '../../../src/http/mcp/tools.ts';

const PAGES = [
  '/',
  '/about',
  '/api-notes',
  '/api/',
  '/api/keys/create',
  '/api/keys/rotate',
  '/api/limits',
  '/guides',
  '/guides/start',
  '/tour/',
].sort();

const list = (changes: Partial<TreeQuestion> = {}) =>
  listTree(PAGES, { folder: '/', isRecursive: false, after: null, limit: 100, ...changes });

describe('listTree() (entries of the MCP tool list_pages)', () => {
  it('returns pages and subfolders of a folder, with the number of pages in each', () => {
    expect(list()).toEqual({
      total: 7,
      next: null,
      entries: [
        { kind: 'page', path: '/' },
        { kind: 'page', path: '/about' },
        { kind: 'page', path: '/api-notes' },
        { kind: 'folder', path: '/api/', pages: 4 },
        { kind: 'page', path: '/guides' },
        { kind: 'folder', path: '/guides/', pages: 1 },
        // A folder that contains only its own start page appears as a page.
        { kind: 'page', path: '/tour/' },
      ],
    });
  });

  it('returns the page of the folder itself first, whether or not the path of this page ends with a slash', () => {
    expect(list({ folder: '/api/' }).entries).toEqual([
      { kind: 'page', path: '/api/' },
      { kind: 'folder', path: '/api/keys/', pages: 2 },
      { kind: 'page', path: '/api/limits' },
    ]);
    expect(list({ folder: '/guides/' }).entries.map(({ path }) => path)).toEqual(['/guides', '/guides/start']);
  });

  it('returns all pages of a folder and its subfolders, without pages of similarly named folders', () => {
    expect(list({ folder: '/api/', isRecursive: true }).entries.map(({ path }) => path)).toEqual([
      '/api/',
      '/api/keys/create',
      '/api/keys/rotate',
      '/api/limits',
    ]);
    expect(list({ isRecursive: true }).total).toBe(PAGES.length);
  });

  it('returns no entries for an unknown folder', () => {
    expect(list({ folder: '/nowhere/' })).toEqual({ entries: [], total: 0, next: null });
    expect(list({ folder: '/ab/' }).total).toBe(0);
  });

  it('returns each entry exactly once to a client that follows all cursors, whatever the limit', () => {
    const segment = fc.constantFrom('a', 'b', 'a-b', 'a0', 'é', '');
    const page = fc.array(segment, { maxLength: 4 }).map((segments) => `/${segments.join('/')}`.replace(/\/+/g, '/'));
    fc.assert(
      fc.property(fc.uniqueArray(page), fc.boolean(), fc.integer({ min: 1, max: 5 }), (written, isRecursive, limit) => {
        const pages = written.toSorted();
        const question = { folder: '/', isRecursive, after: null, limit: 1_000 };
        const whole = listTree(pages, question).entries;
        const seen: unknown[] = [];
        for (let after: string | null = null; ; ) {
          const part = listTree(pages, { ...question, after, limit });
          seen.push(...part.entries);
          after = part.next;
          if (after === null) break;
        }
        expect(seen).toEqual(whole);
        const counted = whole.map((entry) => (entry.kind === 'folder' ? entry.pages : 1));
        expect(counted.reduce((sum, each) => sum + each, 0)).toBe(pages.length);
      }),
    );
  });
});
