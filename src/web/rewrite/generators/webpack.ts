import { jsonOf, membersOf } from '../../../domain/shape.ts';
import { fromBuildRoot, type GeneratorSource } from './addresses.ts';

const HASH_MAP = '__VP_HASH_MAP__=JSON.parse(';
const BASE = /__VP_SITE_DATA__=JSON\.parse\("(?:(?!\\"base\\").)*?\\"base\\":\\"([^"\\]*)\\"/;
const JSON_STRING = /"(?:[^"\\]|\\.)*"/y;
const PAGE = /^[\w.()[\]-]+\.md$/;
const DIGEST = /^[\w-]+$/;

/**
 * Finds the two scripts of each page in VitePress's table of digests. `x.js` is the complete script, and `x.lean.js` omits the
 * page's static parts.
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
  const map = membersOf(String(jsonOf(JSON_STRING.exec(script)?.[0] ?? '')));
  return Object.entries(map).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
}

export function viteDependencies({ text, path }: GeneratorSource): string[] {
  const mark = 'm.f=';
  const start = text.indexOf(mark, text.indexOf('__vite__mapDeps')) + mark.length;
  const end = text.indexOf(']', start) + 1;
  if (start < mark.length || end === 0) return [];
  const parsed = jsonOf(text.slice(start, end));
  const addresses = Array.isArray(parsed) ? parsed.filter((entry) => typeof entry === 'string') : [];
  return addresses.map((address) => (/^[./]/.test(address) ? address : fromBuildRoot(address, path)));
}

/** Matches webpack (from 4 on) and Rspack: `n.u = e => "js/" + ({7: "page"}[e] || e) + "." + {7: "c0ffee"}[e] + ".js"`. */
const NAME_FUNCTION =
  /\.(?:u|k|miniCssF)\s*=\s*(?:function\s*\(\s*([\w$]+)\s*\)\s*\{\s*return\b|\(?\s*([\w$]+)\s*\)?\s*=>(?:\s*\{\s*return\b)?)|\bfunction\s*[\w$]*\s*\(\s*([\w$]+)\s*\)\s*\{\s*return\s+[\w$]+\.p\s*\+/g;
const PUBLIC_PATH = /\.p\s*=\s*(?:[\w$]+\s*\+\s*)?"([^"\\]*)"/;
const TOKEN =
  /\s*(?:(?<quote>["'])(?<text>(?:\\.|(?!\k<quote>)[^\\\n])*)\k<quote>|(?<number>\d[\w.]*)|(?<word>[\w$]+)|(?<sign>===|\|\||[{}()[\]:,+?]))/y;
const CHUNK = /\.(?:m?js|css)(?:\?[\w=&.-]*)?$/;
const CHUNKS_MAX = 20_000;
const DEPTH_MAX = 30;
const PARTS_MAX = 1_000;

type Sign = '{' | '}' | '(' | ')' | '[' | ']' | ':' | ',' | '+' | '?' | '===' | '||';
type Value = string | boolean | ReadonlyMap<string, string> | undefined;
type Expression = (chunk: string) => Value;

export function webpackFiles({ text, path }: GeneratorSource): string[] {
  const { publicPath, names } = webpackChunks(text);
  return names.map((name) => (publicPath === '' ? fromBuildRoot(name, path) : (publicPath ?? './') + name));
}

/** Files that a script of webpack can load. `publicPath` is null if `names` are relative to the folder of the script. */
export function webpackChunks(script: string): { publicPath: string | null; names: readonly string[] } {
  const names: string[] = [];
  let left = CHUNKS_MAX;
  for (const match of script.matchAll(NAME_FUNCTION)) {
    const parameter = match[1] ?? match[2] ?? match[3] ?? '';
    const { chunks, nameOf } = readNameFunction(script, match.index + match[0].length, parameter);
    left -= chunks.size;
    if (left < 0) break;
    for (const chunk of chunks) {
      const name = nameOf(chunk);
      if (typeof name === 'string' && CHUNK.test(name)) names.push(name);
    }
  }
  const publicPath = names.length === 0 ? null : (PUBLIC_PATH.exec(script)?.[1] ?? null);
  return { publicPath, names };
}

class OtherShape extends Error {}

/** Reads webpack's expression that returns the file name of a chunk. Returns no chunks if the expression has an unknown form. */
function readNameFunction(script: string, start: number, parameter: string) {
  const chunks = new Set<string>();
  let at = start;
  let depth = 0;
  let parts = 0;

  const choice = (): Expression => {
    if (depth >= DEPTH_MAX) throw new OtherShape();
    depth += 1;
    const cases: [condition: Expression, value: Expression][] = [];
    for (;;) {
      const last = chain('||', () => chain('===', () => chain('+', member)));
      if (!takes('?')) {
        depth -= 1;
        return (chunk) => (cases.find(([condition]) => condition(chunk) === true)?.[1] ?? last)(chunk);
      }
      const value = choice();
      expect(':');
      cases.push([last, value]);
      countPart();
    }
  };

  const chain = (sign: keyof typeof JOINED, next: () => Expression): Expression => {
    const first = next();
    const others: Expression[] = [];
    while (takes(sign)) {
      others.push(next());
      countPart();
    }
    return (chunk) => others.reduce((made, other) => JOINED[sign](made, other(chunk)), first(chunk));
  };

  const countPart = (): void => {
    parts += 1;
    if (parts > PARTS_MAX) throw new OtherShape();
  };

  const member = (): Expression => {
    const whole = primary();
    if (!takes('[')) return whole;
    const key = choice();
    expect(']');
    return (chunk) => {
      const [map, part] = [whole(chunk), key(chunk)];
      return map instanceof Map && typeof part === 'string' ? map.get(part) : undefined;
    };
  };

  const primary = (): Expression => {
    if (takes('(')) {
      const inner = choice();
      expect(')');
      return inner;
    }
    if (takes('{')) {
      const map = readMap();
      return () => map;
    }
    const { text, number, word } = token();
    if (word !== undefined && word === parameter) return (chunk) => chunk;
    if (number !== undefined) chunks.add(numeral(number));
    const value = number === undefined ? text : numeral(number);
    if (value === undefined) throw new OtherShape();
    return () => value;
  };

  const readMap = (): ReadonlyMap<string, string> => {
    const map = new Map<string, string>();
    while (!takes('}')) {
      const { text, number, word } = token();
      const chunk = number === undefined ? (text ?? word) : numeral(number);
      expect(':');
      const part = token();
      const value = part.text ?? part.number;
      if (chunk === undefined || value === undefined) throw new OtherShape();
      map.set(chunk, value);
      chunks.add(chunk);
      if (!takes(',')) {
        expect('}');
        break;
      }
    }
    return map;
  };

  const takes = (sign: Sign): boolean => {
    TOKEN.lastIndex = at;
    if (TOKEN.exec(script)?.groups?.sign !== sign) return false;
    at = TOKEN.lastIndex;
    return true;
  };

  const expect = (sign: Sign): void => {
    if (!takes(sign)) throw new OtherShape();
  };

  const token = (): { readonly text?: string; readonly number?: string; readonly word?: string } => {
    TOKEN.lastIndex = at;
    const groups = TOKEN.exec(script)?.groups;
    // Reject chunk names with escapes, because no bundler writes escapes in names.
    if (groups === undefined || groups.sign !== undefined || groups.text?.includes('\\')) throw new OtherShape();
    at = TOKEN.lastIndex;
    return groups;
  };

  try {
    const nameOf = choice();
    return { chunks, nameOf };
  } catch (error) {
    if (error instanceof OtherShape) return { chunks: new Set<string>(), nameOf: () => undefined };
    throw error;
  }
}

const JOINED = {
  '||': (a: Value, b: Value): Value => (a === undefined || a === '' ? b : a),
  '===': (a: Value, b: Value): Value => a === b,
  '+': (a: Value, b: Value): Value => (typeof a === 'string' && typeof b === 'string' ? a + b : undefined),
} as const;

/** Writes a chunk number in decimal digits, because minifiers write `1e3` for the chunk 1000. */
const numeral = (digits: string): string => String(Number(digits));
