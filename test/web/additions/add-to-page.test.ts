import { type DefaultTreeAdapterTypes as Dom, parse } from 'parse5';
import { describe, expect, it, test } from 'vitest';
import { addToPage } from '../../../src/web/additions/add-to-page.ts';
import { type PageAdditions, startTag } from '../../../src/web/additions/page-additions.ts';
import { fuzz } from '../../helpers/fuzz.ts';

const HEAD = '<link rel="x-head">';
const BODY = '<x-body></x-body>';
const BOTH: PageAdditions = { head: [HEAD], body: [BODY] };

function added(page: string, additions = BOTH, type = 'text/html; charset=utf-8'): string {
  return Buffer.from(addToPage(Buffer.from(page), type, additions)).toString();
}

type Parent = Dom.Document | Dom.Element | Dom.DocumentFragment;

/** The tree that a browser builds, without the additions, and their places. */
function treeOf(page: string) {
  const places: { readonly name: string; readonly parent: string }[] = [];
  const visit = (parent: Parent): unknown[] =>
    parent.childNodes.flatMap((node): unknown[] => {
      const isHead = node.nodeName === 'link' && 'attrs' in node && node.attrs[0]?.value === 'x-head';
      if (isHead || node.nodeName === 'x-body') {
        places.push({ name: node.nodeName, parent: parent.nodeName });
        return [];
      }
      if ('content' in node) return [[node.nodeName, node.attrs, visit(node.content)]];
      if ('childNodes' in node) return [[node.nodeName, node.attrs, visit(node)]];
      return 'value' in node ? [node.value] : [node.nodeName];
    });
  // Adjacent texts become one after an addition between them is removed.
  const joined = (nodes: readonly unknown[]): unknown[] => {
    const whole: unknown[] = [];
    for (const node of nodes) {
      const last = whole.at(-1);
      if (typeof node === 'string' && typeof last === 'string') whole[whole.length - 1] = last + node;
      else whole.push(Array.isArray(node) ? [node[0], node[1], joined(node[2] as unknown[])] : node);
    }
    return whole;
  };
  return { places, tree: joined(visit(parse(page, { scriptingEnabled: true }))) };
}

const START = '<!doctype html><html><head><meta charset="utf-8"><title>a</title>';

describe('addToPage()', () => {
  it.each([
    ['a plain page', `${START}¦</head><body><p>a</p>¦</body></html>`],
    ['a page without head tags', '<!doctype html><title>a</title>¦<p>a</p>¦'],
    ['an unclosed head', `${START}¦<body><p>a</p>¦</body></html>`],
    ['a page that is a doctype and a line', '<!doctype html>¦Hello¦'],
    ['a page that is only a head', `${START.replace('</title>', '</title>¦¦')}`],
    ['a comment', `${START}<!-- </head><body> -->¦</head><body><!-- </body> -->a¦</body><!-- </body> -->`],
    ['a script', `${START}<script>"</head>" + "<body>"</script>¦</head><body>¦</body><script>"</body>"</script>`],
    [
      'a script that contains its own end tag',
      `${START}<script><!-- <script> </script></head> --></script>¦</head><body>a¦</body>`,
    ],
    ['attributes', `${START}<meta content="</head><body>">¦</head><body title='</body>' lang=</body>>a¦</body>`],
    ['a style and a title', `${START}<style></head></style><title></head></title>¦</head><body>a¦</body>`],
    ['a template', `${START}<template></head><p></template>¦</head><body>a<template></body></template>¦</body>`],
    ['a noscript', `${START}<noscript><iframe></iframe></head></noscript>¦</head><body>a¦</body>`],
    ['text at a place where none is allowed', `${START}¦stray</head><body>a¦</body></html>`],
    ['two bodies', `${START}¦</head><body>a</body><p>b</p>¦</body></html>`],
    ['no end tag for the body', `${START}¦</head><body><p>a¦</html>`],
    ['CDATA in SVG', `${START}¦</head><body><svg><![CDATA[</body>]]></svg>a¦</body>`],
    ['a byte order mark', `\ufeff${START}¦</head><body>a¦</body>`],
    [
      'a template in SVG',
      `${START}<template><svg><template></template></svg></head><p></template>¦</head><body>a¦</body>`,
    ],
    ['a template in SVG', `${START}¦</head><body><svg><template></svg></template>a¦</body></html>`],
    ['unclosed SVG', `${START}¦</head><body>a¦<svg><path d="M0 0"></body></html>`],
    ['a template after the body', `${START}¦</head><body>a¦</body></html><template>`],
    ['a conditional comment', `${START}<!--[if IE]><body class="ie"><![endif]-->¦</head><![if !IE]><body>¦</body>`],
  ])('inserts additions at the end of head and body: %s', (_, page) => {
    const [head = '', rest = '', end = ''] = page.split('¦');
    const sent = added(page.replaceAll('¦', ''));
    expect(sent).toBe(head + HEAD + rest + BODY + end);
  });

  it('inserts only into the head if an unclosed element hides the end of the body', () => {
    expect(added(`${START}</head><body><textarea></body>`)).toBe(`${START}${HEAD}</head><body><textarea></body>`);
    expect(added(`${START}<style></head><body>`)).toBe(`${START}${HEAD}<style></head><body>`);
    expect(added(`${START}</head><body><!-- `)).toBe(`${START}${HEAD}</head><body><!-- `);
    expect(added(`${START}</head><body><template></body></html>`)).toBe(
      `${START}${HEAD}</head><body><template></body></html>`,
    );
  });

  it.each([
    ['in the head', `${START}<template></head><body><p>a</p></body></html>`],
    ['in another template', `${START}<template><template></template></head><body>a</body>`],
    ['at the end', `${START}<template>`],
  ])('inserts only into the head, before an unclosed template element %s', (_, page) => {
    const sent = added(page);
    expect(sent).toBe(page.replace('<template>', `${HEAD}<template>`));
    expect(treeOf(sent).places).toEqual([{ name: 'link', parent: 'head' }]);
  });

  it('inserts only into the head of a page with frames', () => {
    const page = (head: string) => `<html><head>${head}</head><frameset cols="1,2"><frame src="a"></frameset></html>`;
    expect(added(page(''))).toBe(page(HEAD));
  });

  it.each([
    ['a fragment of a page', '<div class="menu"><a href="a">a</a></div>'],
    ['text', 'no markup'],
    ['an empty file', ''],
    ['a script template', '<li>{{name}}</li><title>no</title>'],
  ])('does not change a file that is not a whole page: %s', (_, text) => {
    expect(added(text)).toBe(text);
  });

  it('converts a page in any charset to UTF-8 when it inserts additions', () => {
    const wide = Buffer.from(`\ufeff${START}</head><body>é`, 'utf16le');
    const sent = (page: Buffer, type: string) => Buffer.from(addToPage(page, type, BOTH)).toString();
    expect(sent(wide, 'text/html')).toBe(`\ufeff${START}${HEAD}</head><body>é${BODY}`);
    const japanese = Buffer.from('<!doctype html><title>\x83\x5c</title><p>', 'latin1');
    expect(sent(japanese, 'text/html; charset=shift_jis')).toBe(
      `\ufeff<!doctype html><title>ソ</title>${HEAD}<p>${BODY}`,
    );
    expect(startTag('a', { title: 'é"<\u{1f600}', b: true, c: null, d: false })).toBe(
      '<a title="&#233;&quot;&lt;&#128512;" b>',
    );
  });

  it.each([
    ['<html lang="de">', 'b'],
    ["<html class=a lang='de-AT'>", 'b'],
    ['<html lang=xx>', 'a'],
    ['<html>', 'a'],
    ['', 'a'],
    ['<!-- <html lang="de"> -->', 'a'],
    ['<template><html lang="de"></template>', 'a'],
  ])('uses the text in the language of the page: %s', (html, mark) => {
    const head = [{ en: '<a>', de: '<b>' }, HEAD];
    expect(added(`<!doctype html>${html}<title>c</title><p>d`, { head, body: [] })).toBe(
      `<!doctype html>${html}<title>c</title><${mark}>${HEAD}<p>d`,
    );
  });

  it('returns the same object if there is nothing to insert', () => {
    const page = Buffer.from(`${START}</head><body>a</body>`);
    expect(addToPage(page, 'text/html', { head: [], body: [] })).toBe(page);
  });

  it('takes linear time for hostile markup', () => {
    for (const part of ['<', '<!--', '<template>', '</body>', '<svg>', '<script>', '</head ', '<title>', '<a "=\'>']) {
      const page = `${START}${part.repeat(200_000 / part.length)}`;
      expect(added(page).length).toBeGreaterThanOrEqual(page.length);
    }
  });
});

const PAGES = [
  `${START}<style>a</style><script>1</script></head><body class="a"><p>a<svg><title>b</title></svg><textarea>c</textarea><template><p>d</template></body></html>`,
  `<!doctype html><title>a</title><link rel=a><p>b<!-- c --><noscript><p>d</noscript><table><tr><td>e</table>`,
].map((text) => Buffer.from(text));

describe('addToPage() on a page with seeded random changes', { timeout: 600_000 }, () => {
  // In a body with unclosed formatting, additions at its end are nested deeper.
  test('adds at most one element to the tree that a browser builds, and changes no other element', () =>
    fuzz(PAGES, (bytes) => {
      const page = bytes.toString('latin1');
      const sent = Buffer.from(addToPage(bytes, 'text/html; charset=utf-8', { ...BOTH, body: [] })).toString('latin1');
      if (sent === page) return;
      const { tree, places } = treeOf(sent);
      expect(tree).toEqual(treeOf(page).tree);
      expect(places).toHaveLength(1);
    }));
});
