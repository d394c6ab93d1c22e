import { openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { FoundReferences } from '../../web/rewrite/index.ts';
import type { FoundPlace } from '../entry.ts';

/** Bytes of JSON. Objects take about three times as much. */
const KEPT_BYTES_MAX = 6 * 1024 ** 2;

/** References of files, first in memory and then in a file, because 20,000 pages have gigabytes. */
export class FoundStore {
  readonly #dir: string;
  readonly #thread: number;
  readonly #files = new Map<number, number>();
  readonly #kept = new Map<number, FoundReferences>();
  #keptBytes = 0;
  #end = 0;

  constructor(dir: string, thread: number) {
    this.#dir = dir;
    this.#thread = thread;
    this.#files.set(thread, openSync(this.#pathOf(thread), 'wx+'));
  }

  add(found: FoundReferences): FoundPlace {
    if (this.#keptBytes < KEPT_BYTES_MAX) return this.#keep(found);
    const bytes = Buffer.from(JSON.stringify(found));
    writeSync(this.#fileOf(this.#thread), bytes, 0, bytes.length, this.#end);
    const place = { thread: this.#thread, offset: this.#end, length: bytes.length };
    this.#end += bytes.length;
    return place;
  }

  read({ thread, offset, length }: FoundPlace): FoundReferences {
    const kept = length === 0 ? this.#kept.get(offset) : undefined;
    if (kept !== undefined) return kept;
    const bytes = Buffer.allocUnsafe(length);
    readSync(this.#fileOf(thread), bytes, 0, length, offset);
    return JSON.parse(bytes.toString('utf8')) as FoundReferences;
  }

  #keep(found: FoundReferences): FoundPlace {
    const offset = this.#kept.size;
    this.#kept.set(offset, found);
    this.#keptBytes += found.spans.length * 6 + found.urls.reduce((sum, url) => sum + url.length, 0);
    return { thread: this.#thread, offset, length: 0 };
  }

  #fileOf(thread: number): number {
    const known = this.#files.get(thread);
    if (known !== undefined) return known;
    const file = openSync(this.#pathOf(thread), 'r');
    this.#files.set(thread, file);
    return file;
  }

  #pathOf(thread: number): string {
    return join(this.#dir, `found-${thread}`);
  }
}
