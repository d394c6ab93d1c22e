import { createHash } from 'node:crypto';
import type { Files } from '../../site/helpers.ts';

/** HTML page that is long enough for compression, and has no repeated parts. */
export const PAGE = `<!doctype html><title>Page</title>${Array.from({ length: 100 }, (_, n) => `<p>paragraph ${n}</p>`).join('')}`;
/** Text of more than an eighth of `CACHE_BYTES`, also when compressed, so that each request reads it from disk. */
export const LARGE = Array.from(
  { length: 8_000 },
  (_, n) => `line ${n} ${createHash('sha256').update(`${n}`).digest('hex')}\n`,
).join('');
export const CACHE_BYTES = 512 * 1024;
/** Bytes that compression cannot make smaller. */
const NOISE = Buffer.from(Array.from({ length: 2048 }, (_, n) => (n * n * 31 + n * 7) & 0xff));

export const CREATED_AT = '2024-06-01T10:20:30.000Z';

export const SITE_FILES: Files = {
  'index.html': 'start',
  'last.txt': 'last',
  'ten.txt': '0123456789',
  'empty.txt': '',
  'page.html': PAGE,
  'large.txt': LARGE,
  'noise.bin': NOISE,
  'style.css': 'a{}',
  'script.js': '1',
  'both.html': 'page',
  'both/index.html': 'folder',
  'folder/index.html': 'folder',
  'folder/deep/page.html': 'deep',
  'other.htm': 'htm',
  'a b.html': 'space',
  'a+b.html': 'plus',
  'a;b.html': 'semicolon',
  'a&b=c.html': 'ampersand',
  'a,b.html': 'comma',
  "it's(1)!.html": 'marks',
  '@user.html': 'at',
  '~home.html': 'tilde',
  'c#.html': 'sharp',
  '100%.html': 'percent',
  '%41.html': 'escape in a name',
  'v1.2.html': 'dots',
  'ab:c.html': 'colon',
  '[slug].html': 'brackets',
  'caf\u00e9.html': 'composed',
  'de\u0301ja.html': 'decomposed',
  '\u65e5\u672c.html': 'japanese',
  '\u{1f600}.html': 'emoji',
  'Case.html': 'capital',
  '.well-known/security.txt': 'contact',
  '.secret': 'secret',
  'folder/.env': 'secret',
  '404.html': 'missing',
  'fr/index.html': 'accueil',
  'fr/404.html': 'manque',
};
