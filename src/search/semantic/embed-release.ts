import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { DocshelfError } from '../../domain/errors.ts';
import { Lanes } from '../../files/lanes.ts';
import { Fingerprints, fingerprint, GrowableUint32Array } from '../compact.ts';
import type { Embedder, EmbedProgress, Passage, Section } from '../ports.ts';
import { noteUse, VectorCache, type VectorRecord } from './vector-cache.ts';
import { quantise } from './vector-index.ts';
import { ROWS_MAX, VectorTable } from './vector-table.ts';

export interface PassageText {
  readonly section: number;
  readonly text: string;
}

interface EmbedRequest {
  readonly passages: () => Iterable<PassageText>;
  readonly byImportance?: () => Iterable<PassageText>;
  readonly embedder: Embedder;
  readonly release: string;
  readonly cacheDir: string;
  /** Vectors from the bundle, which are used only for this release and never added to the cache. */
  readonly carried?: () => Iterable<VectorRecord>;
  readonly file: string;
  /** Texts to embed between two checks of the signal. Default: 4, which take 80 ms of one core with the built-in model. */
  readonly batchSize?: number;
  readonly lanes?: () => number;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: EmbedProgress) => void;
}

/**
 * Writes a vector for each passage. After an interruption, the next call resumes. Uses 13 bytes of memory per passage.
 * @throws errors of the embedder; the signal's reason if it aborts
 */
export async function embedRelease(request: EmbedRequest): Promise<void> {
  const { embedder, signal, onProgress } = request;
  const rows = new PassageRows(request.passages());
  const cache = new VectorCache(request.cacheDir, embedder);
  const table = openTable(request.file, embedder, rows);
  try {
    await noteUse(cache.folder, request.release, rows.keys.bytes);
    const filling = new TableFilling(table, rows);
    if (request.carried !== undefined) filling.takeFrom(request.carried());
    filling.takeFrom(cache.records());
    onProgress({ passages: rows.count, embedded: filling.done });
    await using lanes = new Lanes(request.lanes ?? 1);
    const texts = request.byImportance ?? request.passages;
    for (const batch of batchesOf(filling.missing(texts()), request.batchSize ?? 4)) {
      signal.throwIfAborted();
      await lanes.run(async () => {
        const vectors = await embedder.embedPassages([...batch.values()], signal);
        const made = [...batch.keys()].map((number, at) => [number, quantise(vectors[at] as Float32Array)] as const);
        cache.put(made.map(([number, vector]) => ({ key: hash('sha256', batch.get(number) ?? '', 'buffer'), vector })));
        for (const [number, vector] of made) filling.put(number, vector);
        onProgress({ passages: rows.count, embedded: filling.done });
      });
      await setImmediate();
    }
    await lanes.drain();
    signal.throwIfAborted();
    filling.repeat();
    table.flush();
    onProgress({ passages: rows.count, embedded: rows.count });
  } finally {
    table.close();
    cache.close();
  }
}

class PassageRows {
  readonly keys = new Fingerprints();
  readonly sections = new GrowableUint32Array();
  readonly #numbers = new GrowableUint32Array();
  readonly #firsts = new GrowableUint32Array();

  constructor(passages: Iterable<PassageText>) {
    for (const { section, text } of passages) {
      if (this.sections.length === ROWS_MAX) break;
      const number = this.keys.numberOf(text);
      if (number === this.#firsts.length) this.#firsts.push(this.sections.length);
      this.#numbers.push(number);
      this.sections.push(section);
    }
  }

  get count(): number {
    return this.sections.length;
  }

  get key(): string {
    const numbers = this.#numbers.view;
    const order = new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
    return hash('sha256', hash('sha256', this.keys.bytes) + hash('sha256', order)).slice(0, 24);
  }

  numberAt(row: number): number {
    return this.#numbers.at(row);
  }

  firstOf(number: number): number {
    return this.#firsts.at(number);
  }
}

function openTable(file: string, { digest, dims }: Embedder, rows: PassageRows): VectorTable {
  const { key } = rows;
  const known = openIfValid(file, digest);
  if (known?.key === key && known.count === rows.count && known.dims === dims) return known;
  known?.close();
  return VectorTable.create(file, { modelDigest: digest, dims, key }, rows.sections.view.slice());
}

function openIfValid(file: string, modelDigest: string): VectorTable | null {
  try {
    return VectorTable.open(file, modelDigest, 'r+');
  } catch (error) {
    if (error instanceof DocshelfError) return null;
    throw error;
  }
}

class TableFilling {
  readonly #table: VectorTable;
  readonly #rows: PassageRows;
  readonly #isThere: Uint8Array;
  done = 0;

  constructor(table: VectorTable, rows: PassageRows) {
    this.#table = table;
    this.#rows = rows;
    this.#isThere = new Uint8Array(rows.count);
    for (const [row] of table.rows()) this.#note(row);
  }

  takeFrom(records: Iterable<VectorRecord>): void {
    if (this.done === this.#rows.count) return;
    for (const { key, vector } of records) {
      const number = this.#rows.keys.find(key);
      if (number !== null && this.#isThere[this.#rows.firstOf(number)] === 0) this.put(number, vector);
    }
    this.repeat();
  }

  put(number: number, vector: Int8Array): void {
    const row = this.#rows.firstOf(number);
    this.#table.put(row, vector);
    this.#note(row);
  }

  repeat(): void {
    for (let row = 0; row < this.#isThere.length; row += 1) {
      const first = this.#rows.firstOf(this.#rows.numberAt(row));
      if (first === row || this.#isThere[row] === 1 || this.#isThere[first] === 0) continue;
      const vector = this.#table.get(first);
      if (vector === null) continue;
      this.#table.put(row, vector.slice());
      this.#note(row);
    }
  }

  *missing(passages: Iterable<PassageText>): Generator<[number: number, text: string]> {
    const isGiven = new Uint8Array(this.#rows.keys.count);
    for (const { text } of passages) {
      const number = this.#rows.keys.find(fingerprint(text));
      if (number === null || isGiven[number] === 1) continue;
      isGiven[number] = 1;
      if (this.#isThere[this.#rows.firstOf(number)] === 0) yield [number, text];
    }
  }

  #note(row: number): void {
    if (this.#isThere[row] === 1) return;
    this.#isThere[row] = 1;
    this.done += 1;
  }
}

function* batchesOf(entries: Iterable<[number, string]>, size: number): Generator<Map<number, string>> {
  let batch = new Map<number, string>();
  for (const [number, text] of entries) {
    batch.set(number, text);
    if (batch.size < size) continue;
    yield batch;
    batch = new Map();
  }
  if (batch.size > 0) yield batch;
}

export function passageText(section: Section, passage: Passage): string {
  const about = [...new Set([section.title, ...section.headings])].filter((heading) => heading !== '');
  return [...about, section.text.slice(passage.start, passage.end)].join('\n');
}
