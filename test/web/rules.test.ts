import { describe, expect, it } from 'vitest';
import { readSiteRules, type SiteRules } from '../../src/web/rules/index.ts';

const redirects = (text: string): SiteRules => readSiteRules(new Map([['_redirects', Buffer.from(text)]]));
const headers = (text: string): SiteRules => readSiteRules(new Map([['_headers', Buffer.from(text)]]));

/** Status and location of the first matching rule that redirects or names a file. */
function first(text: string, path: string, query = ''): string {
  const rules = redirects(text).redirects;
  const [matched] = [...rules.forced(path), ...rules.others(path)];
  if (matched === undefined) return 'none';
  const { rule, captures } = matched;
  const { status, target, isForced } = rule;
  const where =
    status === 200 || status === 404 ? target.pathOf(captures) : target.location(captures, query, (at) => at);
  return `${status}${isForced ? '!' : ''} ${where}`;
}

describe('readSiteRules() for _redirects', () => {
  it('redirects to no other host if a target starts with // after its first folder is removed', () => {
    const [matched] = redirects('/docs/old* /docs/:splat').redirects.others('/docs/old/evil.example');
    const strip = (path: string) => path.replace(/^\/docs/, '');
    expect(matched?.rule.target.location(matched.captures, '', strip)).toBe('/evil.example');
  });

  it.each<[string, string, string]>([
    ['/a /b', '/a', '301 /b'],
    ['/a /b', '/a/', '301 /b'],
    ['/a/ /b', '/a', '301 /b'],
    ['/a /b', '/A', 'none'],
    ['/a /b', '/a/c', 'none'],
    ['/a /b', '/ab', 'none'],
    ['/ /home', '/', '301 /home'],
    ['\uFEFF/a /b', '/a', '301 /b'],
    ['# /a /x\n\n  /a\t\t/b   # why', '/a', '301 /b'],
    ['/a /b 302\r\n/c /d 303\r\n', '/c', '303 /d'],
    ['/a /b 301', '/a', '301 /b'],
    ['/a /b 302', '/a', '302 /b'],
    ['/a /b 303', '/a', '303 /b'],
    ['/a /b 307', '/a', '307 /b'],
    ['/a /b 308', '/a', '308 /b'],
    ['/a /b 308!', '/a', '308! /b'],
    ['/a /b 200', '/a', '200 /b'],
    ['/a /b 200!', '/a', '200! /b'],
    ['/a /b 404', '/a', '404 /b'],
    ['/in/* /:splat/x 302', '/in', '302 /x'],
    ['/old/* /new/:splat', '/old/a/b', '301 /new/a/b'],
    ['/old/* /new/:splat', '/old', '301 /new/'],
    ['/old/* /new/:splat', '/old/', '301 /new/'],
    ['/old/* /new/:splat', '/older', 'none'],
    ['/old/* /new/:splat', '/old/a/', '301 /new/a/'],
    ['/old/* /new/:splat', '/old/a/b/', '301 /new/a/b/'],
    ['/old* /new/:splat', '/older/', '301 /new/er/'],
    ['/old* /new/:splat', '/old/', '301 /new/'],
    ['/old* /new/:splat', '/old/a', '301 /new/a'],
    ['/old/*/ /new/:splat', '/old/a/', '301 /new/a'],
    ['/old/* /:splat/x', '/old/a/', '301 /a/x'],
    ['/old/* /n/:splat/x', '/old', '301 /n/x'],
    ['/old/* /n?p=:splat', '/old/a/', '301 /n?p=a%2F'],
    ['/old/* https://x.example/:splat', '/old/a/', '301 https://x.example/a/'],
    ['/old/* https://x.example/of/https://y.example/:splat', '/old/a', '301 https://x.example/of/https://y.example/a'],
    ['/:v/old/* /:v/:splat', '/1/old/a/', '301 /1/a/'],
    ['/:v /x/:v', '/1/', '301 /x/1'],
    ['/old* /new/:splat', '/older', '301 /new/er'],
    ['/*.php /:splat', '/a/b.php', '301 /a/b'],
    ['/*.php /:splat', '/a/b.php/', '301 /a/b'],
    ['/a/*/z /:splat', '/a/b/c/z', '301 /b/c'],
    ['/a/*/z /:splat', '/a/z', 'none'],
    ['/:lang/docs /d/:lang', '/en/docs', '301 /d/en'],
    ['/:lang/docs /d/:lang', '/docs', 'none'],
    ['/:lang/docs /d/:lang', '/en/us/docs', 'none'],
    ['/:a/:b/* /:b/:a/:splat', '/x/y/z/w', '301 /y/x/z/w'],
    ['/:a/:b/* /:b/:a/:splat', '/x/y', '301 /y/x/'],
    ['/:a/:b/* /:b', '/x', 'none'],
    ['/news/:y/:m /n?y=:y&m=:m', '/news/2024/06', '301 /n?y=2024&m=06'],
    ['/:v/* /x/:unknown/:v', '/1/2', '301 /x/:unknown/1'],
    ['/a /b#c', '/a', '301 /b#c'],
    ['/a https://x.example/b', '/a', '301 https://x.example/b'],
    ['/a https://x.example', '/a', '301 https://x.example/'],
    ['/a https://x.example:8443/b', '/a', '301 https://x.example:8443/b'],
    ['/a/* https://x.example/:splat 302', '/a/b/c', '302 https://x.example/b/c'],
    ['/a /b\n/a /c', '/a', '301 /b'],
    ['/* /all\n/a /c', '/a', '301 /all'],
    ['/a /c\n/* /all', '/a', '301 /c'],
    ['/:x /any\n/a /c', '/a', '301 /any'],
    ['/a/* /in\n/:x/* /any\n/a/b /whole', '/a/b', '301 /in'],
    ['/* /all\n/a /b 301!', '/a', '301! /b'],
    ['/caf%C3%A9 /x', '/café', '301 /x'],
    ['/café /x', '/café', '301 /x'],
    ['/a /日本', '/a', '301 /%E6%97%A5%E6%9C%AC'],
    ['/a/* /b/:splat', '/a/日 本?#%', '301 /b/%E6%97%A5%20%E6%9C%AC%3F%23%25'],
    ['/a /b%20c', '/a', '301 /b%20c'],
  ])('applies the rules %j to the path %s: %s', (text, path, expected) => {
    expect(first(text, path)).toBe(expected);
    expect(redirects(text).notices).toEqual([]);
  });

  it.each<[string, string, string]>([
    ['/a /b', '?q=1', '301 /b?q=1'],
    ['/a /b?x=2', '?q=1', '301 /b?x=2&q=1'],
    ['/a /b?x=2#c', '?q=1', '301 /b?x=2&q=1#c'],
    ['/a /b#c', '?q=1', '301 /b?q=1#c'],
    ['/a /b', '?', '301 /b?'],
    ['/a https://x.example/', '?q=1', '301 https://x.example/?q=1'],
  ])('applies the rule %j to a request with the query %s: %s', (text, query, expected) => {
    expect(first(text, '/a', query)).toBe(expected);
  });

  it.each<[string, string, string]>([
    ['/x* /:splat', '/x/evil.example', '301 /evil.example'],
    ['/x/* /:splat/evil.example', '/x', '301 /evil.example'],
    ['/x/* /:splat', '/x/\\evil.example', '301 /%5Cevil.example'],
    ['/x/* /:splat', '/x/a\r\nSet-Cookie: b', '301 /a%0D%0ASet-Cookie%3A%20b'],
    ['/x/* https://good.example/:splat', '/x/@evil.example', '301 https://good.example/%40evil.example'],
    ['/:a/* https://good.example:443/:a', '/.evil.example/y', '301 https://good.example:443/.evil.example'],
    ['/a /b\\c', '/a', '301 /b%5Cc'],
    ['/a /b"<>', '/a', '301 /b%22%3C%3E'],
  ])('does not let the rule %j redirect to another host or add a header for the path %j', (text, path, expected) => {
    expect(first(text, path)).toBe(expected);
  });

  it.each([
    ['/a', 'has no target'],
    ['/a # /b', 'has no target'],
    ['a /b', 'is not a path from the root'],
    ['https://x.example/a /b', 'names a host'],
    ['/a b', 'neither a path from the root'],
    ['/a //evil.example', 'neither a path from the root'],
    ['/a /\\evil.example', 'neither a path from the root'],
    ['/a javascript:alert(1)', 'neither a path from the root'],
    ['/a data:text/html,x', 'neither a path from the root'],
    ['/a ftp://x.example/', 'neither a path from the root'],
    ['/* https://:splat/', 'is not a host that a redirect can name'],
    ['/* https://x.example:splat/', 'is not a host that a redirect can name'],
    ['/a https://user:pw@x.example/', 'is not a host that a redirect can name'],
    ['/a https://x.example\\@y/', 'is not a host that a redirect can name'],
    ['/a /b 200x', 'has the status "200x"'],
    ['/a /b 418', 'has the status "418"'],
    ['/a /b !', 'has the status "!"'],
    ['/a /b ok', 'has the status "ok"'],
    ['/a https://x.example/ 200', 'does not forward requests'],
    ['/a https://x.example/ 404', 'does not forward requests'],
    ['/a /b 301 Country=au', 'has a condition'],
    ['/a /b Language=de', 'has a condition'],
    ['/a /b 301 x y', 'has a condition'],
    ['/a id=:id /b/:id', 'requires the query'],
    ['/a?b /c', 'contains a query, a fragment'],
    ['/a//b /c', 'contains a query, a fragment'],
    ['/a*b*c /d', 'several "*"'],
    ['/:a/*/c /d', 'not its last segment'],
    ['/:a/b* /d', 'not its last segment'],
    ['/:a-:b /d', 'not a placeholder'],
    ['/: /d', 'not a placeholder'],
    ['/%zz /d', 'percent sign'],
    ['/d /%zz', 'percent sign'],
    ['/a\u0000 /b', 'control character'],
    ['/a /b\u0007', 'control character'],
  ])('ignores the invalid line %j, and returns a notice with its number', (line, reason) => {
    const { redirects: rules, notices } = redirects(`/kept /x\n${line}\n`);
    expect(notices).toHaveLength(1);
    expect(notices[0]).toMatch(/^_redirects of the bundle, line 2, .*; docshelf ignores it\.$/);
    expect(notices[0]).toContain(reason);
    expect([...rules.others('/kept')]).toHaveLength(1);
    expect([...rules.others('/a'), ...rules.forced('/a')]).toEqual([]);
  });

  it.each<[rules: string, lines: readonly number[], by: string]>([
    ['/a/* /a/b/:splat', [1], '/a/b/x'],
    ['/* /:splat/x', [1], '/x/x'],
    ['/:a/* /:a/:a/:splat 302!', [1], '/x/x/x'],
    ['/a/* /b/:splat\n/b/* /a/:splat', [1, 2], '/b/x'],
    ['/a/* /b\n/b /a/c', [1, 2], '/b'],
    ['/a /b\n/b /c/\n/c /a\n/d /x', [1, 2, 3], '/b'],
    [`/a/* /a/${':splat/'.repeat(20)}`, [1], '/a/x'],
    [Array.from({ length: 30 }, (_, n) => `/${n}/* /${(n + 1) % 30}/:splat`).join('\n'), [1, 2, 3], '/1/x'],
  ])('keeps the rules %j, and returns a notice that they redirect endlessly', (text, lines, by) => {
    const { faults, notices } = redirects(text);
    expect(faults.slice(0, 3).map(({ line }) => line)).toEqual(lines);
    expect(notices[0]).toMatch(
      /^_redirects of the bundle, line 1, redirects endlessly through ".*"; docshelf applies it only to paths whose redirects end\.$/,
    );
    expect(notices[0]).toContain(`through "${by}`);
  });

  it.each([
    '/* /',
    '/a/* /b/:splat\n/b/* /c/:splat',
    '/a/* /a/:splat',
    '/* /:splat/',
    '/* /x 200',
    '/a/* /b\n/b /c',
    '/d /d/\n/e /f\n/e /e',
  ])('returns no notice for the rules %j, whose redirects end', (text) => {
    expect(redirects(text).notices).toEqual([]);
  });

  it('ignores a rule whose target has more than 8,192 characters, or whose path already has 256 rules', () => {
    const long = redirects(`/a/* /${':splat/'.repeat(40_000)}\n/b /c`);
    expect(long.notices).toEqual([
      '_redirects of the bundle, line 1, has a target of more than 8192 characters; docshelf ignores it.',
    ]);
    const many = redirects('/* /gone 200\n'.repeat(300));
    expect(many.notices[0]).toBe(
      '_redirects of the bundle, line 257, repeats the path of 256 rules before it; docshelf ignores it.',
    );
    expect(many.faultCount).toBe(44);
  });

  it('returns no path and no location longer than 8 KiB', () => {
    for (const path of [`/a/${'b'.repeat(400)}`, `/a/${'日'.repeat(100)}`, `/a/${'%'.repeat(400)}`, '/a/b']) {
      for (const target of [
        `/${':splat'.repeat(1000)}`,
        `/x?y=${':splat'.repeat(1000)}`,
        `https://x.example/:splat#${':splat'.repeat(1000)}`,
      ]) {
        const [matched] = redirects(`/a/* ${target}`).redirects.others(path);
        const location = matched?.rule.target.location(matched.captures, '?q', (at) => at);
        expect(location?.length ?? 0).toBeLessThanOrEqual(8192);
        if (path !== '/a/b') expect(location).toBeNull();
        expect(matched?.rule.target.pathOf(matched.captures)?.length ?? 0).toBeLessThanOrEqual(8192);
      }
    }
    const [matched] = redirects('/a /b').redirects.others('/a');
    expect(matched?.rule.target.location(matched.captures, `?${'q'.repeat(8191)}`, (at) => at)).toBeNull();
  });

  it('accepts at most 10,000 rules, and returns ten notices of invalid lines and the number of all further ones', () => {
    const many = redirects(Array.from({ length: 10_050 }, (_, n) => `/r${n} /t${n}`).join('\n'));
    expect([...many.redirects.others('/r9999')]).toHaveLength(1);
    expect([...many.redirects.others('/r10000')]).toEqual([]);
    expect(many.notices).toEqual([
      '_redirects of the bundle, line 10001, is after rule 10000, the last that docshelf reads; docshelf ignores it.',
    ]);
    const wrong = redirects('wrong\n'.repeat(40));
    expect(wrong.notices).toHaveLength(11);
    expect(wrong.notices[10]).toBe('_redirects of the bundle has 30 more invalid lines.');
    expect([wrong.faults.length, wrong.faultCount, wrong.faults[39]?.line]).toEqual([40, 40, 40]);
    const countless = redirects('\u0001\n'.repeat(1000));
    expect([countless.faults.length, countless.faultCount]).toEqual([200, 1000]);
    expect(redirects(`${'x'.repeat(50_000)} /b`).notices[0]?.length).toBeLessThan(400);
  });

  it('ignores a file larger than 1 MiB, and returns a notice', () => {
    const large = redirects(`/a /b\n${'#'.repeat(1024 ** 2)}`);
    expect(large.notices).toEqual(['_redirects of the bundle is over 1 MiB; docshelf ignores all its rules.']);
    expect(large.faults).toMatchObject([{ file: '_redirects', line: null }]);
    expect([...large.redirects.others('/a')]).toEqual([]);
  });
});

const of = (text: string, path: string): Record<string, string> =>
  Object.fromEntries(headers(text).headers.headersFor(path).set);

describe('readSiteRules() for _headers', () => {
  it.each<[string, string, Record<string, string>]>([
    ['/*\n  X-Robots-Tag: noindex', '/a/b', { 'X-Robots-Tag': 'noindex' }],
    ['/*\n  X-Robots-Tag: noindex', '/', { 'X-Robots-Tag': 'noindex' }],
    ['/*\nx-robots-tag:noindex', '/', { 'X-Robots-Tag': 'noindex' }],
    ['# a\n/a\n\n  # b\n  Referrer-Policy: no-referrer', '/a', { 'Referrer-Policy': 'no-referrer' }],
    ['/a\n  Referrer-Policy: no-referrer', '/a/', { 'Referrer-Policy': 'no-referrer' }],
    ['/a\n  Referrer-Policy: no-referrer', '/b', {}],
    ['/:v/api/*\n  X-Robots-Tag: none', '/v1/api/x', { 'X-Robots-Tag': 'none' }],
    ['/*.pdf\n  X-Robots-Tag: none', '/a/b.pdf', { 'X-Robots-Tag': 'none' }],
    ['/*.pdf\n  X-Robots-Tag: none', '/a/b.html', {}],
    [
      '/_astro/*\n  Cache-Control: public\n  Cache-Control: max-age=31536000\n  Cache-Control: immutable',
      '/_astro/a.js',
      { 'Cache-Control': 'public, max-age=31536000, immutable' },
    ],
    ['/*\n  Cache-Control: no-cache\n/a/*\n  Cache-Control: max-age=60', '/a/b', { 'Cache-Control': 'max-age=60' }],
    ['/*\n  X-Robots-Tag: noindex\n/a\n  X-Robots-Tag: nofollow', '/a', { 'X-Robots-Tag': 'noindex, nofollow' }],
    ['/*\n  X-Frame-Options: DENY\n/a\n  ! X-Frame-Options', '/a', {}],
    ['/*\n  Content-Language: de', '/', { 'Content-Language': 'de' }],
    ['/*\n  Access-Control-Allow-Origin: *', '/', { 'Access-Control-Allow-Origin': '*' }],
    ['/*\n  Cross-Origin-Resource-Policy: same-site', '/', { 'Cross-Origin-Resource-Policy': 'same-site' }],
    ['/*\n  Permissions-Policy: camera=()', '/', { 'Permissions-Policy': 'camera=()' }],
    ['/*\n  Link: </a.css>; rel=preload; as=style', '/', { Link: '</a.css>; rel=preload; as=style' }],
  ])('applies the headers %j to the path %s', (text, path, expected) => {
    expect(of(text, path)).toEqual(expected);
    expect(headers(text).notices).toEqual([]);
  });

  it.each<[string, string, string]>([
    [
      'Link: </a.css>; rel=preload, <https://x.example/b.js>; rel=preload, </c.js>; rel="a, b"',
      '</a.css>; rel=preload, </c.js>; rel="a, b"',
      'has parts of Link that may contact another site (1)',
    ],
    ['Link: </a>; rel=next, </\t/x.example>; rel=preload', '</a>; rel=next', 'parts of Link'],
    ['Link: <https://x.example/a,b>; title="c, d", </e>', '</e>', 'parts of Link'],
    [
      "Content-Security-Policy: default-src 'self'; report-uri https://x.example/r; img-src *",
      "default-src 'self'; img-src *",
      'parts of Content-Security-Policy that may contact another site (report-uri https://x.example/r)',
    ],
    [
      "Content-Security-Policy: default-src 'self'; report-uri /r; report-to x",
      "default-src 'self'; report-uri /r",
      'parts of Content-Security-Policy that may contact another site (report-to x)',
    ],
    ['Content-Security-Policy: img-src *; report-uri a.example/r', 'img-src *', '(report-uri a.example/r)'],
    ['Content-Security-Policy: img-src *; report-uri', 'img-src *', '(report-uri)'],
    ['Content-Security-Policy: img-src *; report-uri /\t/x.example/r \\r', 'img-src *', 'parts of'],
    [
      'Content-Security-Policy-Report-Only: img-src *; report-uri /r //x.example/r',
      'img-src *',
      'parts of Content-Security-Policy-Report-Only',
    ],
  ])(
    'removes from the header %j only the parts that contact another site, and returns a notice of them',
    (line, expected, reason) => {
      const { headers: rules, notices } = headers(`/*\n  ${line}`);
      expect([...rules.headersFor('/').set.values()]).toEqual([expected]);
      expect(notices).toHaveLength(1);
      expect(notices[0]).toMatch(/^_headers of the bundle, line 2, .*; docshelf applies the other parts\.$/);
      expect(notices[0]).toContain(reason);
    },
  );

  it.each([
    '</a>',
    '</a>; rel=preload; as=image; imagesrcset="/a.png 1x, /b.png 2x"; imagesizes=100vw',
    '</a>; rel=preload; as=image; imagesrcset="a.png 1x,b.png 2x"',
    '</a>; rel=preload; as=font; crossorigin; nopush',
    '</a>; rel=next; anchor="#b"; title="a; b, c: \\"d\\""',
    '</a,b;c?d=//e#f>; rel=prefetch; fetchpriority=high',
    '</a>; rel="https://x.example/relation"; hreflang=de',
  ])('accepts the Link header %s', (link) => {
    expect(of(`/*\n  Link: ${link}`, '/')).toEqual({ Link: link });
    expect(of(`/*\n  Link: ${link.replaceAll('; r', ';r')} , </z>`, '/')).toEqual({ Link: `${link}, </z>` });
  });

  it.each([
    '</\t/x.example/a>; rel=preload',
    '<\t//x.example/a>; rel=preload',
    '< //x.example/a>; rel=preload',
    '</ /x.example>; rel=preload',
    '<\\\\x.example/a>; rel=preload',
    '<h\tttps://x.example/a>; rel=preload',
    '<https:x.example>; rel=preload',
    '<//x.example/a>; rel=dns-prefetch',
    '</a>; rel=preload; as=image; imagesrcset="https://x.example/a.png 1x"',
    '</a>; rel=preload; as=image; imagesrcset="/a.png 1x, //x.example/b.png 2x"',
    '</a>; rel=preload; as=image; imagesrcset="/a.png 1x,\t/\t/x.example/b.png 2x"',
    '</a>; rel=preload; as=image; IMAGESRCSET=//x.example/b.png',
    '</a>; rel=preload; as=image; imagesrcset="\\\\x.example/b.png 2x"',
    '</a>; rel=canonical; anchor="https://x.example/"',
    "</a>; rel=canonical; anchor*=UTF-8''https%3A%2F%2Fx.example",
    '</a>; rel=preload; other="https://x.example/"',
    '</a>; rel=preload; title="<https://x.example/>; rel=preload"',
    '</a>; rel=preload; title="b',
    '</a>; rel=preload, <https://x.example/>; title="b',
    '</a> <https://x.example/>; rel=preload',
    '</a',
    'x',
  ])('removes the invalid and external parts of the Link header %j', (link) => {
    const set = of(`/*\n  Link: ${link}\n  Link: </own>`, '/');
    expect(set.Link).toMatch(/^(?:<\/a>; rel=preload, )?<\/own>$/);
    expect(headers(`/*\n  Link: ${link}`).notices).toHaveLength(1);
  });

  it.each([
    ['a policy with many addresses', `Content-Security-Policy: report-uri ${'/a'.repeat(1500)} x`],
    ['a link with many commas', `Link: <https://x.example>${','.repeat(4000)}x`],
    ['a link with many brackets', `Link: ${'<'.repeat(4000)}`],
    ['a link with many quotes', `Link: </a>; x="${'\\"'.repeat(1990)}`],
    ['a link with many separators', `Link: <a>${';'.repeat(4000)}`],
    ['many links', `Link: ${'<a>,'.repeat(1000)}`],
    ['many images', `Link: <a>; imagesrcset="${'a 1x,'.repeat(750)}"`],
    ['a link with a million commas', `Link: <https://x.example>${','.repeat(1_000_000)}x`],
  ])('ignores a hostile value without quadratic time, and returns a notice: %s', (_, line) => {
    const { headers: rules, notices } = headers(`/*\n  ${line}`);
    expect([rules.isEmpty, notices.length]).toEqual([true, 1]);
  });

  it.each([
    ['Set-Cookie: a=b', 'sets "Set-Cookie", which docshelf does not accept'],
    ['Content-Type: text/html', 'does not accept'],
    ['Content-Length: 3', 'does not accept'],
    ['Content-Encoding: br', 'does not accept'],
    ['Transfer-Encoding: chunked', 'does not accept'],
    ['Connection: close', 'does not accept'],
    ['Location: /x', 'does not accept'],
    ['Refresh: 0; url=https://x.example', 'does not accept'],
    ['Strict-Transport-Security: max-age=1', 'does not accept'],
    ['Service-Worker-Allowed: /', 'does not accept'],
    ['Basic-Auth: a:b', 'does not accept'],
    ['Clear-Site-Data: "*"', 'does not accept'],
    ['Access-Control-Allow-Credentials: true', 'does not accept'],
    ['Reporting-Endpoints: a="https://x.example"', 'does not accept'],
    ['NEL: {}', 'does not accept'],
    ['ETag: "x"', 'does not accept'],
    ['__proto__: x', 'does not accept'],
    ['! Set-Cookie', 'does not accept'],
    ['X Robots: x', 'does not accept'],
    ['X-Robots-Tag', 'neither a path nor a header'],
    [': x', 'neither a path nor a header'],
    ['X-Robots-Tag:', 'empty or not ASCII'],
    ['X-Robots-Tag: größe', 'empty or not ASCII'],
    ['X-Robots-Tag: a\u0000b', 'control character'],
    ['X-Robots-Tag: a\u007fb', 'control character'],
    [`X-Robots-Tag: ${'a'.repeat(5000)}`, 'longer than 4096'],
    ['Link: <https://x.example/a>; rel=preload', 'to a value that contacts another site'],
    ['Link: <//x.example/a>; rel=preload', 'to a value that contacts another site'],
    ['Link: </\\x.example/a>; rel=preload', 'to a value that contacts another site'],
    ['Content-Security-Policy: report-uri https://x.example', 'to a value that contacts another site'],
  ])('ignores the invalid line %j, and returns a notice with its number', (line, reason) => {
    const { headers: rules, notices } = headers(`/*\n  Referrer-Policy: origin\n  ${line}\n  Content-Language: de`);
    const { set } = rules.headersFor('/');
    expect(set.get('Referrer-Policy')).toBe('origin');
    expect(set.get('Content-Language')).toBe('de');
    expect(set.size).toBe(2);
    expect(notices).toHaveLength(1);
    expect(notices[0]).toMatch(/^_headers of the bundle, line 3, .*; docshelf ignores it\.$/);
    expect(notices[0]).toContain(reason);
  });

  it('accepts a space before the colon of a header line', () => {
    const { headers: rules, notices } = headers('/*\n  X-Robots-Tag : x');
    expect([rules.headersFor('/').set.get('X-Robots-Tag'), notices]).toEqual(['x', []]);
  });

  it('sets only one header per line, whatever line separators the value contains', () => {
    const { headers: rules } = headers('/*\n  X-Robots-Tag: a\rSet-Cookie: b\r\n  Content-Language: de\u2028X: y');
    expect(Object.fromEntries(rules.headersFor('/').set)).toEqual({ 'X-Robots-Tag': 'a' });
  });

  it('ignores headers of other hosts, headers without a path, and headers of invalid paths', () => {
    const text =
      'X-Robots-Tag: a\nhttps://x.example/*\n  X-Robots-Tag: b\n/c*d*\n  X-Robots-Tag: c\n/d\n  X-Robots-Tag: d';
    const { headers: rules, notices } = headers(text);
    expect(notices.map((notice) => /line (\d+)/.exec(notice)?.[1])).toEqual(['1', '2', '4']);
    expect(rules.headersFor('/x').set.size).toBe(0);
    expect(rules.headersFor('/d').set.get('X-Robots-Tag')).toBe('d');
  });

  it('limits the combined value of thousands of rules for one header', () => {
    const rules = headers(`/*\n  X-Robots-Tag: ${'a'.repeat(50)}\n`.repeat(9_000)).headers;
    expect(rules.headersFor('/a').set.get('X-Robots-Tag')?.length).toBeLessThanOrEqual(4096);
  });

  it('limits the total size of the headers of one response, and keeps the first headers', () => {
    const value = 'a'.repeat(3000);
    const rules = headers(
      `/*\n  Referrer-Policy: ${value}\n  X-Robots-Tag: ${value}\n  Permissions-Policy: ${value}`,
    ).headers;
    expect([...rules.headersFor('/').set.keys()]).toEqual(['Referrer-Policy', 'X-Robots-Tag']);
    const text = `/*\n  Referrer-Policy: ${value}\n  X-Robots-Tag: ${value}\n/a\n  ! X-Robots-Tag\n  Permissions-Policy: ${value}`;
    expect([...headers(text).headers.headersFor('/a').set.keys()]).toEqual(['Referrer-Policy', 'Permissions-Policy']);
  });

  it('changes Link headers to the new base path if the site is served at another base path', () => {
    const rules = headers('/*\n  Link: </docs/a.css>; rel=preload, </b.css>; rel=preload').headers;
    const moved = rules.mounted({ from: '/docs/', to: '/team/' });
    expect(moved.headersFor('/').set.get('Link')).toBe('</team/a.css>; rel=preload, </b.css>; rel=preload');
    const image = '</docs/a.png>; rel=preload; imagesrcset="/docs/a.png 1x,/docs/b.png 2x, c.png 3x"; title="/docs/"';
    const images = headers(`/*\n  Link: ${image}`).headers.mounted({ from: '/docs/', to: '/team/' });
    expect(images.headersFor('/').set.get('Link')).toBe(
      '</team/a.png>; rel=preload; imagesrcset="/team/a.png 1x,/team/b.png 2x, c.png 3x"; title="/docs/"',
    );
  });
});
