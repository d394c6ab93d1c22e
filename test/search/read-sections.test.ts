import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { FileEntry } from '../../src/domain/release.ts';
import { readSections } from '../../src/search/indexing/read-sections.ts';
import { newFolder } from '../helpers/new-folder.ts';

let dir: string;
beforeEach(async () => {
  dir = newFolder();
});

const page = (title: string, text: string, links: readonly string[] = []) =>
  `<!doctype html><title>${title}</title><main><h1>${title}</h1><p>${text}</p>${links.map((to) => `<a href="${to}">x</a>`).join(' ')}</main>`;

async function siteOf(pages: Readonly<Record<string, string>>) {
  for (const [path, html] of Object.entries(pages)) await writeFile(join(dir, path), html);
  const files = new Map(
    Object.keys(pages).map((path) => [path, { path, size: 0, sha256: '', type: 'text/html; charset=utf-8' }]),
  );
  return { siteDir: dir, files, trailingSlash: 'never' as const };
}

describe('readSections()', () => {
  it('returns each section once, in page order, even if two pages contain the same section', async () => {
    const site = await siteOf({
      'a-longer-path.html': page('Same', 'Said twice.'),
      'b.html': page('B', 'Only here.', ['c.html', 'same.html']),
      'c.html': page('C', 'Here too.', ['same.html']),
      'same.html': page('Same', 'Said twice.'),
    });
    using sections = await readSections(site, join(dir, 'spool'));
    const all = [...sections.all()];
    expect(sections.count).toBe(3);
    expect(all.map(({ section }) => section.page)).toEqual(['/b.html', '/c.html', '/same.html']);
    expect(all.map(({ section }) => section.prior)).toEqual([0, Math.log1p(1) / Math.log1p(2), 1]);
    for (const { section, passages } of all) expect(passages).toEqual([{ start: 0, end: section.text.length }]);
    expect([...sections.all()]).toEqual(all);
  });

  it('leaves no files on the disk', async () => {
    const site = await siteOf({
      'a.html': page('A', 'One.'),
      'b.html': page('B', 'Two.'),
      'c.html': page('C', 'Three.'),
    });
    const before = await readdir(dir);
    using sections = await readSections(site, join(dir, 'spool'));
    expect(sections.count).toBe(3);
    expect(await readdir(dir)).toEqual(before);
  });

  it('calls onLargePage with the path of a large page before it reads the page, and with null afterwards', async () => {
    const site = await siteOf({ 'huge.html': page('Huge', 'Much.'), 'small.html': page('Small', 'Little.') });
    site.files.set('huge.html', { ...(site.files.get('huge.html') as FileEntry), size: 2 * 1024 ** 2 });
    const large: unknown[] = [];
    const onLargePage = (path: string | null) => large.push(path);
    using sections = await readSections({ ...site, onLargePage }, join(dir, 'spool'));
    expect(sections.count).toBe(2);
    expect(large).toEqual(['huge.html', null]);
  });
});
