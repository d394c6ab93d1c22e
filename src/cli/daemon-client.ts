import { createReadStream, existsSync } from 'node:fs';
import { copyFile, constants as fsConstants, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { Config } from '../config/index.ts';
import {
  type DaemonMark,
  type DaemonRequest,
  dataPaths,
  draftRequest,
  type ReleaseRef,
  runningDaemons,
  SIGNATURE_EXTENSION,
  spoolStream,
} from '../deploy/index.ts';
import { DocshelfError, type ErrorCode, errnoOf } from '../domain/errors.ts';

/** An archive on its way to the daemon: a file, or a stream. */
export type ArchiveInput = { readonly file: string } | { readonly stream: AsyncIterable<Uint8Array> };

/** What a daemon can be asked for, by its admin action and through the inbox alike. */
export type DaemonAction = Exclude<DaemonRequest, { action: 'take-up' }>;

/** A daemon that runs on the config's data folder, or null. Where there is one, it alone changes what is active. */
export async function findDaemon(config: Config): Promise<DaemonMark | null> {
  try {
    return (await runningDaemons(dataPaths(config.storage.dir)))[0] ?? null;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/**
 * Has a running daemon do something: by its admin action where the config has the token, else through the inbox.
 *
 * @throws DocshelfError the daemon's own, or `daemon_unreachable`.
 */
export async function askDaemon(
  config: Config,
  daemon: DaemonMark,
  request: DaemonAction,
  archive: ArchiveInput | null,
): Promise<unknown> {
  const { token } = config.admin;
  const isBeside = archive !== null && 'file' in archive && existsSync(archive.file + SIGNATURE_EXTENSION);
  // A signature goes with its archive, which an upload has no place for.
  const isSigned = isBeside || (request.action === 'import' && request.signature !== null);
  if (token !== null && daemon.adminUrl !== null && !isSigned) {
    const response = await callAdmin(daemon.adminUrl, token.reveal(), request, archive);
    return response.status === 204 ? null : response.json();
  }
  const draft = await draftRequest(dataPaths(config.storage.dir));
  try {
    if (archive !== null) await place(archive, draft.archive, config.staticExport.bundleBytesMax);
    if (isBeside) await copyFile(archive.file + SIGNATURE_EXTENSION, draft.archive + SIGNATURE_EXTENSION);
  } catch (error) {
    await draft.discard();
    throw error;
  }
  return draft.submit(request);
}

/**
 * Tells a daemon of a release that was put into its folder without it: one that began meanwhile, and may have looked before.
 *
 * @returns whether it serves that; null where there is no daemon
 * @throws DocshelfError the daemon's own, or `daemon_unreachable`.
 */
export async function tellDaemon(config: Config, release: ReleaseRef, activate: boolean): Promise<boolean | null> {
  if ((await findDaemon(config)) === null) return null;
  const { version, digest } = release;
  const draft = await draftRequest(dataPaths(config.storage.dir));
  return (await draft.submit({ action: 'take-up', version, digest, activate })) as boolean;
}

/** What the daemon says of itself, or null where its admin listener does not answer. */
export async function daemonStatus(daemon: DaemonMark): Promise<Record<string, unknown> | null> {
  if (daemon.adminUrl === null) return null;
  const response = await fetch(new URL('/v1/status', daemon.adminUrl)).catch(() => null);
  return response?.ok === true ? ((await response.json()) as Record<string, unknown>) : null;
}

async function place(archive: ArchiveInput, target: string, bytesMax: number): Promise<void> {
  // A reflink where the file system has it: then nothing is copied.
  if ('file' in archive) await copyFile(archive.file, target, fsConstants.COPYFILE_FICLONE);
  else await spoolStream(archive.stream, target, bytesMax, new AbortController().signal);
}

async function callAdmin(
  adminUrl: string,
  token: string,
  request: DaemonAction,
  archive: ArchiveInput | null,
): Promise<Response> {
  const { method, path } = routeOf(request);
  const headers: Record<string, string> = { authorization: `Bearer ${token}` };
  let body: ReadableStream | null = null;
  if (archive !== null) {
    const stream = 'file' in archive ? createReadStream(archive.file) : Readable.from(archive.stream);
    if ('file' in archive) headers['content-length'] = String((await stat(archive.file)).size);
    headers['content-type'] = 'application/octet-stream';
    body = Readable.toWeb(stream) as ReadableStream;
  }
  let response: Response;
  try {
    response = await fetch(new URL(path, adminUrl), {
      method,
      headers,
      body,
      ...(body === null ? {} : { duplex: 'half' }),
    });
  } catch (error) {
    throw new DocshelfError('daemon_unreachable', `Cannot reach the daemon at ${adminUrl}: it does not answer`, {
      next: 'Look whether it is running ("docshelf healthcheck"), and try again.',
      cause: error,
    });
  }
  if (response.ok) return response;
  const problem = (await response.json().catch(() => ({}))) as { code?: ErrorCode; error?: string; next?: string };
  throw new DocshelfError(
    problem.code ?? 'internal',
    problem.error ?? `Cannot ask the daemon: it answered ${response.status}`,
    {
      ...(problem.next === undefined ? {} : { next: problem.next }),
    },
  );
}

function routeOf(request: DaemonAction): { method: string; path: string } {
  switch (request.action) {
    case 'import': {
      const query = new URLSearchParams();
      if (request.version !== null) query.set('version', request.version);
      if (!request.activate) query.set('activate', 'false');
      const name = encodeURIComponent(request.fileName ?? 'bundle');
      return { method: 'PUT', path: `/v1/bundles/${name}${query.size === 0 ? '' : `?${query}`}` };
    }
    case 'activate':
      return { method: 'POST', path: `/v1/versions/${encodeURIComponent(request.version)}/activate` };
    case 'rollback':
      return { method: 'POST', path: '/v1/rollback' };
    case 'remove':
      return { method: 'DELETE', path: `/v1/versions/${encodeURIComponent(request.version)}` };
  }
}
