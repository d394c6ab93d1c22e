import { afterEach, expect, it } from 'vitest';
import { diffPages } from '../../src/cli/bundle/diff-pages.ts';
import { TestReleases } from '../serve/helpers.ts';

const releases = new TestReleases();
afterEach(() => releases.remove());

const page = (title: string, main: string, menu = 'Home'): string =>
  `<!doctype html><html lang="en"><title>${title}</title><nav><a href="/">${menu}</a></nav><main><h1>${title}</h1>${main}</main></html>`;

it('tells pages apart by their main text, and finds those that have moved', async () => {
  const before = releases.make({
    'index.html': page('Home', '<p>All of it.</p>'),
    'same.html': page('Same', '<p>Words.</p><img alt="Sea" src="/sea-1a2b3c4d.png">'),
    'form.html': page('Form', '<p>One address.</p>'),
    'old.html': page('Old', '<p>Gone for good.</p>'),
    'here/a.html': page('Moves', '<p>Stays the same at another place.</p>'),
    'menu.js': 'one()',
  });
  const after = releases.make({
    'index.html': page('Home', '<p>All of it and more.</p>'),
    'same.html': page('Same', '<p>Words.</p><img alt="Sea" src="/sea-5e6f7a8b.png">', 'Start'),
    'form/index.html': page('Form', '<p>One address.</p>'),
    'new.html': page('New', '<p>Never seen.</p>'),
    'there/a.html': page('Moves', '<p>Stays the same at another place.</p>'),
    'menu.js': 'two()',
  });
  const parts: number[] = [];
  expect(await diffPages(before, after, (part) => parts.push(part))).toEqual({
    added: [{ page: 'new.html', title: 'New' }],
    removed: [{ page: 'old.html', title: 'Old' }],
    moved: [{ page: 'there/a.html', title: 'Moves', from: 'here/a.html' }],
    changed: [{ page: 'index.html', title: 'Home', wordsAdded: 3, wordsRemoved: 1 }],
    unchanged: 2,
  });
  expect(Math.max(...parts)).toBeLessThan(1);
});

it('finds nothing between a version and itself', async () => {
  const release = releases.make({ 'index.html': page('Home', '<p>All.</p>') });
  const none = { added: [], removed: [], moved: [], changed: [] };
  expect(await diffPages(release, release, () => undefined)).toEqual({ ...none, unchanged: 1 });
});
