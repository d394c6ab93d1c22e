import type { GeneratorSource } from './addresses.ts';

/** Pagefind 1.5 and 1.6: `pagefind-entry.json` names an index per language, whose `.pf_meta` names index files and fragments. */

const MARK = 'pagefind_dcd';
const NAME = /^[\w-]{1,100}$/;
const DEPTH_MAX = 16;

const OWN_FILES =
  'pagefind.js pagefind-worker.js wasm.unknown.pagefind pagefind-highlight.js pagefind-ui.js pagefind-ui.css'.split(
    ' ',
  );

export function pagefindFilesOfEntry({ text: entry }: Pick<GeneratorSource, 'text'>): string[] {
  let parsed: { languages?: unknown };
  try {
    parsed = JSON.parse(entry) as typeof parsed;
  } catch {
    return [];
  }
  if (typeof parsed?.languages !== 'object' || parsed.languages === null) return [];
  const languages = Object.values(parsed.languages as Record<string, { hash?: unknown; wasm?: unknown } | null>);
  const metas = languages.flatMap((language) => named(language?.hash).map((hash) => `pagefind.${hash}.pf_meta`));
  const programs = languages.flatMap((language) => named(language?.wasm).map((wasm) => `wasm.${wasm}.pagefind`));
  return [...OWN_FILES, ...metas, ...programs];
}

/** A decompressed `.pf_meta` is CBOR after a mark. @returns names of files in its folder */
export function pagefindFilesOfMeta({ text: meta }: Pick<GeneratorSource, 'text'>): string[] {
  if (!meta.startsWith(MARK)) return [];
  try {
    const [, pages, chunks, filters] = new Cbor(Buffer.from(meta, 'latin1'), MARK.length).read() as unknown[];
    return [
      ...rowsOf(pages).flatMap(([hash]) => named(hash).map((name) => `fragment/${name}.pf_fragment`)),
      ...rowsOf(chunks).flatMap((row) => named(row.at(-1)).map((name) => `index/${name}.pf_index`)),
      ...rowsOf(filters).flatMap((row) => named(row.at(-1)).map((name) => `filter/${name}.pf_filter`)),
    ];
  } catch {
    return [];
  }
}

function rowsOf(value: unknown): unknown[][] {
  return Array.isArray(value) ? value.filter((row): row is unknown[] => Array.isArray(row)) : [];
}

const named = (value: unknown): string[] => (typeof value === 'string' && NAME.test(value) ? [value] : []);

/** The part of CBOR (RFC 8949) that an index uses: integers, strings, arrays, floats and simple values. */
class Cbor {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  read(depth = 0): unknown {
    if (depth > DEPTH_MAX) throw new RangeError('too deep');
    const head = this.#bytes.readUInt8(this.#at++);
    const [major, info] = [head >> 5, head & 31];
    if (major === 7) {
      this.#at += info < 24 ? 0 : 2 ** (info - 24);
      return null;
    }
    const isOpen = info === 31;
    const count = isOpen ? Number.POSITIVE_INFINITY : this.#count(info);
    if (major === 0) return count;
    if (major === 1) return -1 - count;
    if ((major === 2 || major === 3) && !isOpen) {
      this.#at += count;
      return this.#bytes.toString('utf8', this.#at - count, this.#at);
    }
    if (major !== 4) throw new RangeError('another type');
    const items: unknown[] = [];
    while (items.length < count) {
      if (isOpen && this.#bytes.readUInt8(this.#at) === 0xff) {
        this.#at += 1;
        break;
      }
      items.push(this.read(depth + 1));
    }
    return items;
  }

  #count(info: number): number {
    if (info < 24) return info;
    if (info > 26) throw new RangeError('a large number');
    const size = 2 ** (info - 24);
    this.#at += size;
    return this.#bytes.readUIntBE(this.#at - size, size);
  }
}

const SECTIONS = /\bindexSectionsWithContent\s*=\s*\{([^}]*)\}/;
const SECTION_NAMES = /\bindexSectionNames\s*=\s*\{([^}]*)\}/;
const ENTRY = /(\d+)\s*:\s*"((?:[^"\\]|\\.)*)"/g;
const NAVIGATION = /\bNAVTREEINDEX\s*=\s*\[([^\]]*)\]/;
const BRANCH = /\[\s*(?:"(?:[^"\\]|\\.)*"|null)\s*,\s*(?:"[^"]*"|null)\s*,\s*"([\w.-]+)"\s*\]/g;
const SECTION_NAME = /^\w+$/;
const FILES_MAX = 5_000;

/** Doxygen splits its search by section and letter, counted in `searchdata.js`. */
export function searchParts({ text: script }: GeneratorSource): string[] {
  const names = new Map(entriesIn(script, SECTION_NAMES));
  const files = entriesIn(script, SECTIONS).flatMap(([section, letters]) => {
    const name = names.get(section) ?? '';
    if (!SECTION_NAME.test(name)) return [];
    const parts = Array.from({ length: Math.min(letters.length, FILES_MAX) }, (_, at) => `${name}_${at.toString(16)}`);
    // Before 1.9.2, a page of results loads the script.
    return parts.flatMap((part) => [`${part}.js`, `${part}.html`]);
  });
  return files.slice(0, FILES_MAX);
}

function entriesIn(script: string, table: RegExp): (readonly [key: string, value: string])[] {
  const rows = table.exec(script)?.[1] ?? '';
  return Array.from(rows.matchAll(ENTRY), ([, key = '', value = '']) => [key, value.replace(/\\(.)/g, '$1')] as const);
}

export function treeParts(source: GeneratorSource): string[] {
  const count = NAVIGATION.exec(source.text)?.[1]?.match(/"[^"]*"/g)?.length ?? 0;
  const parts = Array.from({ length: Math.min(count, FILES_MAX) }, (_, at) => `navtreeindex${at}.js`);
  return [...parts, ...branchFiles(source)].slice(0, FILES_MAX);
}

export function branchFiles({ text }: GeneratorSource): string[] {
  return Array.from(text.matchAll(BRANCH), ([, name]) => `${name}.js`).slice(0, FILES_MAX);
}

const ROOT = /^(?:[.]{0,2}\/)*[\w./-]{0,100}$/;

export function rustdocFiles({ attribute: value = () => null }: GeneratorSource): string[] {
  const [root, fixed] = [value('data-root-path'), value('data-static-root-path')];
  if (root === null || fixed === null) return [];
  const named = ['data-search-js', 'data-settings-js', 'data-stringdex-js'].flatMap((name) => value(name) ?? []);
  const suffix = value('data-resource-suffix') ?? '';
  return [
    ...named.map((name) => fixed + name),
    `${root}search-index${suffix}.js`,
    `${root}search.index/root${suffix}.js`,
  ];
}

export function belowRoot(root: RegExp, namesOf: (script: string) => readonly string[]) {
  return ({ text: script }: GeneratorSource): readonly string[] => {
    const way = root.exec(script)?.[1];
    if (way === undefined || !ROOT.test(way)) return [];
    const folder = way === '' || way.endsWith('/') ? way : `${way}/`;
    return namesOf(script).map((name) => folder + name);
  };
}

export function materialFiles({ text: script }: GeneratorSource): readonly string[] {
  if (!script.includes('"base"')) return [];
  try {
    const { base, search } = JSON.parse(script) as { readonly base?: unknown; readonly search?: unknown };
    if (typeof base !== 'string' || typeof search !== 'string' || !ROOT.test(base)) return [];
    return [search, `${base}/search/search_index.json`];
  } catch {
    return [];
  }
}
