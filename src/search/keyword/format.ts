import { closeSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { crc32 } from 'node:zlib';
import { DocshelfError, errnoOf } from '../../domain/errors.ts';

/** Raise it with every change to the file or to text analysis. docshelf rebuilds an index with another version. */
export const FORMAT_VERSION = 6;

/**
 * An index is one SQLite file. Sections are numbered from 0 in the order of pages.
 *
 * - `words`: FTS5 with four columns of terms separated by spaces. It answers phrases. Its own ranking is not used: bm25() has no
 *   column lengths, and an OR of common words over 100,000 sections took 30 times as long.
 * - `postings`: the sections of each term, for ranking. A run contains the sections that were added between two flushes. Lists of
 *   sections by title, document title (a page's first section), language, version and tag are stored like terms, under names with
 *   a space.
 * - `sequences`: the terms of each section in order, hashed to 16 bits, for proximity.
 * - `arrays`: by section, column lengths, priors, languages and passages; and the vocabulary for misspellings and prefixes.
 */
export const SCHEMA = `
  CREATE TABLE sections (n INTEGER PRIMARY KEY, page TEXT, path TEXT, title TEXT, documentTitle TEXT, headings TEXT, text TEXT, language TEXT, version TEXT, tags TEXT);
  CREATE VIRTUAL TABLE words USING fts5(title, headings, text, identifiers, content = '', columnsize = 0, tokenize = "ascii tokenchars '_.-+#'");
  CREATE TABLE postings (term TEXT, run INTEGER, sections INTEGER, list BLOB, PRIMARY KEY (term, run)) WITHOUT ROWID;
  CREATE TABLE sequences (n INTEGER PRIMARY KEY, terms BLOB);
  CREATE TABLE arrays (name TEXT PRIMARY KEY, bytes BLOB) WITHOUT ROWID;
  PRAGMA user_version = ${FORMAT_VERSION};
`;

/** CRC-32 of the file, itself as zero, in SQLite's application_id. Written last: without it a file is unfinished. */
const CHECKSUM_OFFSET = 68;
const CHECKSUM_BYTES = 4;
const CHUNK_BYTES = 1024 * 1024;

/** SQLite's header: its first bytes, and PRAGMA user_version (sqlite.org/fileformat2.html). */
const MAGIC = 'SQLite format 3\0';
const VERSION_OFFSET = 60;

export function versionOf(path: string): number | null {
  return withFile(path, 'r', (file) => {
    const header = Buffer.alloc(VERSION_OFFSET + 4);
    const read = readSync(file, header, 0, header.length, 0);
    const isDatabase = read === header.length && header.toString('latin1', 0, MAGIC.length) === MAGIC;
    return isDatabase ? header.readUInt32BE(VERSION_OFFSET) : null;
  });
}

function withFile<Result>(path: string, flags: string, act: (file: number) => Result): Result {
  const file = openSync(path, flags);
  try {
    return act(file);
  } finally {
    closeSync(file);
  }
}

function checksumOf(file: number): number {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let checksum = 0;
  for (let at = 0; ; ) {
    const read = readSync(file, chunk, 0, CHUNK_BYTES, at);
    if (read === 0) return checksum;
    if (at === 0) chunk.fill(0, CHECKSUM_OFFSET, CHECKSUM_OFFSET + CHECKSUM_BYTES);
    checksum = crc32(chunk.subarray(0, read), checksum);
    at += read;
  }
}

export function seal(path: string): void {
  withFile(path, 'r+', (file) => {
    fsyncSync(file);
    const bytes = Buffer.alloc(CHECKSUM_BYTES);
    bytes.writeUInt32BE(checksumOf(file));
    writeSync(file, bytes, 0, CHECKSUM_BYTES, CHECKSUM_OFFSET);
    fsyncSync(file);
  });
}

function readSeal(file: number): number {
  const bytes = Buffer.alloc(CHECKSUM_BYTES);
  readSync(file, bytes, 0, CHECKSUM_BYTES, CHECKSUM_OFFSET);
  return bytes.readUInt32BE();
}

/** Verifies the checksum. Reads the whole file: 0.2 s for 100,000 sections. */
function isSealed(path: string): boolean {
  return withFile(path, 'r', (file) => readSeal(file) === checksumOf(file));
}

/** @param isSealKnown skips the checksum: the file was verified before @throws DocshelfError `index_damaged` */
export function openVerified(path: string, isSealKnown: boolean): DatabaseSync {
  const version = versionOf(path);
  if (version !== FORMAT_VERSION) throw damaged(path, `it has format version ${version}, not ${FORMAT_VERSION}`);
  if (!isSealKnown && !isSealed(path)) throw damaged(path, 'it was not finished, or has changed since');
  return new DatabaseSync(sealedUrl(path), { readOnly: true });
}

/** A sealed file never changes, so SQLite needs no locks. */
function sealedUrl(path: string): URL {
  const url = pathToFileURL(path);
  url.searchParams.set('immutable', '1');
  url.searchParams.set('mode', 'ro');
  return url;
}

export function damaged(path: string, state: string, cause?: unknown): DocshelfError {
  return new DocshelfError('index_damaged', `Cannot read the search index "${path}": ${state}`, {
    next: 'docshelf rebuilds it from the pages.',
    cause,
  });
}

/** Converts system and SQLite errors to `index_damaged`, so that the index is rebuilt. Returns other errors unchanged. */
export function asDamaged(path: string, error: unknown): unknown {
  const isOfTheFile = (error as { code?: unknown } | null)?.code === 'ERR_SQLITE_ERROR' || errnoOf(error) !== undefined;
  return isOfTheFile ? damaged(path, String((error as Error).message), error) : error;
}
