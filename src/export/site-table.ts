import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { FileStore } from '../files/file-store.ts';
import { flushPath } from '../files/index.ts';
import type { SiteTable } from './collect.ts';

/** Writes a collected site's table into the file store: the digest is all that a job needs to go on from it. */
export async function writeSiteTable(store: FileStore, table: SiteTable): Promise<string> {
  const { sha256 } = await store.put(Buffer.from(JSON.stringify(table)));
  // The checkpoint that names it is flushed, and must not outlive it.
  const path = store.pathOf(sha256);
  await flushPath(path);
  await flushPath(dirname(path));
  return sha256;
}

/** @throws the system's own errors where the table is gone */
export async function readSiteTable(store: FileStore, sha256: string): Promise<SiteTable> {
  return JSON.parse(await readFile(store.pathOf(sha256), 'utf8')) as SiteTable;
}
