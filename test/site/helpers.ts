import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'vitest';
import type { FileEntry, FileTable, KeptRelease, ReleaseView, TrailingSlash } from '../../src/domain/release.ts';
import { BodyCache, type ServeEvents, SiteServer, SiteSnapshot, type SnapshotSettings } from '../../src/site/index.ts';
import { mediaTypeOfFile } from '../../src/web/media-type.ts';
import { NO_RULES, type SiteRules } from '../../src/web/rules/index.ts';
import { newFolder } from '../helpers/new-folder.ts';

export type Files = Readonly<Record<string, string | Buffer>>;

export const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');

export const releases = {
  /** Writes a site to a new folder like unpacking does. @returns its view */
  make(
    files: Files,
    info: { version?: string; createdAt?: string; trailingSlash?: TrailingSlash; builtFor?: string } = {},
  ): ReleaseView {
    const releaseDir = newFolder();
    const siteDir = join(releaseDir, 'site');
    mkdirSync(siteDir);
    const table: FileEntry[] = [];
    for (const [path, content] of Object.entries(files)) {
      const bytes = Buffer.from(content);
      mkdirSync(dirname(join(siteDir, path)), { recursive: true });
      writeFileSync(join(siteDir, path), bytes);
      table.push({ path, size: bytes.length, sha256: sha256(bytes), type: mediaTypeOfFile(path, bytes) });
    }
    return {
      digest: sha256(siteDir),
      version: info.version ?? 'v1',
      createdAt: info.createdAt ?? '2024-06-01T10:20:30.400Z',
      releaseDir,
      siteDir,
      pages: 1,
      bytes: 1,
      trailingSlash: info.trailingSlash ?? 'always',
      builtFor: info.builtFor ?? '/',
      files: tableOf(table),
    };
  },
};

export function tableOf(entries: readonly FileEntry[]): FileTable {
  const namesIn = (folder: string) =>
    entries
      .map(({ path }) => path)
      .filter((path) => path.startsWith(folder) && !path.includes('/', folder.length))
      .map((path) => path.slice(folder.length));
  return Object.assign(new Map(entries.map((entry) => [entry.path, entry])), { namesIn });
}

/** A release that is no longer active. A null `servedAt` means that it never was. */
export function kept(release: ReleaseView, servedAt: string | null = '2024-06-01T00:00:00.000Z'): KeptRelease {
  const { digest, createdAt, releaseDir, siteDir, builtFor, files } = release;
  const find = async (path: string) => files.get(path) ?? null;
  return { digest, createdAt, releaseDir, siteDir, builtFor, servedAt, find, readTable: async () => files };
}

/** A client that disconnects when its signal is aborted. */
export const clientOf = (signal: AbortSignal) => () => ({ signal, [Symbol.dispose]: () => undefined });

export interface Served {
  readonly server: SiteServer;
  /** The reference that a switch replaces. */
  readonly site: { current: SiteSnapshot | null };
  send(target: string, headers?: Readonly<Record<string, string>>, method?: string): Promise<Response>;
}

/** A server of these releases, the first one active, and a function that sends requests. */
export function serve(
  releases: readonly [ReleaseView, ...ReleaseView[]],
  options: {
    cacheBytes?: number;
    bodies?: BodyCache;
    events?: ServeEvents;
    rules?: SiteRules;
  } & Partial<SnapshotSettings> = {},
): Served {
  const [active, ...older] = releases;
  const { cacheBytes = 1024 ** 2, bodies = new BodyCache(cacheBytes), events, rules = NO_RULES, ...form } = options;
  const current = new SiteSnapshot(
    active,
    older.map((each) => kept(each)),
    { trailingSlash: 'auto', ...form },
    rules,
  );
  const site: Served['site'] = { current };
  const server = new SiteServer(bodies, site, events);
  return {
    server,
    site,
    send: async (target, headers = {}, method = 'GET') =>
      server.respond({ method, target, header: (name) => headers[name], id: () => null }),
  };
}

/** Checks that ETag, ranges, encodings and HEAD of a changed page belong to these bytes, even in the first response of a server. */
export async function expectBytes(path: string, text: string, fresh: (cacheBytes: number) => Served): Promise<void> {
  const etag = `"${sha256(text).slice(0, 32)}"`;
  for (const cacheBytes of [1024 ** 2, 0]) {
    const send = (...request: Parameters<Served['send']>) => fresh(cacheBytes).send(...request);
    const length = String(text.length);
    expect(await summary(await send(path), 'etag', 'content-length')).toEqual([200, etag, length, text]);
    expect((await send(path, { 'if-none-match': etag })).status).toBe(304);
    const part = await send(path, { range: 'bytes=3-60' });
    expect(await summary(part, 'content-range')).toEqual([206, `bytes 3-60/${length}`, text.slice(3, 61)]);
    const zipped = await send(path, { 'accept-encoding': 'gzip' });
    expect(zipped.headers.get('etag')).toBe(`${etag.slice(0, -1)}-gz"`);
    expect(gunzipSync(await zipped.arrayBuffer()).toString()).toBe(text);
    expect(await summary(await send(path, {}, 'HEAD'), 'content-length')).toEqual([200, length, '']);
  }
}

/** Status, headers with these names, and text of the body. */
export async function summary(response: Response, ...names: string[]) {
  return [response.status, ...names.map((name) => response.headers.get(name)), await response.text()];
}
