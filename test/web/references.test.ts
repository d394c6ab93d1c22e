import { describe, expect, it } from 'vitest';
import { findLinks } from '../../src/web/index.ts';

const short = (html: string) => findLinks(html).references.map(({ kind, url }) => `${kind} ${url}`);

describe('findLinks()', () => {
  it('gives element, attribute, URL and kind in the order of the page', () => {
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

  it('does not take text for markup', () => {
    expect(
      short(`<!-- <a href=1> --><title><a href=2></title><script>'<a href=3>'</script><style>/*<a href=4>*/</style>
        <textarea><a href=5></textarea><a href=6>`),
    ).toEqual(['link 6']);
  });

  it('takes title and style inside svg for markup', () => {
    expect(short('<svg><style/><title/><a href=1></a></svg><a href=2>')).toEqual(['link 1', 'link 2']);
  });

  it('tells the kinds of <link> apart by rel', () => {
    const links = ['next', 'alternate', 'preload', 'preconnect', 'alternate stylesheet', 'icon', 'CANONICAL'];
    expect(short(links.map((rel) => `<link rel="${rel}" href="${rel}">`).join(''))).toEqual([
      'link next',
      'link alternate',
      'asset preload',
      'asset alternate stylesheet',
      'asset icon',
      'canonical CANONICAL',
    ]);
  });

  it('gives the first base and leaves empty URLs out', () => {
    const found = findLinks('<base target=x><base href=" /a/ "><base href=/b/><a href="">x</a><a name=y>');
    expect(found).toEqual({ base: '/a/', references: [] });
  });

  it('reads a page that ends in the middle of a tag', () => {
    expect(short('<a href=1>x</a><a href="2')).toEqual(['link 1']);
  });
});
