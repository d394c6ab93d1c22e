import { createHash, hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { DocshelfError } from '../../domain/errors.ts';
import { Lanes } from '../../files/lanes.ts';
import { fingerprint, fingerprintIn } from '../fingerprint.ts';
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
  /** Number of batches to embed at once. Default: 1. */
  readonly lanes?: number;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: EmbedProgress) => void;
}

/**
 * Writes a vector for each passage. After an interruption, the next call resumes. Uses about 110 bytes of memory per passage.
 * @throws errors of the embedder; the signal's reason if it aborts
 */
export async function embedRelease(request: EmbedRequest): Promise<void> {
  const { embedder, signal, onProgress } = request;
  const rows = new PassageRows(request.passages());
  const cache = new VectorCache(request.cacheDir, embedder);
  const table = openTable(request.file, embedder, rows);
  try {
    await noteUse(cache.folder, request.release, rows.firsts.keys());
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
        const made = [...batch.keys()].map((row, at) => [row, quantise(vectors[at] as Float32Array)] as const);
        cache.put(made.map(([row, vector]) => ({ key: hash('sha256', batch.get(row) ?? '', 'buffer'), vector })));
        for (const [row, vector] of made) filling.put(row, vector);
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
  /** First row that contains a text, by the fingerprint of the text. */
  readonly firsts = new Map<string, number>();
  readonly sections: number[] = [];
  readonly #firstOf: number[] = [];
  readonly #order = createHash('sha256');

  constructor(passages: Iterable<PassageText>) {
    for (const { section, text } of passages) {
      if (this.count === ROWS_MAX) break;
      const print = fingerprint(text);
      const first = this.firsts.get(print) ?? this.count;
      if (first === this.count) this.firsts.set(print, first);
      this.#firstOf.push(first);
      this.sections.push(section);
      this.#order.update(print);
    }
  }

  get count(): number {
    return this.sections.length;
  }

  key(): string {
    return this.#order.digest('hex').slice(0, 24);
  }

  /** Returns the first row whose text equals the text of `row`, because equal texts have one vector. */
  firstOf(row: number): number {
    return this.#firstOf[row] ?? row;
  }
}

function openTable(file: string, { digest, dims }: Embedder, rows: PassageRows): VectorTable {
  const key = rows.key();
  const known = openIfValid(file, digest);
  if (known?.key === key && known.count === rows.count && known.dims === dims) return known;
  known?.close();
  return VectorTable.create(file, { modelDigest: digest, dims, key }, Uint32Array.from(rows.sections));
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
      const row = this.#rows.firsts.get(fingerprintIn(key));
      if (row !== undefined && this.#isThere[row] === 0) this.put(row, vector);
    }
    this.repeat();
  }

  put(row: number, vector: Int8Array): void {
    this.#table.put(row, vector);
    this.#note(row);
  }

  repeat(): void {
    for (let row = 0; row < this.#isThere.length; row += 1) {
      const first = this.#rows.firstOf(row);
      if (first === row || this.#isThere[row] === 1 || this.#isThere[first] === 0) continue;
      const vector = this.#table.get(first);
      if (vector === null) continue;
      this.#table.put(row, vector.slice());
      this.#note(row);
    }
  }

  *missing(passages: Iterable<PassageText>): Generator<[row: number, text: string]> {
    const isGiven = new Uint8Array(this.#rows.count);
    for (const { text } of passages) {
      const row = this.#rows.firsts.get(fingerprint(text));
      if (row === undefined || isGiven[row] === 1) continue;
      isGiven[row] = 1;
      if (this.#isThere[row] === 0) yield [row, text];
    }
  }

  #note(row: number): void {
    if (this.#isThere[row] === 1) return;
    this.#isThere[row] = 1;
    this.done += 1;
  }
}

function* batchesOf(entries: Iterable<[row: number, text: string]>, size: number): Generator<Map<number, string>> {
  let batch = new Map<number, string>();
  for (const [row, text] of entries) {
    batch.set(row, text);
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
