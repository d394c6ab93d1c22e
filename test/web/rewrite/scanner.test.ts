import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findReferences } from '../../../src/web/rewrite/find-references.ts';
import { cases } from '../../helpers/runs.ts';
import { parsedElements, scannedElements, scannedTags, tokenizedTags } from './parse5-oracle.ts';

/** Characters that change the state of the tokenizer, in all orders. */
const PIECES = [
  ...[
    '<',
    '>',
    '/',
    '=',
    '"',
    "'",
    '&',
    '!',
    '-',
    '--',
    '?',
    ' ',
    '\n',
    '\t',
    '\r\n',
    '\0',
    'x',
    'A',
    'é',
    ';',
    '#',
    '[',
    ']',
  ],
  ...[
    '<!--',
    '-->',
    '--!>',
    '<!-->',
    '<!--->',
    '<!doctype html>',
    '<!DOCTYPE x "a>b">',
    '<?php ?>',
    '</>',
    '</ a>',
    '<![CDATA[',
    ']]>',
  ],
  ...[
    '<a href=x>',
    '<A HREF="a>b" href=y>',
    "<img src='x\"y'/>",
    '<p =a=b>',
    '<p a = b c>',
    '<br/>',
    '</p class=x>',
    '<a b=c/>',
    '<a/b>',
  ],
  ...[
    '<script>',
    '</script>',
    '</script ',
    '<SCRIPT>',
    '</scripty>',
    '<style>',
    '</style>',
    '<title>',
    '</title>',
    '<textarea>',
  ],
  ...[
    '</textarea>',
    '<noscript>',
    '</noscript>',
    '<iframe>',
    '</iframe>',
    '<xmp>',
    '</xmp>',
    '<plaintext>',
    '</style/>',
  ],
  ...[
    '&amp;',
    '&ampx',
    '&copy=',
    '&copy',
    '&notin;',
    '&notit;',
    '&#38',
    '&#x26;',
    '&#xZ',
    '&#0;',
    '&#x80;',
    '&nbsp;',
    '&fjlig;',
  ],
  ...[' a="&lt;&copy=1&amp"', " b='&#39;'", ' c=&quot;x'],
];
const markup = fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }).map((pieces) => pieces.join(''));

describe('MarkupScanner', () => {
  it('returns the tags, attributes and positions that parse5 returns, for any text', () => {
    fc.assert(
      fc.property(markup, (html) => {
        expect(scannedTags(html)).toEqual(tokenizedTags(html));
      }),
      { numRuns: cases(1_000) },
    );
  });

  it.each([
    ['comments that end at once', '<!--><a><!---><b><!--x--!><i><!----!><u><!--!><s>--><q>'],
    ['conditional comments', '<!--[if IE]><a href=1><![endif]--><![if !IE]><a href=2><![endif]>'],
    ['tags in scripts', '<script>"<a>" + "</scripty>"</SCRIPT ><b>'],
    ['escaped scripts', '<script><!-- <script> </script> <a> --></script><b><script><!-- </script><i>'],
    ['escaped scripts whose escape ends', '<script><!--><script></script><b><script><!-- --> <script></script><u>'],
    ['doctypes with a > in quotes', '<!DOCTYPE html PUBLIC "a>b"><a>'],
    ['an end within a tag', '<a><b c="'],
    ['an end in a quoted name', '<a b"c=d"e><i>'],
  ])('reads %s like the tokenizer of parse5', (_, html) => {
    expect(scannedTags(html)).toEqual(tokenizedTags(html));
  });

  it.each([
    ['style and title in SVG', '<svg><style>a<b/></style><title><i>x</i></title></svg><style><u></style>'],
    ['CDATA in SVG, but not in HTML', '<svg><![CDATA[<a>]]><g/></svg><![CDATA[<b>]]><i>'],
    [
      'HTML in foreignObject',
      '<svg><foreignObject><style><a></style><div><![CDATA[<b>]]></div></foreignObject><style><u/></style></svg>',
    ],
    ['an element that ends SVG', '<svg><g><div><style><a></style></div><b>'],
    [
      'MathML',
      '<math><mi><style><a></style></mi><style><b/></style><annotation-xml><c/></annotation-xml></math><title><u></title>',
    ],
    ['a self-closing SVG', '<svg/><style><a></style><b>'],
    ['a script in SVG', '<svg><script>"<a/>"</script><g/></svg>'],
    ['SVG in SVG', '<svg><svg><path/></svg><style><a/></style></svg><style><b></style>'],
  ])('reads %s like the parser of parse5', (_, html) => {
    const parsed = parsedElements(html);
    expect(scannedElements(html)).toEqual(parsed);
    expect(parsed.size).toBeGreaterThan(2);
  });

  it('reads text with many unfinished parts in linear time', () => {
    for (const part of ['<!--', '<a b="', '<script><!--<script>', '<![CDATA[', '<title>', '</', '<a b c d ', '<svg>']) {
      expect(millisecondsOf(() => scannedTags(part.repeat(100_000)))).toBeLessThan(10_000);
    }
  });
});

describe('findReferences()', () => {
  it.each([
    ['links', '<a href=/a>', 200_000],
    ['scripts', '<script>import("./a")</script>', 50_000],
    ['styles', '<p style="color:red">', 100_000],
    ['comments', '<!-- a -->', 200_000],
    ['elements without scripts', '<noscript><img src=a></noscript>', 50_000],
    ['nested SVG elements', '<svg><g></a>', 50_000],
    ['pieces of Next.js data', '<script>self.__next_f.push("static/chunks/a.js")</script>', 20_000],
  ])('reads a page with very many %s in linear time', (_, part, count) => {
    const bytes = Buffer.from(part.repeat(count));
    expect(millisecondsOf(() => findReferences({ type: 'html', bytes }))).toBeLessThan(10_000);
  });
});

/** Quadratic time takes minutes, linear time some tenths of a second. */
function millisecondsOf(act: () => unknown): number {
  const start = process.cpuUsage();
  act();
  return process.cpuUsage(start).user / 1000;
}
