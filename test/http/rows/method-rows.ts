import type { Row } from './row.ts';

const REFUSED = '405 | allow: GET, HEAD';
const NO_ALLOW = 'a 405 must list the allowed methods (RFC 9110, section 15.5.6), but nginx omits them';
const UNKNOWN = 'an unknown method gets 501 (RFC 9110, section 9.1), but nginx responds with 400 or 405';
const PERMANENT = 'docshelf redirects with 308, which keeps the method';

/** Requests with different methods, and the responses that RFC 9110 (section 9) requires. */
export const METHOD_ROWS: readonly Row[] = [
  ['GET /ten.txt', '200 | body: 0123456789'],
  [
    'HEAD /ten.txt',
    '200 | body:  | content-length: 10 | content-type~ ^text/plain | etag~ ^" | accept-ranges: bytes | last-modified~ GMT$',
  ],
  ['HEAD /empty.txt', '200 | content-length: 0'],
  ['HEAD /nowhere', '404 | body:  | content-type~ ^text/html | content-length: 7'],
  ['HEAD /nowhere.js', '404 | body: '],
  ['HEAD /folder', '308 | body:  | location: folder/', PERMANENT],
  ['HEAD /%zz', '400 | body: '],
  ['POST /ten.txt', REFUSED, NO_ALLOW],
  ['PUT /ten.txt', REFUSED, NO_ALLOW],
  ['DELETE /ten.txt', REFUSED, NO_ALLOW],
  ['PATCH /ten.txt', REFUSED, NO_ALLOW],
  ['OPTIONS /ten.txt', REFUSED, NO_ALLOW],
  ['TRACE /ten.txt', REFUSED, NO_ALLOW],
  ['PROPFIND /ten.txt', REFUSED, NO_ALLOW],
  ['MKCOL /ten.txt', REFUSED, NO_ALLOW],
  ['QUERY /ten.txt', REFUSED, NO_ALLOW],
  ['M-SEARCH /ten.txt', REFUSED, NO_ALLOW],
  ['POST /nowhere', REFUSED, 'the method is judged before the address'],
  ['POST /folder', REFUSED, 'the method is judged before the address'],
  ['OPTIONS *', REFUSED, 'nginx does not support requests about the whole server'],
  ['TRACE /ten.txt | Cookie: secret', '405 | body~ ^(?!.*secret)'],
  ['TRACE /ten.txt | Max-Forwards: 0', REFUSED, NO_ALLOW],
  ['OPTIONS /ten.txt | Max-Forwards: 0', REFUSED, NO_ALLOW],
  [
    'OPTIONS /ten.txt | Origin: https://x.example | Access-Control-Request-Method: PUT',
    `${REFUSED} | -access-control-allow-origin`,
    NO_ALLOW,
  ],
  ['BREW /ten.txt', '501', UNKNOWN],
  ['get /ten.txt', '501', UNKNOWN],
  ['Get /ten.txt', '501', UNKNOWN],
  ['GETS /ten.txt', '501', UNKNOWN],
  ['/ten.txt | X-HTTP-Method-Override: DELETE', '200'],
  ['/ten.txt | Origin: https://x.example', '200 | -access-control-allow-origin'],
  // The body of a GET has no meaning, and is no reason to reject the request (section 9.3.1).
  ['GET /ten.txt HTTP/1.1↵Host: x↵Content-Length: 5↵↵abcde', ['200 | body: 0123456789', '200 | body: last']],
  [
    'GET /ten.txt HTTP/1.1↵Host: x↵Transfer-Encoding: chunked↵↵5↵abcde↵0↵↵',
    ['200 | body: 0123456789', '200 | body: last'],
  ],
  ['HEAD /ten.txt HTTP/1.1↵Host: x↵Content-Length: 5↵↵abcde', ['200 | body: ', '200 | body: last']],
  // The body of a rejected request is read, or the connection is closed (RFC 9112, section 9.3).
  ['POST /ten.txt HTTP/1.1↵Host: x↵Content-Length: 5↵↵abcde', [REFUSED, '200 | body: last'], NO_ALLOW],
  ['PUT /ten.txt HTTP/1.1↵Host: x↵Transfer-Encoding: chunked↵↵5↵abcde↵0↵↵', [REFUSED, '200 | body: last'], NO_ALLOW],
  ['POST /ten.txt HTTP/1.1↵Host: x↵Content-Length: 0↵↵', [REFUSED, '200 | body: last'], NO_ALLOW],
  [
    'POST /ten.txt HTTP/1.1↵Host: x↵Content-Length: 48↵↵GET /page.html HTTP/1.1↵Host: x↵X-Pad: 123↵↵',
    [REFUSED, '200 | body: last'],
    NO_ALLOW,
  ],
  ['DELETE /ten.txt HTTP/1.1↵Host: x↵↵', [REFUSED, '200 | body: last'], NO_ALLOW],
];
