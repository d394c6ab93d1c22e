import { fromBuildRoot, type GeneratorSource } from './addresses.ts';

const HASH_MAP = '__VP_HASH_MAP__=JSON.parse(';
const BASE = /__VP_SITE_DATA__=JSON\.parse\("(?:(?!\\"base\\").)*?\\"base\\":\\"([^"\\]*)\\"/;
const JSON_STRING = /"(?:[^"\\]|\\.)*"/y;
const PAGE = /^[\w.()[\]-]+\.md$/;
const DIGEST = /^[\w-]+$/;

/**
 * Loaded by a page's name: `hashmap.json`, and every page's script, whole (`x.js`) and without static parts
 * (`x.lean.js`). Only a script's file may name them: in each page they would be too many.
 */
export function vitePressFiles({ text: script, path }: GeneratorSource): readonly string[] {
  const at = script.indexOf(HASH_MAP);
  if (at === -1) return [];
  const base = BASE.exec(script)?.[1] ?? '/';
  const files = [`${base}hashmap.json`];
  for (const [page, digest] of path.endsWith('.js') ? digestsAt(script, at + HASH_MAP.length) : []) {
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

export function viteDependencies({ text, path }: GeneratorSource): string[] {
  const mark = 'm.f=';
  const start = text.indexOf(mark, text.indexOf('__vite__mapDeps')) + mark.length;
  const end = text.indexOf(']', start) + 1;
  if (start < mark.length || end === 0) return [];
  return stringsOf(text.slice(start, end)).map((address) =>
    /^[./]/.test(address) ? address : fromBuildRoot(address, path),
  );
}

function stringsOf(json: string): string[] {
  try {
    const parsed: unknown = JSON.parse(json);
    return Array.isArray(parsed) ? parsed.filter((entry) => typeof entry === 'string') : [];
  } catch {
    return [];
  }
}
