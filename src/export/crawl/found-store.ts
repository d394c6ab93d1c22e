import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { FoundReferences } from '../../web/rewrite/index.ts';
import type { FoundPlace } from './page-work.ts';

/**
 * What was found in files, on disk until they are written: of 20,000 pages it would take gigabytes of memory. Each thread
 * appends to a file of its own and reads those of all.
 */
export class FoundStore {
  readonly #dir: string;
  readonly #thread: number;
  readonly #files = new Map<number, number>();
  #end = 0;

  constructor(dir: string, thread: number) {
    this.#dir = dir;
    this.#thread = thread;
    this.#files.set(thread, openSync(this.#pathOf(thread), 'wx+'));
  }

  add(found: FoundReferences): FoundPlace {
    // Anchors are for who checks the site, which reads what was written.
    const bytes = Buffer.from(JSON.stringify({ ...found, anchors: [] }));
    writeSync(this.#fileOf(this.#thread), bytes, 0, bytes.length, this.#end);
    const place = { thread: this.#thread, offset: this.#end, length: bytes.length };
    this.#end += bytes.length;
    return place;
  }

  read({ thread, offset, length }: FoundPlace): FoundReferences {
    const bytes = Buffer.allocUnsafe(length);
    readSync(this.#fileOf(thread), bytes, 0, length, offset);
    return JSON.parse(bytes.toString('utf8')) as FoundReferences;
  }

  close(): void {
    for (const file of this.#files.values()) closeSync(file);
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
