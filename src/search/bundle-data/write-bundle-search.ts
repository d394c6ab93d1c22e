import { createHash } from 'node:crypto';
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import {
  type CarriedPart,
  type CarriedSection,
  HEADER_NAME,
  type Header,
  LINE_BYTES_MAX,
  SEARCH_FORMAT_VERSION,
  SECTIONS_MAX,
  SHARD_BYTES_MAX,
  sectionBytesMax,
  shardName,
} from './bundle-format.ts';
import { SaidCharacters, saidCharactersMax } from './said-characters.ts';
import { tooLargeToCarry } from './too-large-to-carry.ts';

interface CarriedVectors {
  readonly modelDigest: string;
  readonly dims: number;
  readonly all: Iterable<Int8Array>;
}

/** Files below `_docshelf/search/`: sections first, the header last. The same input gives the same bytes. */
export class BundleSearchWriter {
  readonly #folder: string;
  readonly #bytesMax: number;
  readonly #saidMax: number;
  #sections: Header['sections'] = { count: 0, shards: [] };

  /** @param pageBytes of all pages of the site */
  constructor(folder: string, pageBytes: number) {
    this.#folder = folder;
    this.#bytesMax = sectionBytesMax(pageBytes);
    this.#saidMax = saidCharactersMax(pageBytes);
  }

  /** @returns passages that are to have vectors. @throws DocshelfError `bad_search_data` where a site exceeds the format */
  writeSections(sections: Iterable<CarriedSection>): number {
    let passages = 0;
    using shards = new ShardWriter(this.#folder, 'sections');
    const said = new SaidCharacters();
    for (const section of sections) {
      const line = lineOf(section);
      if (section.embedded) passages += section.passages.length;
      if (line.length > LINE_BYTES_MAX) throw tooLargeToCarry(`a section has more than ${LINE_BYTES_MAX} bytes`);
      if (said.add(section.section) > this.#saidMax) throw tooLargeToCarry('its sections say more than its pages can');
      shards.add(line);
      if (shards.count > SECTIONS_MAX) throw tooLargeToCarry(`it has more than ${SECTIONS_MAX} sections`);
      if (shards.bytes > this.#bytesMax) throw tooLargeToCarry(`its sections have more than ${this.#bytesMax} bytes`);
    }
    this.#sections = shards.end();
    return passages;
  }

  /** @param vectors one for each passage of the sections that are `embedded`; null: none were made */
  finish(vectors: CarriedVectors | null): void {
    const header: Header = {
      formatVersion: SEARCH_FORMAT_VERSION,
      sections: this.#sections,
      vectors: vectors === null ? null : this.#writeVectors(vectors),
    };
    writeFileSync(join(this.#folder, HEADER_NAME), `${JSON.stringify(header, null, 2)}\n`, { flag: 'wx' });
  }

  #writeVectors({ modelDigest, dims, all }: CarriedVectors): Header['vectors'] {
    using shards = new ShardWriter(this.#folder, 'vectors');
    for (const vector of all) shards.add(Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength));
    return { ...shards.end(), modelDigest, dims };
  }
}

function lineOf({ section, passages, prior, embedded }: CarriedSection): Buffer {
  const { path, title, documentTitle, headings, text, language, version, tags } = section;
  // JSON leaves out what is undefined.
  const ofSection = { path, title, documentTitle, headings, text, language, version, tags };
  const line = { ...ofSection, prior, passages: passages.map(({ start, end }) => [start, end]), embedded };
  return Buffer.from(`${JSON.stringify(line)}\n`);
}

const CHUNK_BYTES = 256 * 1024;

/** Whole pieces one after the other, a new file where one would exceed its bound. */
class ShardWriter implements Disposable {
  readonly #folder: string;
  readonly #part: CarriedPart;
  readonly #shards: { bytes: number; sha256: string }[] = [];
  #fd: number | null = null;
  #digest = createHash('sha256');
  #shardBytes = 0;
  #chunk: Uint8Array[] = [];
  #chunkBytes = 0;
  count = 0;
  bytes = 0;

  constructor(folder: string, part: CarriedPart) {
    this.#folder = folder;
    this.#part = part;
  }

  add(piece: Uint8Array): void {
    if (this.#shardBytes + piece.length > SHARD_BYTES_MAX) this.#close();
    this.#fd ??= openSync(join(this.#folder, shardName(this.#part, this.#shards.length)), 'wx', 0o644);
    this.#chunk.push(piece.slice());
    this.#chunkBytes += piece.length;
    this.#shardBytes += piece.length;
    this.bytes += piece.length;
    this.count += 1;
    if (this.#chunkBytes >= CHUNK_BYTES) this.#flush();
  }

  end(): Header['sections'] {
    this.#close();
    return { count: this.count, shards: this.#shards };
  }

  [Symbol.dispose](): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }

  #flush(): void {
    const chunk = Buffer.concat(this.#chunk);
    this.#digest.update(chunk);
    for (let done = 0; done < chunk.length; ) done += writeSync(this.#fd as number, chunk, done);
    this.#chunk = [];
    this.#chunkBytes = 0;
  }

  #close(): void {
    if (this.#fd === null) return;
    this.#flush();
    this.#shards.push({ bytes: this.#shardBytes, sha256: this.#digest.digest('hex') });
    this[Symbol.dispose]();
    this.#digest = createHash('sha256');
    this.#shardBytes = 0;
  }
}
