import type { Row } from './row.ts';

const WHOLE = '200 | body: 0123456789 | -content-range | content-length: 10';
const NONE = '416 | content-range: bytes */10';
const part = (range: string, body: string) =>
  `206 | content-range: bytes ${range}/10 | body: ${body} | content-length: ${body.length}`;
const SEVERAL =
  'docshelf returns the whole file for several ranges, as RFC 9110 (section 14.2) allows, because browsers do not send them';
const NO_SPACE = 'nginx accepts spaces that the grammar does not allow';
const NO_DATE =
  'a date is no strong validator, because two contents can have the same date (RFC 9110, section 8.8.2.2)';
const BACKWARDS = 'an invalid range is ignored (RFC 9110, section 14.1.1), but nginx responds with 416';
const CODED =
  'ranges apply to the uncompressed file, so that a download can resume, but nginx sends no ranges of compressed content';

/** Requests for ranges (RFC 9110, section 14). The file `ten.txt` contains the ten digits. */
export const RANGE_ROWS: readonly Row[] = [
  ['/ten.txt', `${WHOLE} | accept-ranges: bytes`],
  ['/ten.txt | Range: bytes=0-0', part('0-0', '0')],
  ['/ten.txt | Range: bytes=0-9', part('0-9', '0123456789')],
  ['/ten.txt | Range: bytes=3-5', part('3-5', '345')],
  ['/ten.txt | Range: bytes=9-9', part('9-9', '9')],
  ['/ten.txt | Range: bytes=0-', part('0-9', '0123456789')],
  ['/ten.txt | Range: bytes=9-', part('9-9', '9')],
  ['/ten.txt | Range: bytes=5-9999', part('5-9', '56789')],
  ['/ten.txt | Range: bytes=000003-000005', part('3-5', '345')],
  ['/ten.txt | Range: bytes=5-18446744073709551616', part('5-9', '56789'), 'nginx reads only numbers of 64 bits'],
  ['/ten.txt | Range: bytes=-1', part('9-9', '9')],
  ['/ten.txt | Range: bytes=-10', part('0-9', '0123456789')],
  ['/ten.txt | Range: bytes=-11', part('0-9', '0123456789')],
  ['/ten.txt | Range: bytes=-99999999999999999999', part('0-9', '0123456789'), 'nginx reads only numbers of 64 bits'],
  ['/ten.txt | Range: BYTES=0-1', part('0-1', '01')],
  ['/ten.txt | range: bytes=0-1', part('0-1', '01')],
  ['/ten.txt | Range: bytes=10-', NONE],
  ['/ten.txt | Range: bytes=10-10', NONE],
  ['/ten.txt | Range: bytes=10-99', NONE],
  ['/ten.txt | Range: bytes=-0', NONE],
  ['/ten.txt | Range: bytes=99999999999999999999-', NONE],
  ['/empty.txt | Range: bytes=0-', '416 | content-range: bytes */0', 'nginx ignores ranges of an empty file'],
  ['/empty.txt | Range: bytes=0-0', '416 | content-range: bytes */0', 'nginx ignores ranges of an empty file'],
  ['/empty.txt | Range: bytes=-1', '416 | content-range: bytes */0', 'nginx ignores ranges of an empty file'],
  ['/empty.txt', '200 | content-length: 0 | body: '],

  // Invalid ranges and unknown units are ignored.
  ['/ten.txt | Range: bytes=', WHOLE],
  ['/ten.txt | Range: bytes=-', WHOLE, BACKWARDS],
  ['/ten.txt | Range: bytes=5-3', WHOLE, BACKWARDS],
  ['/ten.txt | Range: bytes=12-11', WHOLE, BACKWARDS],
  ['/ten.txt | Range: bytes=a-b', WHOLE, BACKWARDS],
  ['/ten.txt | Range: bytes=0-b', WHOLE, BACKWARDS],
  ['/ten.txt | Range: bytes=0x0-0x1', WHOLE, BACKWARDS],
  ['/ten.txt | Range: bytes=1.5-2', WHOLE, BACKWARDS],
  ['/ten.txt | Range: bytes=--1', WHOLE, BACKWARDS],
  ['/ten.txt | Range: bytes=+0-1', WHOLE, BACKWARDS],
  ['/ten.txt | Range: bytes=0-1-2', WHOLE, BACKWARDS],
  ['/ten.txt | Range: bytes=0', WHOLE, BACKWARDS],
  ['/ten.txt | Range: bytes 0-1', WHOLE],
  ['/ten.txt | Range: bytes:0-1', WHOLE],
  ['/ten.txt | Range: bytes', WHOLE],
  ['/ten.txt | Range: 0-1', WHOLE],
  ['/ten.txt | Range:', WHOLE],
  ['/ten.txt | Range: items=0-1', WHOLE],
  ['/ten.txt | Range: none=0-1', WHOLE],
  ['/ten.txt | Range: xbytes=0-1', WHOLE],
  ['/ten.txt | Range: "bytes=0-1"', WHOLE],
  ['/ten.txt | Range: bytes =0-1', WHOLE],
  ['/ten.txt | Range: bytes= 0-1', WHOLE, NO_SPACE],
  ['/ten.txt | Range: bytes=0 -1', WHOLE, NO_SPACE],
  ['/ten.txt | Range: bytes=0- 1', WHOLE, NO_SPACE],
  ['/ten.txt | Range: bytes = 0-9', WHOLE],
  ['/ten.txt | Range: bytes=0-1;', WHOLE, BACKWARDS],

  // A request for several ranges returns the whole file.
  ['/ten.txt | Range: bytes=0-1,3-4', WHOLE, SEVERAL],
  ['/ten.txt | Range: bytes=0-1, 3-4', WHOLE, SEVERAL],
  ['/ten.txt | Range: bytes=0-5,2-7', WHOLE],
  ['/ten.txt | Range: bytes=0-0,-1', WHOLE, SEVERAL],
  ['/ten.txt | Range: bytes=0-1,20-30', WHOLE, SEVERAL],
  ['/ten.txt | Range: bytes=20-30,40-50', WHOLE, SEVERAL],
  ['/ten.txt | Range: bytes=0-1,nonsense', WHOLE, BACKWARDS],
  ['/ten.txt | Range: bytes=0-0,0-0,0-0,0-0,0-0,0-0,0-0,0-0,0-0,0-0,0-0,0-0', WHOLE],
  [
    '/ten.txt | Range: bytes=0-1 | Range: bytes=3-4',
    WHOLE,
    'two header lines form one invalid list, but nginx uses only the first',
  ],

  // Ranges apply only to GET.
  [
    'HEAD /ten.txt | Range: bytes=0-1',
    '200 | content-length: 10 | -content-range | body: ',
    'RFC 9110, section 14.2: Range is ignored but with GET',
  ],
  [
    'HEAD /ten.txt | Range: bytes=20-',
    '200 | content-length: 10 | -content-range | body: ',
    'RFC 9110, section 14.2: Range is ignored but with GET',
  ],
  ['POST /ten.txt | Range: bytes=0-1', '405 | -content-range'],
  ['/nowhere | Range: bytes=0-1', '404 | -content-range | body: missing'],
  ['/folder | Range: bytes=0-1', '308 | -content-range', 'docshelf redirects with 308, which keeps the method'],

  // If-Range uses the strong comparison.
  ['/page.html | Range: bytes=0-4 | If-Range: {etag}', '206 | body: <!doc | etag: {etag}'],
  ['/page.html | Range: bytes=0-4 | If-Range: "other"', '200 | -content-range'],
  ['/page.html | Range: bytes=0-4 | If-Range: W/{etag}', '200 | -content-range'],
  ['/page.html | Range: bytes=0-4 | If-Range: w/{etag}', '200 | -content-range'],
  ['/page.html | Range: bytes=0-4 | If-Range: *', '200 | -content-range'],
  ['/page.html | Range: bytes=0-4 | If-Range: {etag}, "other"', '200 | -content-range'],
  [
    '/page.html | Range: bytes=0-4 | If-Range: {etag-gzip} | Accept-Encoding: gzip',
    '200 | -content-range | content-encoding: gzip',
  ],
  ['/page.html | Range: bytes=0-4 | If-Range: {date}', '200 | -content-range', NO_DATE],
  ['/page.html | Range: bytes=0-4 | If-Range: Mon, 03 Jun 2024 00:00:00 GMT', '200 | -content-range'],
  ['/page.html | Range: bytes=0-4 | If-Range: Fri, 31 May 2024 00:00:00 GMT', '200 | -content-range'],
  ['/page.html | Range: bytes=0-4 | If-Range: nonsense', '200 | -content-range'],
  ['/page.html | Range: bytes=0-4 | If-Range:', '200 | -content-range'],
  ['/page.html | If-Range: {etag}', '200 | -content-range'],
  ['/page.html | If-Range: "other"', '200 | -content-range'],
  ['/ten.txt | Range: bytes=20- | If-Range: "other"', WHOLE],
  [
    'HEAD /page.html | Range: bytes=0-4 | If-Range: {etag}',
    '200 | -content-range',
    'RFC 9110, section 14.2: Range is ignored but with GET',
  ],

  // Conditions are checked before ranges (section 13.2.2).
  ['/page.html | Range: bytes=0-4 | If-None-Match: {etag}', '304 | -content-range | body: '],
  ['/page.html | Range: bytes=0-4 | If-None-Match: "other"', '206'],
  ['/page.html | Range: bytes=0-4 | If-Match: {etag}', '206'],
  ['/page.html | Range: bytes=0-4 | If-Match: "other"', '412 | -content-range'],
  ['/page.html | Range: bytes=0-4 | If-Match: {etag} | If-Range: "other"', '200'],
  ['/page.html | Range: bytes=999999- | If-Match: "other"', '412 | -content-range'],
  ['/page.html | Range: bytes=999999- | If-None-Match: {etag}', '304'],
  ['/page.html | Range: bytes=0-4 | If-Unmodified-Since: Fri, 31 May 2024 00:00:00 GMT', '412'],
  ['/page.html | Range: bytes=0-4 | If-Unmodified-Since: Mon, 03 Jun 2024 00:00:00 GMT', '206'],

  // A range of compressible content is a range of the uncompressed file.
  [
    '/page.html | Range: bytes=0-4 | Accept-Encoding: gzip',
    '206 | -content-encoding | etag: {etag} | body: <!doc | vary~ Accept-Encoding',
    CODED,
  ],
  ['/page.html | Range: bytes=0-1,3-4 | Accept-Encoding: gzip', '200 | content-encoding: gzip'],
  ['/page.html | Range: bytes=999999- | Accept-Encoding: gzip', '416', CODED],
  ['/page.html | Range: bytes=0-4 | Accept-Encoding: gzip | If-Range: {etag}', '206 | -content-encoding', CODED],
  ['/large.txt | Range: bytes=0-5', '206 | body: line 0 | content-length: 6 | etag~ ^"'],
  ['/large.txt | Range: bytes=-6', '206 | content-length: 6 | body~ ^[0-9a-f]{5}\n$'],
  ['/large.txt | Range: bytes=100000-100010', '206 | content-length: 11 | content-range~ ^bytes 100000-100010/'],
  ['/large.txt | Range: bytes=0-5 | Accept-Encoding: gzip', '206 | -content-encoding | body: line 0', CODED],
  ['/large.txt | Range: bytes=9999999-', '416 | content-range~ ^bytes \\*/\\d+$'],
  ['/noise.bin | Range: bytes=0-0', '206 | content-type: application/octet-stream | content-length: 1'],

  // A 206 must have some fields if the 200 has them (section 15.3.7).
  [
    '/page.html | Range: bytes=0-4',
    '206 | date~ GMT$ | etag: {etag} | cache-control: no-cache | vary~ Accept-Encoding',
    'the config of nginx sets no Cache-Control',
  ],
  ['/page.html | Range: bytes=0-4', '206 | last-modified: {date} | content-type~ ^text/html'],
];
