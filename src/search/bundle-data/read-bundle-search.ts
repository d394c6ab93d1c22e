import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isPage, type TrailingSlash } from '../../domain/release.ts';
import { percentDecode } from '../../web/percent-decode.ts';
import { resolvePath } from '../../web/resolve.ts';
import type { SiteFiles } from '../indexing/read-sections.ts';
import {
  bad,
  type CarriedPart,
  type CarriedSection,
  HEADER_BYTES_MAX,
  HEADER_NAME,
  type Header,
  LINE_BYTES_MAX,
  parseHeader,
  parseLine,
  sectionBytesMax,
  shardName,
} from './bundle-format.ts';
import { SaidCharacters, saidCharactersMax } from './said-characters.ts';

interface ReleasePages {
  readonly files: SiteFiles;
  readonly trailingSlash: TrailingSlash;
}

const NEW_LINE = 0x0a;
const CHUNK_BYTES = 256 * 1024;

/**
 * What a bundle carries, read shard by shard: nothing is known to be sound before its end. What a header promises is bounded by the
 * pages before the first line is read, and what is said as it is read.
 */
export class CarriedSearch {
  readonly header: Header;
  readonly #folder: string;
  readonly #pageBytes: number;
  readonly #hasPage: (path: string) => boolean;

  private constructor(folder: string, header: Header, pages: ReleasePages, pageBytes: number) {
    this.#folder = folder;
    this.header = header;
    this.#pageBytes = pageBytes;
    this.#hasPage = pageFinder(pages);
  }

  /** Null without a header. @param folder `_docshelf/search` of a release. @throws DocshelfError `bad_search_data` */
  static async open(folder: string, pages: ReleasePages): Promise<CarriedSearch | null> {
    const file = join(folder, HEADER_NAME);
    const found = await stat(file).catch(() => null);
    if (found === null) return null;
    if (found.size > HEADER_BYTES_MAX) throw bad(HEADER_NAME, `it has more than ${HEADER_BYTES_MAX} bytes`);
    const header = parseHeader(await readFile(file));
    const carried = header.sections.shards.reduce((sum, { bytes }) => sum + bytes, 0);
    let pageBytes = 0;
    for (const { path, size } of pages.files.values()) if (isPage(path)) pageBytes += size;
    if (carried > sectionBytesMax(pageBytes))
      throw bad(HEADER_NAME, `sections of ${carried} bytes are too many for pages of ${pageBytes} bytes`);
    return new CarriedSearch(folder, header, pages, pageBytes);
  }

  /** @throws DocshelfError `bad_search_data`, at the latest at the end of the shard that is wrong */
  *sections(): Generator<CarriedSection> {
    const { count } = this.header.sections;
    const said = new SaidCharacters();
    const saidMax = saidCharactersMax(this.#pageBytes);
    let number = 0;
    for (const [name, line] of this.#lines()) {
      number += 1;
      const where = `section ${number}`;
      if (number > count) throw bad(name, `there are more than ${count} sections`);
      const carried = parseLine(line, name, where);
      if (!this.#hasPage(carried.section.path)) throw bad(name, `${where} is of a page that the bundle does not have`);
      if (said.add(carried.section) > saidMax)
        throw bad(name, `up to ${where} they say more than pages of ${this.#pageBytes} bytes can`);
      yield carried;
    }
    if (number < count) throw bad(HEADER_NAME, `there are ${number} sections, not ${count}`);
  }

  /** Valid until the next step. @throws DocshelfError `bad_search_data` */
  *vectors(): Generator<Int8Array> {
    const { vectors } = this.header;
    if (vectors === null) return;
    const { dims } = vectors;
    for (const [at, shard] of vectors.shards.entries()) {
      const name = shardName('vectors', at);
      if (shard.bytes % dims !== 0) throw bad(name, 'it ends within a vector');
      const rest = Buffer.alloc(dims);
      let filled = 0;
      for (const chunk of this.#shard('vectors', at)) {
        for (let from = 0; from < chunk.length; ) {
          const taken = Math.min(dims - filled, chunk.length - from);
          rest.set(chunk.subarray(from, from + taken), filled);
          filled += taken;
          from += taken;
          if (filled < dims) continue;
          filled = 0;
          yield new Int8Array(rest.buffer, rest.byteOffset, dims);
        }
      }
    }
  }

  *#lines(): Generator<readonly [name: string, line: Uint8Array]> {
    for (const at of this.header.sections.shards.keys()) {
      const name = shardName('sections', at);
      let open: Buffer[] = [];
      let openBytes = 0;
      for (const chunk of this.#shard('sections', at)) {
        let start = 0;
        for (let end = chunk.indexOf(NEW_LINE); end !== -1; end = chunk.indexOf(NEW_LINE, start)) {
          yield [name, Buffer.concat([...open, chunk.subarray(start, end)])];
          [open, openBytes] = [[], 0];
          start = end + 1;
        }
        if (start === chunk.length) continue;
        open.push(Buffer.from(chunk.subarray(start)));
        openBytes += chunk.length - start;
        if (openBytes > LINE_BYTES_MAX) throw bad(name, `a line has more than ${LINE_BYTES_MAX} bytes`);
      }
      if (openBytes > 0) throw bad(name, 'its last line does not end');
    }
  }

  /** In chunks, each valid until the next step. */
  *#shard(part: CarriedPart, at: number): Generator<Buffer> {
    const name = shardName(part, at);
    const { bytes, sha256 } = this.header[part]?.shards[at] ?? { bytes: 0, sha256: '' };
    const fd = openShard(join(this.#folder, name), name);
    try {
      const { size } = fstatSync(fd);
      if (size !== bytes) throw bad(name, `it has ${size} bytes, not ${bytes}`);
      const digest = createHash('sha256');
      const chunk = Buffer.alloc(CHUNK_BYTES);
      for (let done = 0; done < bytes; ) {
        const bytesRead = readSync(fd, chunk, 0, CHUNK_BYTES, done);
        if (bytesRead === 0) throw bad(name, 'it ends while it is read');
        const read = chunk.subarray(0, bytesRead);
        digest.update(read);
        done += bytesRead;
        yield read;
      }
      if (digest.digest('hex') !== sha256) throw bad(name, 'its content is not what was written');
    } finally {
      closeSync(fd);
    }
  }
}

function openShard(file: string, name: string): number {
  try {
    return openSync(file, 'r');
  } catch (error) {
    throw bad(name, 'it is missing', error);
  }
}

/** Sections of a page follow each other: it is looked up once. */
function pageFinder({ files, trailingSlash }: ReleasePages): (path: string) => boolean {
  let last: { readonly page: string; readonly isThere: boolean } | null = null;
  return (path) => {
    const page = path.replace(/[?#].*$/, '');
    if (last?.page !== page) {
      const decoded = percentDecode(page.slice(1));
      last = { page, isThere: decoded !== null && resolvePath(files, decoded, trailingSlash).kind !== 'missing' };
    }
    return last.isThere;
  };
}
