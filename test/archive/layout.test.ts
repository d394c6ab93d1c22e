import { describe, expect, it } from 'vitest';
import { layoutOf, placeOf } from '../../src/archive/layout.ts';

/** Entries with these names. Names with a final slash are folders. */
const entriesOf = (...names: string[]) =>
  names.map((name) => ({
    name: name.replace(/\/$/, ''),
    kind: name.endsWith('/') ? ('folder' as const) : ('file' as const),
  }));

describe('layoutOf() (site files and other files in an archive)', () => {
  it.each([
    ['a site at the root', ['index.html', 'a/b.html'], ''],
    ['one wrapping folder', ['html/', 'html/index.html', 'html/a.html'], 'html/'],
    ['one wrapping folder without a folder entry', ['html/index.html'], 'html/'],
    ['one folder without index.html', ['guides/start.html'], ''],
    ['one folder and a file next to it', ['html/index.html', 'robots.txt'], ''],
    ['two folders', ['html/index.html', 'img/a.png'], ''],
    ['one folder next to the folder _docshelf', ['_docshelf/search/header.json', 'html/index.html'], 'html/'],
    ['one folder whose path the manifest next to it contains', ['_docshelf/manifest.json', 'en/index.html'], ''],
    ['one folder with a manifest in it', ['html/_docshelf/manifest.json', 'html/index.html'], 'html/'],
    ['only the folder _docshelf', ['_docshelf/', '_docshelf/index.html'], ''],
    [
      'one folder and files that tar on macOS adds',
      ['._html', '._.', 'html/', 'html/._index.html', 'html/index.html'],
      'html/',
    ],
    [
      'one folder and files that Finder adds',
      ['html/index.html', '__MACOSX/', '__MACOSX/html/._a', '.DS_Store'],
      'html/',
    ],
    ['one folder and files that Windows adds', ['html/index.html', 'Thumbs.db', 'Desktop.ini'], 'html/'],
    ['one folder and an AppleDouble manifest', ['html/index.html', '_docshelf/._manifest.json'], 'html/'],
    ['one folder whose index.html is an AppleDouble file', ['html/._index.html', 'html/a.html'], ''],
  ])('finds the root folder of the site: %s', (_case, names, root) => {
    expect(layoutOf(entriesOf(...names)).root).toBe(root);
  });

  it('treats serve.js and README.txt as files of the site if the archive contains no launchers', () => {
    const layout = layoutOf(entriesOf('index.html', 'serve.js', 'README.txt', 'guide/Start Docs.bat'));
    expect(layout.launchers).toEqual([]);
  });

  it('finds launchers (programs that open the site) only in the root folder, so that guide/serve.js belongs to the site', () => {
    const names = ['x/index.html', 'x/Start Docs.app/Contents/a.html', 'x/README.txt', 'x/guide/serve.js'];
    const layout = layoutOf(entriesOf(...names));
    expect(layout.launchers).toEqual(['x/Start Docs.app/Contents/a.html', 'x/README.txt']);
    expect(layout.pages).toBe(1);
    expect(placeOf({ name: 'x/guide/serve.js', kind: 'file' }, layout)).toEqual({
      place: 'site',
      path: 'guide/serve.js',
    });
  });

  it.each([
    '._index.html',
    'a/._b.html',
    '._a/b.html',
    '__MACOSX/a.html',
    'a/__MACOSX/b.html',
    '.DS_Store',
    'a/.DS_Store',
    'a/Thumbs.db',
    'a/thumbs.db',
    'a/desktop.ini',
    '_docshelf/._manifest.json',
  ])('ignores the file %s, a by-product of a packer', (name) => {
    const layout = layoutOf(entriesOf('index.html', '_docshelf/manifest.json', name));
    expect(layout).toMatchObject({ root: '', pages: 1, launchers: [] });
    expect(placeOf({ name, kind: 'file' }, layout)).toBeNull();
  });

  it.each(['a._b.html', '_.html', 'a/DS_Store', 'a/MACOSX/b.html', 'desktop.ini/index.html', 'Thumbs.db.html'])(
    'keeps the file %s in the site',
    (name) => {
      const layout = layoutOf(entriesOf('index.html', name));
      expect(placeOf({ name, kind: 'file' }, layout)).toEqual({ place: 'site', path: name });
    },
  );

  it('counts the pages of the site with the extensions .html, .htm and .xhtml', () => {
    expect(layoutOf(entriesOf('a.html', 'b.HTM', 'c.xhtml', 'd.txt', '_docshelf/e.html')).pages).toBe(3);
  });
});
