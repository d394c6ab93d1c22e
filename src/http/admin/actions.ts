import type { HttpBindings } from '@hono/node-server';
import type { Hono, MiddlewareHandler } from 'hono';
import { SIGNATURE_EXTENSION } from '../../deploy/index.ts';
import { DocshelfError, toDocshelfError } from '../../domain/errors.ts';
import type { Secret } from '../../domain/secret.ts';
import { requireToken } from '../bearer.ts';
import { isBundleFault, type Metrics } from '../metrics/metrics.ts';
import { PendingSignatures, readSignature } from './pending-signatures.ts';
import type { LastReload } from './status-report.ts';
import { parseUpload, versionField } from './upload-request.ts';

interface VersionRef {
  readonly version: string;
  readonly digest: string;
}

export interface UploadOptions {
  readonly version: string | null;
  readonly activate: boolean;
  /** Text of the minisign signature that came before it; null: that of the config counts. */
  readonly signature: string | null;
  readonly source: 'upload' | 'import';
  /** Bytes that the client announced; null where it did not. */
  readonly contentLength: number | null;
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal;
}

/** What the admin listener can make the daemon do. Each rejects with a `DocshelfError`. */
export interface AdminActions {
  reload(): Promise<LastReload>;
  activate(version: string): Promise<VersionRef>;
  rollback(): Promise<VersionRef>;
  remove(version: string): Promise<void>;
  upload(
    fileName: string,
    body: ReadableStream<Uint8Array>,
    options: UploadOptions,
  ): Promise<VersionRef & { readonly activated: boolean; readonly unpacked: boolean }>;
  /** Serves a version that a command has stored while the daemon was starting. @returns true where it is served */
  takeUp(release: VersionRef, activate: boolean): Promise<boolean>;
}

/** The way that an action came: over the network with a token, or through the socket that its owner alone may use. */
export type Door = 'token' | 'socket';

/** The bindings are absent where the app is called without a socket. */
export type AdminEnv = { Bindings: Partial<HttpBindings> };

/** How long an upload may stand still. */
const UPLOAD_IDLE_MS_MAX = 60_000;

/** The actions of contract section 2. Each looks at the token first: of a refused upload not one byte is read. */
export function addActions(
  app: Hono<AdminEnv>,
  door: Door,
  token: () => Secret | null,
  actions: AdminActions,
  metrics: Metrics,
): void {
  const guard: MiddlewareHandler<AdminEnv> = async (c, next) => {
    if (door === 'token') requireToken(token(), c.req.header('authorization'));
    await next();
  };
  const signatures = new PendingSignatures();

  app.post('/v1/reload', guard, async (c) => {
    const reload = await actions.reload();
    if (reload.ok) return c.json(reload);
    throw new DocshelfError('config_invalid', reload.error ?? 'Cannot use the config: it is faulty', {
      next: 'Mend the config: what was served goes on as before, and a change to the file is noticed by itself.',
    });
  });
  app.post('/v1/versions/:version/activate', guard, async (c) => {
    return c.json(await actions.activate(versionField(c.req.param('version'))));
  });
  app.post('/v1/rollback', guard, async (c) => c.json(await actions.rollback()));
  app.delete('/v1/versions/:version', guard, async (c) => {
    await actions.remove(versionField(c.req.param('version')));
    return c.body(null, 204);
  });
  app.post('/v1/versions/:version/take-up', guard, async (c) => {
    const version = versionField(c.req.param('version'));
    const release = { version, digest: c.req.query('digest') ?? '' };
    return c.json({ activated: await actions.takeUp(release, c.req.query('activate') !== 'false') });
  });
  app.put('/v1/bundles/:fileName', guard, async (c) => {
    const { fileName, ...options } = parseUpload(c.req.param('fileName'), new URL(c.req.url).searchParams);
    const body = openBody(c.req.raw, c.env, door);
    if (fileName.endsWith(SIGNATURE_EXTENSION)) {
      signatures.put(fileName.slice(0, -SIGNATURE_EXTENSION.length), await readSignature(body));
      return c.body(null, 204);
    }
    const signature = signatures.get(fileName);
    const source = door === 'socket' ? 'import' : 'upload';
    const length = c.req.header('content-length');
    const contentLength = length === undefined ? null : Number(length);
    try {
      const { signal } = c.req.raw;
      const taken = await actions.upload(fileName, body, { ...options, signature, source, contentLength, signal });
      signatures.remove(fileName);
      return c.json(taken, 201);
    } catch (error) {
      // The connection and not the request, which counts as destroyed as soon as its body is read to the end.
      if (c.req.raw.signal.aborted || c.env?.incoming?.socket.destroyed) throw clientLeft(fileName);
      if (isBundleFault(toDocshelfError(error).code)) metrics.onBundleRefused(source);
      throw error;
    }
  });
}

/** The body of an upload, which the client may hold back until it is asked for (RFC 9110, section 10.1.1). */
function openBody(request: Request, env: AdminEnv['Bindings'] | undefined, door: Door): ReadableStream<Uint8Array> {
  const { incoming, outgoing } = env ?? {};
  if (request.headers.has('expect')) outgoing?.writeContinue();
  // A command may stand in a pipe, and wait for as long as what comes before it there.
  if (door === 'token') {
    incoming?.setTimeout(UPLOAD_IDLE_MS_MAX);
    // Unpacking may take its time: only what the client owes is hurried.
    incoming?.once('end', () => incoming.setTimeout(0));
  }
  if (request.body === null)
    throw new DocshelfError('bad_request', 'Cannot take in the bundle: the request has no body');
  return request.body;
}

/** Nobody reads this answer: it is for the metrics, where an upload that was broken off is no fault of ours. */
function clientLeft(fileName: string): DocshelfError {
  return new DocshelfError('bad_request', `Cannot take in "${fileName}": the client left before the answer`);
}
