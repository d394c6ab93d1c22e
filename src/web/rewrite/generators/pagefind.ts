import type { GeneratorSource } from './addresses.ts';

/** Pagefind 1.5 and 1.6: `pagefind-entry.json` names an index a language, its `.pf_meta` index files and fragments. */

const MARK = 'pagefind_dcd';
const NAME = /^[\w-]{1,100}$/;
const DEPTH_MAX = 16;

const OWN_FILES =
  'pagefind.js pagefind-worker.js wasm.unknown.pagefind pagefind-highlight.js pagefind-ui.js pagefind-ui.css'.split(
    ' ',
  );

/** @returns names of files beside it */
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

/** A `.pf_meta`, unpacked, is CBOR behind a mark. @returns names of files beside it */
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

function named(value: unknown): string[] {
  return typeof value === 'string' && NAME.test(value) ? [value] : [];
}

/** As much of CBOR (RFC 8949) as an index has: whole numbers, strings, arrays, floats and simple values. */
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
