import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DocshelfError } from '../../domain/errors.ts';
import type { ExportRequest, SiteSink, SiteSource } from '../../domain/job.ts';
import { type FileEntry, isPage } from '../../domain/release.ts';
import type { FileStore } from '../../files/file-store.ts';
import { flushPath, readBeginning } from '../../files/index.ts';
import { CHARSET_HEAD_BYTES, mediaTypeOf, mediaTypeOfFile, namesItsCharset } from '../../web/media-type.ts';
import { FindingList, type FoundSoFar } from '../findings.ts';

/** Reports the progress of a step. `pages` is the number of pages collected so far. */
export type OnStep = (done: number, total: number, pages?: number) => void;

type SiteTable = { readonly files: readonly FileEntry[]; readonly found: FoundSoFar };

export async function collectSite(
  source: SiteSource,
  request: ExportRequest,
  store: FileStore,
  onProgress: OnStep,
  signal: AbortSignal,
): Promise<SiteTable> {
  const files = new Map<string, FileEntry>();
  const findings = new FindingList();
  let pages = 0;
  let [done, total] = [0, 0];
  const sink: SiteSink = {
    async add(path, content) {
      if (files.has(path)) throw new Error(`the source returns "${path}" twice`);
      if ('sha256' in content) files.set(path, { path, ...content });
      else {
        const { sha256, size } = await store.put(content);
        files.set(path, { path, size, sha256, type: await typeOf(path, store.pathOf(sha256)) });
      }
      if (isPage(path)) pages += 1;
      onProgress(done, total, pages);
    },
    find: (finding) => findings.add(finding),
    progress: (...now) => {
      [done, total] = now;
      onProgress(done, total, pages);
    },
  };
  await source(request, sink, signal);
  if (pages === 0) {
    throw new DocshelfError('bad_source', `Cannot export "${request.domain}": its source contains no page`, {
      next: 'Check the source of the domain in the config: it must contain HTML pages, or Markdown if its kind is markdown.',
    });
  }
  const sorted = [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  return { files: sorted, found: findings.soFar };
}

async function typeOf(path: string, file: string): Promise<string> {
  if (!namesItsCharset(path)) return mediaTypeOf(path);
  return mediaTypeOfFile(path, await readBeginning(file, CHARSET_HEAD_BYTES));
}

export async function writeSiteTable(store: FileStore, table: SiteTable): Promise<string> {
  const { sha256 } = await store.put(Buffer.from(JSON.stringify(table)));
  const path = store.pathOf(sha256);
  await flushPath(path);
  await flushPath(dirname(path));
  return sha256;
}

export const readSiteTable = async (store: FileStore, sha256: string): Promise<SiteTable> =>
  JSON.parse(await readFile(store.pathOf(sha256), 'utf8')) as SiteTable;
