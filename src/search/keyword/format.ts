import { closeSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { crc32 } from 'node:zlib';
import { DocshelfError, errnoOf } from '../../domain/errors.ts';

/** Raise it with every change to the file or to the analysis of text: an index of another version is built anew. */
export const FORMAT_VERSION = 5;

/** In the place of a number. */
export const GONE = 0xffffffff;

/**
 * Sections have numbers, in the order of pages, and places, which they keep in the next version: `sections`, `words`, `postings` and
 * `sequences` go by places, `arrays` by numbers. What is gone leaves its words and postings behind.
 *
 * The index of a next version is a file of what is new in it over the whole one of a version before, its base, a hard link beside it
 * (a copy where there can be none). Both have the same tables, and are read as one.
 *
 * - `words`: FTS5, the four columns as terms parted by spaces; it answers what must stand side by side. Its own ranking is
 *   not used: bm25() knows no lengths of columns, and an OR of common words over 100,000 sections cost it 30 times as much.
 * - `postings`: the sections of each term, which ranking reads; a run is what was added between two flushes. Its count is less by
 *   those that are gone, whose postings stay in other runs, of the base among them. Kept like terms, by names that have a space: lists of
 *   sections by title and document title (a page's first section), language, version and tag.
 * - `sequences`: the terms of each section in their order, in short, for proximity.
 * - `arrays`: lengths of the columns, priors, digests, the number of each place, how many runs there are, the vocabulary that
 *   misspellings and prefixes are looked up in, and the seal of the base. They are of both files, and the base's own are not read.
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

/** What `seal` wrote: another one of another file. */
export function sealOf(path: string): number {
  return withFile(path, 'r', readSeal);
}

function readSeal(file: number): number {
  const bytes = Buffer.alloc(CHECKSUM_BYTES);
  readSync(file, bytes, 0, CHECKSUM_BYTES, CHECKSUM_OFFSET);
  return bytes.readUInt32BE();
}

/** True where every byte is as `seal` left it. Reads the whole file: 0.2 s for 100,000 sections. */
export function isSealed(path: string): boolean {
  return withFile(path, 'r', (file) => readSeal(file) === checksumOf(file));
}

export const basePathOf = (path: string): string => `${path}-base`;

export interface SoundIndex {
  readonly database: DatabaseSync;
  /** Attached as `base`; null of an index that is whole. */
  readonly base: { readonly path: string; readonly seal: number } | null;
}

/** @throws DocshelfError `index_damaged` @param isSealKnown it was found whole before */
export function openSound(path: string, isSealKnown: boolean): SoundIndex {
  checkSound(path, isSealKnown);
  const database = new DatabaseSync(sealedUrl(path), { readOnly: true });
  try {
    const bytes = arrayIn(database, 'base');
    if (bytes === null) return { database, base: null };
    const base = { path: basePathOf(path), seal: new Uint32Array(bytes.buffer)[0] ?? 0 };
    checkSound(base.path, isSealKnown);
    if (sealOf(base.path) !== base.seal) throw damaged(base.path, 'it is of another index');
    attachBase(database, base.path);
    return { database, base };
  } catch (error) {
    database.close();
    throw error;
  }
}

function checkSound(path: string, isSealKnown: boolean): void {
  const version = versionOf(path);
  if (version !== FORMAT_VERSION) throw damaged(path, `it has format version ${version}, not ${FORMAT_VERSION}`);
  if (!isSealKnown && !isSealed(path)) throw damaged(path, 'it was not finished, or has changed since');
}

/** Nobody writes a sealed file: no locks, no look at the disk for changes. */
function sealedUrl(path: string): URL {
  const url = pathToFileURL(path);
  url.searchParams.set('immutable', '1');
  url.searchParams.set('mode', 'ro');
  return url;
}

export function attachBase(database: DatabaseSync, path: string): void {
  database.prepare('ATTACH ? AS base').run(sealedUrl(path).href);
}

/** Rows of both files. @param where may have parameters by number */
export function rowsOf(table: string, columns: string, where: string, isOverBase: boolean): string {
  const schemas = isOverBase ? ['main', 'base'] : ['main'];
  return schemas.map((schema) => `SELECT ${columns} FROM ${schema}.${table} WHERE ${where}`).join(' UNION ALL ');
}

/** Null where it has none of this name. */
export function arrayIn(database: DatabaseSync, name: string): Uint8Array<ArrayBuffer> | null {
  const row = database.prepare('SELECT bytes FROM main.arrays WHERE name = ?').get(name);
  return row === undefined ? null : new Uint8Array((row as unknown as { bytes: Uint8Array }).bytes);
}

export function damaged(path: string, state: string, cause?: unknown): DocshelfError {
  return new DocshelfError('index_damaged', `Cannot read the search index "${path}": ${state}`, {
    next: 'Build it anew from the release.',
    cause,
  });
}

/** Errors of the system or of SQLite as `index_damaged`, which has the index built anew; bugs stay as they are. */
export function asDamaged(path: string, error: unknown): unknown {
  const isOfTheFile = (error as { code?: unknown } | null)?.code === 'ERR_SQLITE_ERROR' || errnoOf(error) !== undefined;
  return isOfTheFile ? damaged(path, String((error as Error).message), error) : error;
}
