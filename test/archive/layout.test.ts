import { describe, expect, it } from 'vitest';
import { layoutOf, placeOf } from '../../src/archive/layout.ts';

/** Names as entries; those that end in a slash are folders. */
const entriesOf = (...names: string[]) =>
  names.map((name) => ({
    name: name.replace(/\/$/, ''),
    kind: name.endsWith('/') ? ('folder' as const) : ('file' as const),
  }));

describe('layoutOf()', () => {
  it.each([
    ['a site at the root', ['index.html', 'a/b.html'], ''],
    ['one wrapping folder', ['html/', 'html/index.html', 'html/a.html'], 'html/'],
    ['one wrapping folder without an entry of its own', ['html/index.html'], 'html/'],
    ['one folder without index.html', ['guides/start.html'], ''],
    ['one folder and a file beside it', ['html/index.html', 'robots.txt'], ''],
    ['two folders', ['html/index.html', 'img/a.png'], ''],
    ["one folder and docshelf's own", ['_docshelf/search/header.json', 'html/index.html'], 'html/'],
    ['one folder and a manifest, which names it', ['_docshelf/manifest.json', 'en/index.html'], ''],
    ['one folder with a manifest in it', ['html/_docshelf/manifest.json', 'html/index.html'], 'html/'],
    ["only docshelf's own", ['_docshelf/', '_docshelf/index.html'], ''],
  ])('finds the root of %s', (_case, names, root) => {
    expect(layoutOf(entriesOf(...names)).root).toBe(root);
  });

  it('leaves serve.js and README.txt in the site where there are no launchers', () => {
    const layout = layoutOf(entriesOf('index.html', 'serve.js', 'README.txt', 'guide/Start Docs.bat'));
    expect(layout.launchers).toEqual([]);
  });

  it('leaves launchers out, those in a wrapping folder and those that are folders too', () => {
    const names = ['x/index.html', 'x/Start Docs.app/Contents/a.html', 'x/README.txt', 'x/guide/serve.js'];
    const layout = layoutOf(entriesOf(...names));
    expect(layout.launchers).toEqual(['x/Start Docs.app/Contents/a.html', 'x/README.txt']);
    expect(layout.pages).toBe(1);
    expect(placeOf({ name: 'x/guide/serve.js', kind: 'file' }, layout)).toEqual({
      place: 'site',
      path: 'guide/serve.js',
    });
  });

  it('counts the pages of the site, of all three extensions', () => {
    expect(layoutOf(entriesOf('a.html', 'b.HTM', 'c.xhtml', 'd.txt', '_docshelf/e.html')).pages).toBe(3);
  });
});
