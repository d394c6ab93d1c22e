/** Where VitePress writes down the digest of each page's script, and what its site is. */
const HASH_MAP = '__VP_HASH_MAP__=JSON.parse(';
const BASE = /__VP_SITE_DATA__=JSON\.parse\("(?:(?!\\"base\\").)*?\\"base\\":\\"([^"\\]*)\\"/;
const JSON_STRING = /"(?:[^"\\]|\\.)*"/y;
const PAGE = /^[\w.()[\]-]+\.md$/;
const DIGEST = /^[\w-]+$/;

/**
 * Files that VitePress's scripts load by the name of a page: `hashmap.json`, which they ask for on a page that is missing, and,
 * where `withPages` says so, the scripts of all pages, which come before a reader who goes on: whole (`x.js`), and without
 * what the page's HTML has already (`x.lean.js`).
 */
export function vitePressChunks(script: string, withPages: boolean): readonly string[] {
  const at = script.indexOf(HASH_MAP);
  if (at === -1) return [];
  const base = BASE.exec(script)?.[1] ?? '/';
  const files = [`${base}hashmap.json`];
  for (const [page, digest] of withPages ? digestsAt(script, at + HASH_MAP.length) : []) {
    if (PAGE.test(page) && DIGEST.test(digest))
      files.push(...['js', 'lean.js'].map((end) => `${base}assets/${page}.${digest}.${end}`));
  }
  return files;
}

function digestsAt(script: string, at: number): readonly [page: string, digest: string][] {
  JSON_STRING.lastIndex = at;
  try {
    const map: unknown = JSON.parse(JSON.parse(JSON_STRING.exec(script)?.[0] ?? '""') as string);
    const entries = typeof map === 'object' && map !== null ? Object.entries(map) : [];
    return entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  } catch {
    return [];
  }
}
