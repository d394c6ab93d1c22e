import { describe, expect, it } from 'vitest';
import { findLinks, outlinePage } from '../../src/web/references.ts';

const short = (html: string) => findLinks(html).references.map(({ kind, url }) => `${kind} ${url}`);

describe('findLinks()', () => {
  it('returns element, attribute, URL and kind in page order', () => {
    const html = `<!doctype html><head><link rel=canonical href=https://x.dev/a/><link rel="stylesheet" href="/s.css">
      <script src=/init.js></script></head><body><a href="/b?x=1&amp;y=2#f"> <img alt="a > b" src='i.png'><area HREF=c>
      <video poster=p.jpg src=v.mp4></video><svg><use xlink:href="sprite.svg#i"/></svg>`;
    expect(findLinks(html)).toEqual({
      base: null,
      references: [
        { kind: 'canonical', tag: 'link', attribute: 'href', url: 'https://x.dev/a/' },
        { kind: 'asset', tag: 'link', attribute: 'href', url: '/s.css' },
        { kind: 'asset', tag: 'script', attribute: 'src', url: '/init.js' },
        { kind: 'link', tag: 'a', attribute: 'href', url: '/b?x=1&y=2#f' },
        { kind: 'asset', tag: 'img', attribute: 'src', url: 'i.png' },
        { kind: 'link', tag: 'area', attribute: 'href', url: 'c' },
        { kind: 'asset', tag: 'video', attribute: 'src', url: 'v.mp4' },
        { kind: 'asset', tag: 'video', attribute: 'poster', url: 'p.jpg' },
        { kind: 'asset', tag: 'use', attribute: 'xlink:href', url: 'sprite.svg#i' },
      ],
    });
  });

  it('ignores markup in text, comments and scripts', () => {
    expect(
      short(`<!-- <a href=1> --><title><a href=2></title><script>'<a href=3>'</script><style>/*<a href=4>*/</style>
        <textarea><a href=5></textarea><a href=6>`),
    ).toEqual(['link 6']);
  });

  it('reads markup in title and style elements of SVG', () => {
    expect(short('<svg><style/><title/><a href=1></a></svg><a href=2>')).toEqual(['link 1', 'link 2']);
  });

  it('distinguishes the kinds of <link> by rel', () => {
    const links = ['next', 'alternate', 'preload', 'preconnect', 'alternate stylesheet', 'icon', 'me', 'CANONICAL'];
    expect(short(links.map((rel) => `<link rel="${rel}" href="${rel}">`).join(''))).toEqual([
      'link next',
      'link alternate',
      'asset preload',
      'asset alternate stylesheet',
      'asset icon',
      'link me',
      'canonical CANONICAL',
    ]);
  });

  it('returns the href of the first base element, and omits empty URLs', () => {
    const found = findLinks('<base target=x><base href=" /a/ "><base href=/b/><a href="">x</a><a name=y>');
    expect(found).toEqual({ base: '/a/', references: [] });
  });

  it('reads a page that ends within a tag', () => {
    expect(short('<a href=1>x</a><a href="2')).toEqual(['link 1']);
  });
});

describe('outlinePage()', () => {
  it('returns the same references as findLinks()', () => {
    const html = '<base href=/a/><link rel=icon href=i.png><a href=b>x</a><img src=c srcset="d 2x">';
    const { base, references } = outlinePage(html);
    expect({ base, references }).toEqual(findLinks(html));
  });

  it('returns the images of srcset lists', () => {
    const { pictures } = outlinePage(
      `<img srcset="a.png, b,c.png 2x"><source srcset='d.webp 100w,e.webp 200w'><link rel=preload imagesrcset=f.png>
       <a srcset=none>x</a><img srcset="">`,
    );
    expect(pictures.map(({ tag, attribute, url }) => `${tag} ${attribute} ${url}`)).toEqual([
      'img srcset a.png',
      'img srcset b,c.png',
      'source srcset d.webp',
      'source srcset e.webp',
      'link imagesrcset f.png',
    ]);
    expect(new Set(pictures.map(({ kind }) => kind))).toEqual(new Set(['asset']));
  });

  it('returns ids of elements and names of anchors, but no ids from comments and scripts', () => {
    const { anchors } = outlinePage(
      '<h1 id="a b">x</h1><a name=n></a><input name=no><svg><g id=&eacute;></g></svg><p id=""><!-- <p id=c> --><script>"<p id=s>"</script>',
    );
    expect([...anchors]).toEqual(['a b', 'n', 'é']);
  });
});
