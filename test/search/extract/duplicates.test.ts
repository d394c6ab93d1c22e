import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { Duplicates, fingerprintOf, rankOf } from '../../../src/search/extract/duplicates.ts';
import type { Section } from '../../../src/search/ports.ts';

const section: Section = { path: '/x', title: 'T', headings: ['T'], text: 'x', language: 'en', version: '1', tags: [] };

/** Adds the same section under each page, in this order. @returns the page that keeps it */
function survivor(pages: readonly { page: string; canonical: string | null }[]): string {
  const duplicates = new Duplicates();
  const kept = new Set<number>();
  for (const [handle, page] of pages.entries()) {
    const verdict = duplicates.add(rankOf(page), fingerprintOf(section), handle);
    if (!verdict.kept) continue;
    kept.add(handle);
    if (verdict.replaced !== null) kept.delete(verdict.replaced);
  }
  expect(kept.size).toBe(1);
  const [left = -1] = kept;
  return pages[left]?.page ?? '';
}

describe('Duplicates (detection of duplicate sections and pages)', () => {
  it.each<[string, string, Readonly<Record<string, string | null>>]>([
    [
      'the page that is its own canonical',
      '/guides/start',
      { '/start': '/guides/start', '/guides/start': '/guides/start' },
    ],
    [
      'the canonical page, in any form of its address',
      '/guides/start.html',
      { '/start': '/guides/start', '/guides/start.html': '/guides/start/' },
    ],
    [
      'the canonical page on a site published under a prefix',
      '/guides/start/',
      { '/start/': '/en/latest/guides/start/', '/guides/start/': '/en/latest/guides/start/' },
    ],
    [
      'a page without a canonical rather than a page whose canonical is another page',
      '/long/path',
      { '/a': '/b', '/long/path': null },
    ],
    ['the shorter path if the pages are otherwise equal', '/a', { '/b/a': null, '/a': null }],
  ])('keeps only one of two pages with equal text, whatever their order: %s', (_, winner, canonicals) => {
    const pages = Object.entries(canonicals).map(([page, canonical]) => ({ page, canonical }));
    expect(survivor(pages)).toBe(winner);
    expect(survivor(pages.toReversed())).toBe(winner);
  });

  it.each([
    ['version', { version: '2' }],
    ['language', { language: 'de' }],
    ['title', { title: 'U' }],
    ['headings', { headings: ['T', 'U'] }],
    ['text', { text: 'y' }],
  ])('keeps sections that differ only in %s', (_, other) => {
    const duplicates = new Duplicates();
    duplicates.add(rankOf({ page: '/a', canonical: null }), fingerprintOf(section), 0);
    const rank = rankOf({ page: '/b', canonical: null });
    expect(duplicates.add(rank, fingerprintOf({ ...section, ...other }), 1)).toEqual({ kept: true, replaced: null });
  });

  it('recognizes thousands of duplicate sections', () => {
    const duplicates = new Duplicates();
    const addAll = (page: string, from: number) =>
      Array.from({ length: 3_000 }, (_, at) => {
        const rank = rankOf({ page: `${page}${at}`, canonical: null });
        return duplicates.add(rank, fingerprintOf({ ...section, text: `${at}` }), from + at);
      });
    expect(addAll('/long/', 0)).toEqual(Array.from({ length: 3_000 }, () => ({ kept: true, replaced: null })));
    expect(addAll('/', 3_000)).toEqual(Array.from({ length: 3_000 }, (_, at) => ({ kept: true, replaced: at })));
  });

  it('does not keep summaries of added pages in memory', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const duplicates = new Duplicates();
    const summaries = Array.from({ length: 100 }, (_, at) => {
      const summary = { ...rankOf({ page: `/${at}`, canonical: null }), links: [`/${at + 1}`] };
      duplicates.add(summary, fingerprintOf({ ...section, text: `${at}` }), at);
      return new WeakRef(summary);
    });
    // A dereferenced WeakRef keeps its target until the end of the task.
    return setImmediate().then(() => {
      collect();
      expect(summaries.filter((summary) => summary.deref() !== undefined).length).toBeLessThanOrEqual(1);
      expect(
        duplicates.add(rankOf({ page: '/longer', canonical: null }), fingerprintOf({ ...section, text: '5' }), 100),
      ).toEqual({ kept: false });
    });
  });
});
