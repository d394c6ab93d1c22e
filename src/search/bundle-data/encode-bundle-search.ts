import { createHash } from 'node:crypto';
import type { Vectors } from '../semantic/vector-file.ts';
import type { CutSection, Header } from './bundle-format.ts';
import {
  PART_BYTES_MAX,
  SEARCH_FORMAT_VERSION,
  SEARCH_HEADER_PATH,
  SECTIONS_MAX,
  SECTIONS_PATH,
  VECTORS_PATH,
} from './bundle-format.ts';
import { tooLargeToCarry } from './too-large-to-carry.ts';

export interface SearchToEncode {
  readonly sections: Iterable<CutSection>;
  /** One for each passage of the sections that they name. */
  readonly vectors: Vectors | null;
}

interface FilePiece {
  readonly path: string;
  readonly bytes: Uint8Array;
}

const PIECE_BYTES = 256 * 1024;

/**
 * Files one after another, the header last. The same input gives the same bytes.
 * @throws DocshelfError `bad_search_data` where a site exceeds the format; RangeError for vectors of other passages
 */
export function* encodeBundleSearch({ sections, vectors }: SearchToEncode): Generator<FilePiece> {
  const written = new Part(SECTIONS_PATH);
  const owners = vectors?.sections ?? new Uint32Array();
  let at = 0;
  let lines: Buffer[] = [];
  let bytes = 0;
  for (const cut of sections) {
    if (written.count >= SECTIONS_MAX) throw tooLargeToCarry(`it has more than ${SECTIONS_MAX} sections`);
    const from = at;
    while (owners[at] === written.count) at += 1;
    if (at > from && at - from !== cut.passages.length) throw new RangeError(DISAGREE);
    const line = lineOf(cut, at > from);
    written.count += 1;
    lines.push(line);
    bytes += line.length;
    if (bytes < PIECE_BYTES) continue;
    yield written.add(Buffer.concat(lines));
    lines = [];
    bytes = 0;
  }
  // A site without sections has an empty file.
  yield written.add(Buffer.concat(lines));
  if (at !== owners.length || (vectors !== null && vectors.values.length !== at * vectors.dims))
    throw new RangeError(DISAGREE);

  let embedded: Header['vectors'] = null;
  if (vectors !== null) {
    const { values, modelDigest, dims } = vectors;
    const part = new Part(VECTORS_PATH);
    yield part.add(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
    part.count = vectors.sections.length;
    embedded = { ...part.facts(), modelDigest, dims };
  }
  const header: Header = { formatVersion: SEARCH_FORMAT_VERSION, sections: written.facts(), vectors: embedded };
  yield { path: SEARCH_HEADER_PATH, bytes: Buffer.from(`${JSON.stringify(header, null, 2)}\n`) };
}

const DISAGREE = 'vectors and passages do not agree';

function lineOf({ section, passages, prior }: CutSection, embedded: boolean): Buffer {
  const { path, title, documentTitle, headings, text, language, version, tags } = section;
  // JSON leaves out what is undefined.
  const ofSection = { path, title, documentTitle, headings, text, language, version, tags };
  const line = { ...ofSection, prior, passages: passages.map(({ start, end }) => [start, end]), embedded };
  return Buffer.from(`${JSON.stringify(line)}\n`);
}

class Part {
  count = 0;
  readonly #path: string;
  readonly #digest = createHash('sha256');
  #bytes = 0;

  constructor(path: string) {
    this.#path = path;
  }

  add(bytes: Uint8Array): FilePiece {
    this.#digest.update(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes > PART_BYTES_MAX)
      throw tooLargeToCarry(`its "${this.#path}" has more than ${PART_BYTES_MAX} bytes`);
    return { path: this.#path, bytes };
  }

  facts(): Header['sections'] {
    return { count: this.count, bytes: this.#bytes, sha256: this.#digest.digest('hex') };
  }
}
