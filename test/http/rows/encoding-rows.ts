import type { Row } from './row.ts';

const PLAIN = '200 | -content-encoding | etag: {etag} | vary~ Accept-Encoding';
const GZIP = '200 | content-encoding: gzip | etag: {etag-gzip} | vary~ Accept-Encoding';
const BROTLI = '200 | content-encoding: br | etag~ ^" | vary~ Accept-Encoding';
const NO_BROTLI = 'nginx does not include Brotli';
const UNVARIED = 'nginx sends Vary with all content of a type that it compresses';
const NO_IDENTITY = 'nginx reads only the weight of gzip, and ignores the other codings';

/** Requests with Accept-Encoding, and the coding that RFC 9110 (section 12.5.3) requires. */
export const ENCODING_ROWS: readonly Row[] = [
  ['/page.html', PLAIN],
  ['/page.html | Accept-Encoding:', PLAIN],
  ['/page.html | Accept-Encoding: identity', PLAIN],
  ['/page.html | Accept-Encoding: gzip', GZIP],
  ['/page.html | Accept-Encoding: GZIP', GZIP],
  ['/page.html | Accept-Encoding: x-gzip', GZIP, 'x-gzip is gzip (RFC 9110, section 8.4.1.3)'],
  ['/page.html | Accept-Encoding: gzip, deflate', GZIP],
  ['/page.html | Accept-Encoding: deflate, gzip', GZIP],
  ['/page.html | Accept-Encoding: deflate', PLAIN],
  ['/page.html | Accept-Encoding: compress', PLAIN],
  ['/page.html | Accept-Encoding: gzip;q=1', GZIP],
  ['/page.html | Accept-Encoding: gzip;q=1.0', GZIP],
  ['/page.html | Accept-Encoding: gzip;q=1.000', GZIP],
  ['/page.html | Accept-Encoding: gzip;q=0.001', GZIP],
  ['/page.html | Accept-Encoding: gzip; q=0.5', GZIP],
  ['/page.html | Accept-Encoding: gzip ; q=0.5', GZIP],
  ['/page.html | Accept-Encoding: gzip;Q=0.5', GZIP],
  ['/page.html | Accept-Encoding: gzip;q=0', PLAIN],
  ['/page.html | Accept-Encoding: gzip;q=0.0', PLAIN],
  ['/page.html | Accept-Encoding: gzip;q=0.000', PLAIN],
  ['/page.html | Accept-Encoding: gzip; q=0', PLAIN],
  ['/page.html | Accept-Encoding: gzip;q=nonsense', PLAIN],
  ['/page.html | Accept-Encoding: gzip;q=', PLAIN],
  ['/page.html | Accept-Encoding: gzip;q=-1', PLAIN],
  ['/page.html | Accept-Encoding: gzip;q=1.5', PLAIN],
  ['/page.html | Accept-Encoding: gzip;q=0.1234', PLAIN],
  ['/page.html | Accept-Encoding: xgzip', PLAIN],
  ['/page.html | Accept-Encoding: gzipx', PLAIN],
  ['/page.html | Accept-Encoding: "gzip"', PLAIN],
  ['/page.html | Accept-Encoding: gzip, identity', GZIP],
  ['/page.html | Accept-Encoding: identity, gzip', GZIP],
  ['/page.html | Accept-Encoding: gzip;q=0.5, identity;q=0.5', GZIP],
  ['/page.html | Accept-Encoding: gzip;q=0.4, identity;q=0.5', PLAIN, NO_IDENTITY],
  ['/page.html | Accept-Encoding: identity;q=0, gzip', GZIP],
  ['/page.html | Accept-Encoding: *;q=0, gzip', GZIP],
  ['/page.html | Accept-Encoding: gzip, *;q=0', GZIP],
  // If all codings are excluded, a response without coding is better than 406, which is optional.
  ['/page.html | Accept-Encoding: identity;q=0', PLAIN],
  ['/page.html | Accept-Encoding: *;q=0', PLAIN],
  ['/page.html | Accept-Encoding: identity;q=0, *;q=0', PLAIN],
  ['/page.html | Accept-Encoding: gzip;q=0, br;q=0, identity;q=0', PLAIN],
  ['/page.html | Accept-Encoding: ,,gzip,', GZIP],
  [
    '/page.html | Accept-Encoding: deflate | Accept-Encoding: gzip',
    GZIP,
    'two header lines form one list (RFC 9110, section 5.3), but nginx uses only the first',
  ],
  ['/page.html | Accept-Encoding: br', BROTLI, NO_BROTLI],
  ['/page.html | Accept-Encoding: BR', BROTLI, NO_BROTLI],
  ['/page.html | Accept-Encoding: gzip, br', BROTLI, NO_BROTLI],
  ['/page.html | Accept-Encoding: br, gzip', BROTLI, NO_BROTLI],
  ['/page.html | Accept-Encoding: gzip, deflate, br, zstd', BROTLI, NO_BROTLI],
  ['/page.html | Accept-Encoding: gzip;q=0.9, br;q=0.8', GZIP],
  ['/page.html | Accept-Encoding: br;q=1.0, gzip;q=0.8, *;q=0.1', BROTLI, NO_BROTLI],
  ['/page.html | Accept-Encoding: br;q=0, gzip', GZIP],
  ['/page.html | Accept-Encoding: br;q=0, *', GZIP, 'any coding is gzip, too'],
  ['/page.html | Accept-Encoding: *', BROTLI, 'any coding is Brotli, too'],
  ['/page.html | Accept-Encoding: *;q=0.5', BROTLI, 'any coding is Brotli, too'],
  ['/page.html | Accept-Encoding: gzip;q=0, *', BROTLI, 'any coding is Brotli, too'],
  ['HEAD /page.html | Accept-Encoding: gzip', '200 | content-encoding: gzip | etag: {etag-gzip} | body: '],
  ['HEAD /page.html', `${PLAIN} | body: `],

  // Small, empty and incompressible files are sent without compression.
  [
    '/ten.txt | Accept-Encoding: gzip',
    '200 | -content-encoding | content-length: 10 | vary~ Accept-Encoding',
    UNVARIED,
  ],
  ['/noise.bin | Accept-Encoding: gzip', '200 | -content-encoding | content-length: 2048'],
  ['/empty.txt | Accept-Encoding: gzip', '200 | -content-encoding | content-length: 0'],

  // Large content is compressed while it is sent, so its response has no Content-Length.
  [
    '/large.txt | Accept-Encoding: gzip',
    '200 | content-encoding: gzip | transfer-encoding: chunked | -content-length | body~ ^line 0 .*line 7999 [0-9a-f]{64}\n$',
  ],
  [
    '/large.txt',
    '200 | -content-encoding | -transfer-encoding | content-length~ ^\\d+$ | body~ line 7999 [0-9a-f]{64}\n$',
  ],
  ['HEAD /large.txt', '200 | content-length~ ^\\d+$ | body: '],
  ['HEAD /large.txt | Accept-Encoding: gzip', '200 | content-encoding: gzip | -content-length | body: '],
  [
    'GET /large.txt HTTP/1.0↵Accept-Encoding: gzip↵↵',
    ['200 | content-encoding: gzip | -transfer-encoding | -content-length | body~ line 7999 [0-9a-f]{64}\n$'],
  ],
  ['GET /page.html HTTP/1.0↵Accept-Encoding: gzip↵↵', ['200 | content-encoding: gzip | -transfer-encoding']],

  // 404 pages are compressed also, but have no entity tag.
  ['/nowhere | Accept-Encoding: gzip', '404 | -etag | body: missing', 'nginx adds an entity tag to its error page'],

  // Other kinds of negotiation are not supported.
  ['/page.html | Accept: image/png', PLAIN],
  ['/page.html | Accept-Language: fr', PLAIN],
  ['/page.html | Accept-Charset: iso-8859-1', PLAIN],
];
