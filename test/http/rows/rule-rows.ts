import type { Files } from '../../site/helpers.ts';
import type { Row } from './row.ts';
import { SITE_FILES } from './row-site.ts';

export const RULED_FILES: Files = {
  ...SITE_FILES,
  _redirects: `
/old /ten.txt
/old-308 /ten.txt 308
/page.html /elsewhere
/forced.html /elsewhere 302!
/blog/* /news/:splat 308
/app/* /page.html 200
/gone/* /fr/404 404
/away/* https://docs.example.com/:splat
/caf%C3%A9-old /caf%C3%A9
`,
  _headers: `
/*
  X-Robots-Tag: noindex
/ten.txt
  Cache-Control: max-age=60
  Access-Control-Allow-Origin: *
/folder/*
  X-Frame-Options: DENY
  ! Referrer-Policy
/page.html
  Content-Language: de
  Set-Cookie: a=b
`,
  'forced.html': 'forced',
};

const TEN = '200 | body: 0123456789';

/** Rules together with methods, conditions, ranges and encodings. test/web/rules.test.ts tests how rules match. */
export const RULE_ROWS: readonly Row[] = [
  ['/old', '301 | location: /ten.txt | cache-control: no-cache | content-length: 0'],
  ['/%6Fld', '301 | location: /ten.txt'],
  ['HEAD /old', '301 | location: /ten.txt | body: '],
  ['POST /old', '405 | allow: GET, HEAD'],
  ['/old | If-None-Match: *', '301'],
  ['/old | If-Match: "other"', '301'],
  ['/old | Range: bytes=0-1', '301 | -content-range'],
  ['/old-308', '308 | location: /ten.txt'],
  ['/page.html', '200 | etag: {etag}'],
  ['/forced', '200 | body: forced'],
  ['/forced.html', '302 | location: /elsewhere'],
  ['/blog', '308 | location: /news/'],
  ['/blog/%C3%A9', '308 | location: /news/%C3%A9'],
  ['/blog//evil.example', '404'],
  ['/blog/..', '404'],
  ['/blog/a%0d%0aSet-Cookie:b', '404 | -set-cookie'],
  ['/app/anything/at/all', '200 | etag: {etag} | content-type~ ^text/html'],
  ['/app/anything | Accept-Encoding: gzip', '200 | content-encoding: gzip'],
  ['/app/anything | If-None-Match: {etag}', '304'],
  ['/app/anything | Range: bytes=0-4', '206 | body: <!doc'],
  ['/app/missing.js', '404 | content-type~ ^text/plain'],
  ['/gone/a', '404 | body: manque'],
  ['/gone/a | If-None-Match: *', '404'],
  ['/away/x', '301 | location: https://docs.example.com/x'],
  ['/caf%C3%A9-old', '301 | location: /caf%C3%A9'],

  ['/ten.txt', `${TEN} | cache-control: max-age=60 | access-control-allow-origin: * | x-robots-tag: noindex`],
  ['HEAD /ten.txt', '200 | cache-control: max-age=60 | x-robots-tag: noindex | body: '],
  ['/ten.txt | If-None-Match: *', '304 | cache-control: max-age=60 | x-robots-tag: noindex'],
  ['/ten.txt | Range: bytes=0-1', '206 | cache-control: max-age=60 | x-robots-tag: noindex'],
  ['/page.html', '200 | content-language: de | -set-cookie | cache-control: no-cache'],
  ['/folder/', '200 | x-frame-options: DENY | -referrer-policy | x-content-type-options: nosniff'],
  ['/folder/deep/page', '200 | x-frame-options: DENY | -referrer-policy'],
  ['/both', '200 | x-frame-options: SAMEORIGIN | referrer-policy: same-origin | x-robots-tag: noindex'],
  ['/both | Accept-Encoding: gzip', '200 | x-frame-options: SAMEORIGIN'],
  ['/nowhere', '404 | x-robots-tag: noindex | cache-control: no-cache'],
];
