import { closeSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { crc32 } from 'node:zlib';
import { DocshelfError, errnoOf } from '../../domain/errors.ts';
import type { Section } from '../ports.ts';
import { titleKey } from './words.ts';

/** Format version. Increase it with each change to the file or to text analysis, so that docshelf rebuilds older indexes. */
export const FORMAT_VERSION = 15;

/**
 * Sections are numbered from 0 in page order.
 * - `postings`: sections of each index term, one table row (run) per flush of the writer. A term with a space, such as
 *   `language de`, lists the sections of a language, title, version or tag.
 * - `sequences`: index terms of each section in order, hashed to 16 bits, for proximity and phrases.
 * - `arrays`: column lengths and priors by section, and the vocabulary.
 */
export const SCHEMA = `
  CREATE TABLE sections (n INTEGER PRIMARY KEY, page TEXT, path TEXT, title TEXT, documentTitle TEXT, headings TEXT, text TEXT, code TEXT, passages TEXT, language TEXT, version TEXT, tags TEXT);
  CREATE TABLE postings (term TEXT, run INTEGER, sections INTEGER, list BLOB, PRIMARY KEY (term, run)) WITHOUT ROWID;
  CREATE TABLE sequences (n INTEGER PRIMARY KEY, terms BLOB);
  CREATE TABLE arrays (name TEXT PRIMARY KEY, bytes BLOB) WITHOUT ROWID;
  PRAGMA user_version = ${FORMAT_VERSION};
`;

/** SQLite's application_id: CRC-32 of the file with zero in this field. Written last, so that a partial file is invalid. */
const CHECKSUM_OFFSET = 68;
const CHECKSUM_BYTES = 4;
const CHUNK_BYTES = 1024 * 1024;

/** Start of a SQLite file, and offset of `user_version` (sqlite.org/fileformat2.html). */
const MAGIC = 'SQLite format 3\0';
const VERSION_OFFSET = 60;

export function openVerified(path: string, isSealKnown: boolean): DatabaseSync {
  const version = versionOf(path);
  if (version !== FORMAT_VERSION) throw damaged(path, `it has format version ${version}, not ${FORMAT_VERSION}`);
  if (!isSealKnown && !withFile(path, 'r', (file) => readSeal(file) === checksumOf(file)))
    throw damaged(path, 'it is incomplete, or it has changed');
  return new DatabaseSync(sealedUrl(path), { readOnly: true });
}

export function versionOf(path: string): number | null {
  return withFile(path, 'r', (file) => {
    const header = Buffer.alloc(VERSION_OFFSET + 4);
    const read = readSync(file, header, 0, header.length, 0);
    const isDatabase = read === header.length && header.toString('latin1', 0, MAGIC.length) === MAGIC;
    return isDatabase ? header.readUInt32BE(VERSION_OFFSET) : null;
  });
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

/** A finished index file never changes, so SQLite needs no locks. */
function sealedUrl(path: string): URL {
  const url = pathToFileURL(path);
  url.searchParams.set('immutable', '1');
  url.searchParams.set('mode', 'ro');
  return url;
}

function withFile<Result>(path: string, flags: string, act: (file: number) => Result): Result {
  const file = openSync(path, flags);
  try {
    return act(file);
  } finally {
    closeSync(file);
  }
}

export function damaged(path: string, state: string, cause?: unknown): DocshelfError {
  return new DocshelfError('index_damaged', `Cannot read the search index "${path}": ${state}`, {
    next: 'docshelf rebuilds it from the pages.',
    cause,
  });
}

/** Converts system and SQLite errors, so that docshelf rebuilds the index. Returns other errors unchanged. */
export function asDamaged(path: string, error: unknown): unknown {
  const isOfTheFile = (error as { code?: unknown } | null)?.code === 'ERR_SQLITE_ERROR' || errnoOf(error) !== undefined;
  return isOfTheFile ? damaged(path, String((error as Error).message), error) : error;
}

/**
 * Kinds of section lists in `postings`, in addition to those of index terms. The list `unsaid version` contains the sections
 * without a version. `detected` lists, by language code, the sections of pages that state no language.
 */
export type ListKind = 'title' | 'documentTitle' | 'version' | 'unsaid' | 'tag' | 'language' | 'detected';

/** Separates the document title from the page title. Neither contains a tab. */
export const UNDER = '\t';

export function listName(kind: ListKind, key: string): string {
  return `${kind} ${key}`;
}

export function listsOf(
  { title, documentTitle = '', language, version, tags }: Section,
  isOfPage: boolean,
  detected: string,
): readonly string[] {
  const keys: [ListKind, string][] = Array.from(new Set(tags), (tag) => ['tag', tag]);
  keys.push(language === null ? ['detected', detected] : ['language', languageKey(language)]);
  keys.push(version === null ? ['unsaid', 'version'] : ['version', version]);
  if (isOfPage) {
    const [ofPage, ofDocument] = [titleKey(title), titleKey(documentTitle)];
    keys.push(['title', ofPage], ['documentTitle', ofDocument && ofDocument + UNDER + ofPage]);
  }
  return keys.filter(([, key]) => key !== '').map(([kind, key]) => listName(kind, key));
}

export function languageKey(language: string): string {
  return language.toLowerCase().replaceAll('_', '-');
}
