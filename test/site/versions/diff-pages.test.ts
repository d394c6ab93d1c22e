import { expect, it } from 'vitest';
import { diffPages, diffSummary } from '../../../src/site/versions/diff-pages.ts';
import { releases } from '../helpers.ts';

const NOTHING = { added: 0, removed: 0, moved: 0, changed: 0 };

const page = (title: string, main: string, menu = 'Home'): string =>
  `<!doctype html><html lang="en"><title>${title}</title><nav><a href="/">${menu}</a></nav><main><h1>${title}</h1>${main}</main></html>`;

it('diffPages() compares pages by their main text, and finds moved pages', async () => {
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
    leftOut: NOTHING,
  });
  expect(Math.max(...parts)).toBeLessThan(1);
});

it('diffPages() finds no difference between a version and itself', async () => {
  const release = releases.make({ 'index.html': page('Home', '<p>All.</p>') });
  const none = { added: [], removed: [], moved: [], changed: [] };
  expect(await diffPages(release, release)).toEqual({ ...none, unchanged: 1, leftOut: NOTHING });
});

it('diffPages() lists at most the requested number of pages, and counts the other pages', async () => {
  const names = ['a', 'b', 'c'];
  const of = (text: string) => Object.fromEntries(names.map((name) => [`${name}.html`, page(name, `<p>${text}</p>`)]));
  const diff = await diffPages(releases.make(of('one')), releases.make(of('two')), undefined, 2);
  expect(diff.changed.map(({ title }) => title)).toEqual(['a', 'b']);
  expect(diff.leftOut).toEqual({ ...NOTHING, changed: 1 });
  expect(diffSummary({ before: 'v1', after: 'v2', ...diff })).toBe(
    'From v1 to v2: 0 added, 0 removed, 0 moved, 3 changed, 0 unchanged pages.',
  );
});

it('diffPages() compares pages of more than 2 MiB by their bytes, and shortens titles to 300 characters', async () => {
  const large = (end: string) => page('Large', `<p>${'word '.repeat(450_000)}${end}</p>`);
  const before = releases.make({ 'large.html': large('one') });
  const after = releases.make({ 'large.html': large('two'), 'new.html': page('t'.repeat(1_000), '<p>New.</p>') });
  const { changed, added } = await diffPages(before, after);
  expect(changed).toEqual([{ page: 'large.html', title: '', wordsAdded: 0, wordsRemoved: 0 }]);
  expect(added[0]?.title).toHaveLength(300);
});
