import type { Row } from './row.ts';

const SAME = '304 | body:  | etag: {etag} | -content-encoding';
const NEW = '200 | etag: {etag}';
const FAILED = '412';
const EARLIER = 'Fri, 31 May 2024 00:00:00 GMT';
const LATER = 'Mon, 03 Jun 2024 00:00:00 GMT';
const TWO_LINES =
  'two header lines form one list (RFC 9110, section 5.3), but nginx rejects them or uses only the first';
const OWN_TAG = 'docshelf gives a compressed page a separate entity tag, but nginx weakens the tag of the file';
const NO_HTTP_DATE = 'an invalid date is ignored (RFC 9110, section 13.1.4), but nginx treats it as past';
const NO_DATE = 'a date does not prove that content is unchanged, because two contents can have the same date';

/** Requests with conditions, and the parts of the responses that RFC 9110 (section 13) requires. */
export const CONDITION_ROWS: readonly Row[] = [
  // If-None-Match uses the weak comparison.
  ['/page.html | If-None-Match: {etag}', SAME],
  ['/page.html | If-None-Match: W/{etag}', SAME],
  ['/page.html | If-None-Match: *', SAME],
  ['/page.html | If-None-Match: "other", {etag}', SAME],
  ['/page.html | If-None-Match: "other",{etag}', SAME],
  ['/page.html | If-None-Match: "other" , {etag} , "third"', SAME],
  ['/page.html | If-None-Match: W/"other", W/{etag}', SAME],
  ['/page.html | If-None-Match: , {etag}', SAME],
  ['/page.html | If-None-Match: {etag},', SAME],
  ['/page.html | If-None-Match: "other" | If-None-Match: {etag}', SAME, TWO_LINES],
  ['/page.html | If-None-Match: {etag} | If-None-Match: "other"', SAME, TWO_LINES],
  ['/page.html | If-None-Match: "a,b", {etag}', SAME],
  ['/page.html | If-None-Match: "", {etag}', SAME],
  ['/page.html | If-None-Match: "other"', NEW],
  ['/page.html | If-None-Match: ""', NEW],
  ['/page.html | If-None-Match:', NEW],
  ['/page.html | If-None-Match: other', NEW],
  ['/page.html | If-None-Match: w/{etag}', NEW],
  ['/page.html | If-None-Match: "*"', NEW],
  ['/page.html | If-None-Match: *, "other"', NEW],
  ['/page.html | If-None-Match: W/', NEW],
  ['/page.html | If-None-Match: "x, {etag}', NEW, 'nginx finds the tag in an invalid list'],
  ['/page.html | If-None-Match: "x" {etag};', NEW],
  ['/page.html | If-None-Match: {etag-gzip}', NEW, OWN_TAG],
  ['HEAD /page.html | If-None-Match: {etag}', SAME],
  ['HEAD /page.html | If-None-Match: "other"', NEW],
  ['/page.html | Accept-Encoding: gzip | If-None-Match: {etag-gzip}', '304 | etag: {etag-gzip} | body: ', OWN_TAG],
  ['/page.html | Accept-Encoding: gzip | If-None-Match: {etag}', '200 | content-encoding: gzip', OWN_TAG],
  ['/page.html | Accept-Encoding: gzip | If-None-Match: "other"', '200 | etag: {etag-gzip} | content-encoding: gzip'],
  ['/page.html | Accept-Encoding: gzip | If-None-Match: *', '304 | body: '],

  // A 304 repeats some fields of the 200, and must not have others (section 15.4.5).
  [
    '/page.html | If-None-Match: {etag}',
    '304 | cache-control: no-cache | vary~ Accept-Encoding | date~ GMT$',
    'the config of nginx sets no Cache-Control, and nginx sends Vary only with 200',
  ],
  ['/page.html | If-None-Match: {etag}', '304 | -content-type | -content-length | -transfer-encoding | -content-range'],

  // docshelf ignores If-Modified-Since, because two versions of a file can have the same date.
  [`/page.html | If-Modified-Since: ${EARLIER}`, NEW],
  ['/page.html | If-Modified-Since: {date}', NEW, NO_DATE],
  [`/page.html | If-Modified-Since: ${LATER}`, NEW],
  ['/page.html | If-Modified-Since: nonsense', NEW],
  ['/page.html | If-Modified-Since: 0', NEW],
  ['/page.html | If-Modified-Since:', NEW],
  [`/page.html | If-Modified-Since: ${LATER} | If-None-Match: "other"`, NEW],
  ['/page.html | If-Modified-Since: {date} | If-None-Match: "other"', NEW],
  [
    `/page.html | If-Modified-Since: ${EARLIER} | If-None-Match: {etag}`,
    SAME,
    'If-Modified-Since is ignored if If-None-Match is present (RFC 9110, section 13.1.3)',
  ],
  [`POST /page.html | If-Modified-Since: ${EARLIER}`, '405'],

  // If-Match uses the strong comparison.
  ['/page.html | If-Match: {etag}', NEW],
  ['/page.html | If-Match: *', NEW],
  ['/page.html | If-Match: "other", {etag}', NEW],
  ['/page.html | If-Match: "other" | If-Match: {etag}', NEW, TWO_LINES],
  ['HEAD /page.html | If-Match: {etag}', NEW],
  ['/page.html | If-Match: "other"', FAILED],
  ['/page.html | If-Match: W/{etag}', FAILED],
  ['/page.html | If-Match: w/{etag}', FAILED],
  ['/page.html | If-Match:', FAILED],
  ['/page.html | If-Match: other', FAILED],
  ['/page.html | If-Match: ""', FAILED],
  ['HEAD /page.html | If-Match: "other"', `${FAILED} | body: `],
  ['/page.html | If-Match: "other" | If-None-Match: {etag}', FAILED],
  ['/page.html | If-Match: {etag} | If-None-Match: {etag}', SAME],
  ['/page.html | If-Match: {etag} | If-None-Match: "other"', NEW],
  [
    `/page.html | If-Match: {etag} | If-Unmodified-Since: ${EARLIER}`,
    NEW,
    'If-Unmodified-Since is ignored if If-Match is present (RFC 9110, section 13.1.4)',
  ],
  [`/page.html | If-Match: "other" | If-Unmodified-Since: ${LATER}`, FAILED],
  [
    '/page.html | If-Match: {etag} | Accept-Encoding: gzip',
    FAILED,
    'the compressed page is another representation, of another tag',
  ],
  [
    '/page.html | If-Match: {etag-gzip} | Accept-Encoding: gzip',
    '200 | content-encoding: gzip',
    'nginx sends a weak entity tag with compressed content',
  ],

  // A recipient must accept dates in all three formats of section 5.6.7.
  ['/page.html | If-Unmodified-Since: {date}', NEW],
  [`/page.html | If-Unmodified-Since: ${LATER}`, NEW],
  [`/page.html | If-Unmodified-Since: ${EARLIER}`, FAILED],
  ['/page.html | If-Unmodified-Since: Friday, 31-May-24 00:00:00 GMT', FAILED],
  ['/page.html | If-Unmodified-Since: Monday, 03-Jun-24 00:00:00 GMT', NEW],
  ['/page.html | If-Unmodified-Since: Fri May 31 00:00:00 2024', FAILED],
  ['/page.html | If-Unmodified-Since: Mon Jun  3 00:00:00 2024', NEW],
  ['/page.html | If-Unmodified-Since: Sat Jun  1 00:00:00 2024', FAILED],
  // A two-digit year is at most 50 years in the future (section 5.6.7).
  ['/page.html | If-Unmodified-Since: Sunday, 06-Nov-94 08:49:37 GMT', FAILED],
  [
    '/page.html | If-Unmodified-Since: Sunday, 01-Jun-70 00:00:00 GMT',
    NEW,
    'the year is 2070, at most 50 years in the future, but nginx reads 1970',
  ],
  ['/page.html | If-Unmodified-Since: Sunday, 01-Jun-60 00:00:00 GMT', NEW],
  ['/page.html | If-Unmodified-Since: Thursday, 01-Jun-00 00:00:00 GMT', FAILED],
  ['/page.html | If-Unmodified-Since: Sat, 31 Dec 2016 23:59:60 GMT', FAILED],
  ['/page.html | If-Unmodified-Since: Thu, 29 Feb 2024 00:00:00 GMT', FAILED],
  ['/page.html | If-Unmodified-Since: Fri, 01 Jan 9999 00:00:00 GMT', NEW],
  ['/page.html | If-Unmodified-Since: Mon, 01 Jan 0001 00:00:00 GMT', FAILED],
  // An invalid date is ignored (section 13.1.4).
  ['/page.html | If-Unmodified-Since: nonsense', NEW, NO_HTTP_DATE],
  ['/page.html | If-Unmodified-Since: 0', NEW, NO_HTTP_DATE],
  ['/page.html | If-Unmodified-Since: -1', NEW, NO_HTTP_DATE],
  ['/page.html | If-Unmodified-Since: 2020', NEW, NO_HTTP_DATE],
  ['/page.html | If-Unmodified-Since: 1577836800', NEW, NO_HTTP_DATE],
  ['/page.html | If-Unmodified-Since: Fri, 31 May 2024', NEW, NO_HTTP_DATE],
  ['/page.html | If-Unmodified-Since: Sat, 1 Jun 2019 10:20:30 GMT', NEW, NO_HTTP_DATE],
  ['/page.html | If-Unmodified-Since: fri, 31 may 2024 00:00:00 gmt', NEW, NO_HTTP_DATE],
  ['/page.html | If-Unmodified-Since:', NEW, NO_HTTP_DATE],
  ['/page.html | If-Unmodified-Since: 2019-01-01T00:00:00Z', NEW, NO_HTTP_DATE],
  ['/page.html | If-Unmodified-Since: Fri, 31 May 2024 00:00:00', NEW, NO_HTTP_DATE],
  ['/page.html | If-Unmodified-Since: Fri, 31 May 2024 00:00:00 UTC', NEW, NO_HTTP_DATE],
  ['/page.html | If-Unmodified-Since: Fri, 31 May 2024 00:00:00 +0000', NEW, NO_HTTP_DATE],
  ['/page.html | If-Unmodified-Since: Fri, 31 May 2024 24:00:00 GMT', NEW, NO_HTTP_DATE],
  ['/page.html | If-Unmodified-Since: Fri, 31 May 2024 00:60:00 GMT', NEW, NO_HTTP_DATE],
  ['/page.html | If-Unmodified-Since: Fri, 31 Feb 2023 00:00:00 GMT', NEW, NO_HTTP_DATE],
  ['/page.html | If-Unmodified-Since: Fri, 00 May 2023 00:00:00 GMT', NEW, NO_HTTP_DATE],
  ['/page.html | If-Unmodified-Since: Wed, 29 Feb 2023 00:00:00 GMT', NEW, NO_HTTP_DATE],
  ['/page.html | If-Unmodified-Since: Fri, 31 Foo 2024 00:00:00 GMT', NEW, NO_HTTP_DATE],
  [`/page.html | If-Unmodified-Since: ${EARLIER}, ${EARLIER}`, NEW, NO_HTTP_DATE],
  [`/page.html | If-Unmodified-Since: ${EARLIER} | If-Unmodified-Since: ${EARLIER}`, NEW, NO_HTTP_DATE],
  [`/page.html | If-Unmodified-Since: ${LATER} | If-None-Match: {etag}`, SAME],
  [`/page.html | If-Unmodified-Since: ${EARLIER} | If-None-Match: {etag}`, FAILED],
  [`HEAD /page.html | If-Unmodified-Since: ${EARLIER}`, `${FAILED} | body: `],

  // If the response without conditions is not 2xx, conditions are ignored (section 13.2.1).
  ['/nowhere | If-None-Match: *', '404 | body: missing'],
  ['/nowhere | If-Match: *', '404'],
  ['/nowhere | If-Match: "other"', '404'],
  [`/nowhere | If-Unmodified-Since: ${EARLIER}`, '404'],
  ['/nowhere.js | If-None-Match: *', '404'],
  ['/folder | If-None-Match: *', '308', 'docshelf redirects with 308, which keeps the method'],
  ['/folder | If-Match: "other"', '308', 'docshelf redirects with 308, which keeps the method'],
  ['POST /page.html | If-Match: "other"', '405'],
  ['POST /page.html | If-None-Match: *', '405'],

  // Conditions also apply to files that are too large for the cache, and to empty files.
  ['/large.txt | If-None-Match: *', '304'],
  ['/large.txt | If-Match: "other"', FAILED],
  [`/large.txt | If-Unmodified-Since: ${EARLIER}`, FAILED],
  ['/empty.txt | If-None-Match: *', '304'],
  ['/empty.txt | If-Match: *', '200 | content-length: 0'],

  // A file server ignores directives for caches.
  ['/page.html | Cache-Control: no-cache', NEW],
  ['/page.html | Cache-Control: only-if-cached', NEW],
  ['/page.html | Cache-Control: max-age=0 | If-None-Match: {etag}', SAME],
  ['/page.html | Pragma: no-cache', NEW],
];
