import { readdir, rm, writeFile } from 'node:fs/promises';
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

  it('reads many pages in worker threads, with the same result and order as without threads', async () => {
    const paths = Array.from({ length: 2_100 }, (_, at) => `page-${String(at).padStart(4, '0')}.html`);
    const pages = paths.map((path, at) => {
      const text = at % 50 === 0 ? 'The same.' : `Only on ${path}.`;
      return [
        path,
        at % 90 === 89 ? '<meta name="robots" content="noindex">' : page(`T ${at % 50}`, text, paths.slice(at % 7, 9)),
      ];
    });
    const site = await siteOf(Object.fromEntries(pages));
    const huge = paths[2_050] ?? '';
    site.files.set(huge, { ...site.files.get(huge), size: 2 * 1024 ** 2 } as FileEntry);
    const read = async (threadsMax: number) => {
      const large: unknown[] = [];
      const onLargePage = (path: string | null) => large.push(path);
      using sections = await readSections({ ...site, onLargePage }, join(dir, 'spool'), { threadsMax });
      expect(large).toEqual([huge, null]);
      return [...sections.all()];
    };
    const alone = await read(0);
    expect(alone.length).toBeGreaterThan(2_000);
    expect(await read(3)).toEqual(alone);
    // The last file, which another thread reads.
    await rm(join(dir, paths.at(-1) ?? ''));
    await expect(readSections(site, join(dir, 'spool'), { threadsMax: 3 })).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
