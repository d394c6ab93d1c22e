import { describe, expect, it } from 'vitest';
import { Duplicates } from '../../../src/search/extract/index.ts';
import type { Section } from '../../../src/search/section.ts';

const section: Section = { path: '/x', title: 'T', headings: ['T'], text: 'x', language: 'en', version: '1', tags: [] };

/** Adds the same section under each page, in this order, and says which one is left. */
function survivor(pages: readonly { page: string; canonical: string | null }[]): string {
  const duplicates = new Duplicates<string>();
  const kept = new Set<string>();
  for (const identity of pages) {
    const verdict = duplicates.add(identity, section, identity.page);
    if (!verdict.kept) continue;
    kept.add(identity.page);
    if (verdict.replaced !== null) kept.delete(verdict.replaced);
  }
  expect(kept.size).toBe(1);
  return [...kept][0] ?? '';
}

describe('Duplicates', () => {
  it.each([
    [
      'the page that is its own canonical',
      '/guides/start',
      [
        { page: '/start', canonical: '/guides/start' },
        { page: '/guides/start', canonical: '/guides/start' },
      ],
    ],
    [
      'whatever form the address has',
      '/guides/start.html',
      [
        { page: '/start', canonical: '/guides/start' },
        { page: '/guides/start.html', canonical: '/guides/start/' },
      ],
    ],
    [
      'on a site published under a prefix',
      '/guides/start/',
      [
        { page: '/start/', canonical: '/en/latest/guides/start/' },
        { page: '/guides/start/', canonical: '/en/latest/guides/start/' },
      ],
    ],
    [
      'a page without canonical before one whose is elsewhere',
      '/long/path',
      [
        { page: '/a', canonical: '/b' },
        { page: '/long/path', canonical: null },
      ],
    ],
    [
      'the shorter path, where nothing else decides',
      '/a',
      [
        { page: '/b/a', canonical: null },
        { page: '/a', canonical: null },
      ],
    ],
  ])('keeps %s, in any order', (_, winner, pages) => {
    expect(survivor(pages)).toBe(winner);
    expect(survivor(pages.toReversed())).toBe(winner);
  });

  it.each([
    ['version', { version: '2' }],
    ['language', { language: 'de' }],
    ['title', { title: 'U' }],
    ['headings', { headings: ['T', 'U'] }],
    ['text', { text: 'y' }],
  ])('keeps sections of another %s', (_, other) => {
    const duplicates = new Duplicates<string>();
    duplicates.add({ page: '/a', canonical: null }, section, 'a');
    expect(duplicates.add({ page: '/b', canonical: null }, { ...section, ...other }, 'b')).toEqual({
      kept: true,
      replaced: null,
    });
  });
});
