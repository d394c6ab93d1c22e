import { ReadableStream as WebStream } from 'node:stream/web';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { LRUCache } from 'lru-cache';
import type { Delivered, Deployment } from '../../deploy/index.ts';
import { DocshelfError, toDocshelfError } from '../../domain/errors.ts';
import type { DaemonFeatures } from '../../domain/feature.ts';
import { requireFileName, SIGNATURE_EXTENSION } from '../../domain/file-name.ts';
import type { Organization } from '../../domain/organization.ts';
import type { BundleSourceKind } from '../../domain/release.ts';
import type { Secret } from '../../domain/secret.ts';
import type { LastReload, StatusReport } from '../../domain/status.ts';
import { isVersion } from '../../domain/version.ts';
import { collect } from '../../files/index.ts';
import type { VersionsDiff } from '../../site/versions/diff-pages.ts';
import { type Actor, type AuditFacts, type AuditTrail, actorOf } from '../audit/audit.ts';
import type { JobActions, OperatedJob } from '../job-desk.ts';
import type { KeyActions } from '../keys/key-desk.ts';
import type { ListedKey } from '../keys/key-schemas.ts';
import { isKey } from '../keys/key-store.ts';
import { isBundleFault, type Metrics, type Readings } from '../metrics/metrics.ts';
import { type OpenApiDocument, openApiDocument, withOwnNames } from '../openapi.ts';
import { clientLeft, type FaultHooks } from '../problem.ts';
import { type Input, type Route, route } from '../routes.ts';
import type { ObservedSite } from './observed-site.ts';
import { ADMIN_INFO, AUDIT_LIMIT_DEFAULT, type OperationId, operations, perSite } from './operations.ts';

export interface UploadOptions {
  readonly version: string | null;
  readonly activate: boolean;
  /** Text of the archive's minisign signature. Null uses the signature that the config names. */
  readonly signature: string | null;
  readonly source: 'upload' | 'import';
  readonly signal: AbortSignal;
}

export interface SiteActions extends Pick<Deployment, 'activate' | 'rollback' | 'remove'> {
  readonly domain: string;
  activeVersion(): string | null;
  onBundleRefused(source: BundleSourceKind): void;
  preview(
    version: string,
  ): Promise<{ readonly version: string; readonly digest: string; readonly link: string; readonly expiresAt: string }>;
  /**
   * Compares the main text of the pages of two stored versions. @throws DocshelfError `version_not_found`, `busy`, `cannot_read`,
   * `release_damaged`, `deadline_exceeded`, `worker_ended`
   */
  diff(before: string, after: string, signal: AbortSignal): Promise<VersionsDiff>;
  upload(
    fileName: string,
    body: ReadableStream<Uint8Array>,
    options: UploadOptions,
  ): Promise<Omit<Delivered, 'createdAt'>>;
}

export interface AdminActions {
  reload(): Promise<LastReload>;
  /** Returns the actions of a site. Null selects the only site of the daemon. @throws DocshelfError `not_found`, `site_needed` */
  site(domain: string | null): SiteActions;
  readonly keys: KeyActions;
  readonly jobs: JobActions;
}

export type AdminEndpoint = 'token' | 'socket' | 'session';

export type AdminEnv = { Bindings: Partial<HttpBindings> & { readonly session?: string } };

export interface AdminOptions extends FaultHooks {
  readonly endpoint: AdminEndpoint;
  readonly token: () => Secret | null;
  /** Host names to accept from requests, in addition to the names of the listener itself. */
  readonly hosts: () => readonly string[];
  readonly trustedProxies: readonly string[];
  readonly readiness: () => { readonly ready: boolean; readonly reason: string | null };
  readonly readings: () => Promise<Readings>;
  readonly status: () => Promise<StatusReport>;
  readonly features: () => DaemonFeatures;
  readonly observe: (domain: string) => ObservedSite;
  readonly metrics: Metrics;
  readonly audit: Pick<AuditTrail, 'read' | 'record'>;
  readonly revisions: {
    /** Revision of API keys and audit log: the text differs after each change of a key, and after each new audit line. */
    readonly changes: () => string;
    readonly jobs: () => Promise<string>;
  };
  readonly service: () => { readonly organizations: readonly Organization[]; readonly apiUrl: string | null };
  /** Identity of the data folder, to compare with the header `docshelf-folder`. Null if the folder is missing. */
  readonly folder: () => Promise<string | null>;
  /** Text of the last valid config, which commands read at `LAST_GOOD_PATH`. */
  readonly lastGood: () => Secret | null;
  readonly actions: AdminActions;
  readonly programVersion: string;
}

type Run<Id extends OperationId> = (
  c: Context<AdminEnv>,
  input: Input<(typeof operations)[Id]>,
) => Response | Promise<Response>;

const UPLOAD_IDLE_MS_MAX = 60_000;
const SIGNATURE_MS = 10 * 60_000;
const SIGNATURES_MAX = 100;

export function adminRoutes(options: AdminOptions): readonly Route<AdminEnv>[] {
  /** Uploaded signatures by file name. A signature stays until its archive is imported, so that a failed upload can be retried. */
  const signatures = new LRUCache<string, string>({ max: SIGNATURES_MAX, ttl: SIGNATURE_MS, ttlResolution: 0 });
  const { actions, audit, endpoint, readiness, status, features, metrics } = options;
  const runs: { readonly [Id in OperationId]: Run<Id> } = {
    live: (c) => c.text('ok'),
    ready: (c) => {
      const { ready, reason } = readiness();
      return c.json({ ready, reason }, ready ? 200 : 503);
    },
    metrics: async (c) =>
      c.body(await metrics.expose(await options.readings()), 200, { 'Content-Type': metrics.contentType }),
    status: async (c) => c.json(await status()),
    features: (c) => c.json(features()),
    openapi: (c) => c.json(adminDocument(options)),
    reload: async (c) => {
      const reload = await audit.record(
        actorFor(c),
        'reload',
        {},
        () => actions.reload(),
        ({ ok, error }) => (ok ? {} : { result: 'config_invalid', error }),
      );
      if (reload.ok) return c.json(reload);
      throw new DocshelfError('config_invalid', reload.error ?? 'Cannot use the config: it is invalid', {
        next: 'Fix the config. docshelf reloads it when the file changes, and serves the previous config until then.',
      });
    },
    activate: async (c) => {
      const [site, version] = [siteOf(c), versionOf(c)];
      return c.json(await swap(c, site, 'activate', version, () => site.activate(version)));
    },
    preview: async (c) => {
      const [site, target] = [siteOf(c), versionOf(c)];
      const facts = { site: site.domain, target };
      const preview = await audit.record(actorFor(c), 'preview', facts, () => site.preview(target));
      return c.json(preview, 200, { 'Cache-Control': 'no-store' });
    },
    diff: async (c, { query }) => {
      const { from, to } = query();
      return c.json(await siteOf(c).diff(from, to, c.req.raw.signal));
    },
    audit: async (c, { query }) => {
      const { limit = AUDIT_LIMIT_DEFAULT, before = null } = query();
      return c.json(await audit.read(limit, before));
    },
    listKeys: async (c, { query }) => c.json({ keys: await actions.keys.list(query().organization ?? null) }),
    createKey: async (c, { body }) => {
      const wanted = await body();
      const facts = { organization: wanted.organization, target: wanted.name };
      const create = () => actions.keys.create(wanted);
      return c.json(await audit.record(actorFor(c), 'key-create', facts, create, ({ id }) => ({ to: id })), 201);
    },
    revokeKey: async (c) => {
      const id = c.req.param('id') ?? '';
      const facts = { from: isKey(id) ? null : id };
      const factsOf = ({ organization, name }: ListedKey) => ({ organization, target: name });
      await audit.record(actorFor(c), 'key-revoke', facts, () => actions.keys.revoke(id), factsOf);
      return c.body(null, 204);
    },
    listJobs: async (c, { query }) => c.json(await actions.jobs.board(query().cursor ?? null)),
    startJob: async (c, { body }) => {
      const request = await body();
      return onJob(c, 'export-start', { site: request.domain }, () => actions.jobs.start(request));
    },
    showJob: async (c) => c.json(await actions.jobs.get(jobOf(c))),
    showReport: async (c) => c.json(await actions.jobs.report(jobOf(c))),
    retryJob: async (c) =>
      onJob(c, 'export-start', { target: jobOf(c), from: jobOf(c) }, () => actions.jobs.retry(jobOf(c))),
    cancelJob: async (c) => onJob(c, 'export-cancel', { target: jobOf(c) }, () => actions.jobs.cancel(jobOf(c))),
    rollback: async (c) => {
      const site = siteOf(c);
      return c.json(await swap(c, site, 'rollback', null, () => site.rollback()));
    },
    remove: async (c) => {
      const [site, version] = [siteOf(c), versionOf(c)];
      const facts = { site: site.domain, target: version, from: version };
      await audit.record(actorFor(c), 'remove', facts, () => site.remove(version));
      return c.body(null, 204);
    },
    uploadSignature: async (c) => {
      const { domain } = siteOf(c);
      const fileName = fileNameOf(c);
      const name = pendingName(c, fileName.slice(0, -SIGNATURE_EXTENSION.length));
      await audit.record(actorFor(c), 'signature', { site: domain, target: fileName }, async () =>
        signatures.set(name, await readSignature(openBody(c, endpoint))),
      );
      return c.body(null, 204);
    },
    upload: async (c, { query }) => {
      const site = siteOf(c);
      const fileName = fileNameOf(c);
      const pending = pendingName(c, fileName);
      const { version = null, activate } = query();
      const { signal } = c.req.raw;
      const source = endpoint === 'socket' ? 'import' : 'upload';
      const body = openBody(c, endpoint);
      const signature = signatures.get(pending) ?? null;
      const importAll = () =>
        site
          .upload(fileName, body, { version, activate: activate !== 'false', signature, source, signal })
          .catch((error: unknown) => {
            // Check the socket in addition to `signal`, because `signal` can miss a disconnect after the body is read.
            if (signal.aborted || c.env?.incoming?.socket.destroyed) throw clientLeft(`import "${fileName}"`);
            if (isBundleFault(toDocshelfError(error).code)) site.onBundleRefused(source);
            throw error;
          });
      const taken = await swap(c, site, 'upload', fileName, importAll);
      signatures.delete(pending);
      return c.json(taken, 201);
    },
  };
  const routesOf = <Id extends OperationId>(id: Id) =>
    [operations[id], ...perSite(operations[id])].map((operation) =>
      route<(typeof operations)[Id], AdminEnv>(operation as (typeof operations)[Id], runs[id]),
    );
  return (Object.keys(operations) as OperationId[]).flatMap(routesOf);

  function actorFor(c: Context<AdminEnv>): Actor {
    return actorOf(endpoint, c.env, c.env?.session ?? null);
  }

  function siteOf(c: Context<AdminEnv>): SiteActions {
    return actions.site(c.req.param('domain') ?? null);
  }

  /** Runs an action that can change the active version. The audit line contains the active versions before and after the action. */
  function swap<Result>(
    c: Context<AdminEnv>,
    site: SiteActions,
    action: string,
    target: string | null,
    act: () => Promise<Result>,
  ): Promise<Result> {
    const facts = { site: site.domain, target, from: site.activeVersion() };
    return audit.record(actorFor(c), action, facts, act, () => ({ to: site.activeVersion() }));
  }

  async function onJob(c: Context<AdminEnv>, action: string, facts: AuditFacts, act: () => Promise<OperatedJob>) {
    const factsOf = ({ domain, organization, jobId }: OperatedJob) => ({ site: domain, organization, target: jobId });
    return c.json(await audit.record(actorFor(c), action, facts, act, factsOf), 202);
  }
}

/** Name of a stored signature. Contains the domain, because archives of two sites can have the same file name. */
const pendingName = (c: Context<AdminEnv>, fileName: string): string => `${c.req.param('domain') ?? ''}/${fileName}`;

const jobOf = (c: Context<AdminEnv>): string => c.req.param('jobId') ?? '';

function openBody({ req, env }: Context<AdminEnv>, endpoint: AdminEndpoint): ReadableStream<Uint8Array> {
  const { incoming, outgoing } = env ?? {};
  if (req.raw.headers.has('expect')) outgoing?.writeContinue();
  // Set no idle limit for an upload over the daemon's socket, because a command can wait for data from a pipe.
  if (endpoint !== 'socket') {
    incoming?.setTimeout(UPLOAD_IDLE_MS_MAX);
    // Remove the idle limit after the upload, because the import of the bundle can take longer than the limit.
    incoming?.once('end', () => incoming.setTimeout(0));
  }
  if (req.raw.body === null)
    throw new DocshelfError('bad_request', 'Cannot import the bundle: the request has no body');
  return WebStream.from(wholeBody(req.raw.body)) as ReadableStream<Uint8Array>;
}

/** Yields the bytes of a request body. @throws DocshelfError `bad_request` if the client disconnects */
async function* wholeBody(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch {
    throw clientLeft('read the body');
  }
}

function versionOf(c: Context<AdminEnv>): string {
  const version = c.req.param('version') ?? '';
  if (isVersion(version)) return version;
  const state = 'it is not 1 to 128 letters, digits, ".", "_", "+" or "-", starting with a letter or digit';
  throw new DocshelfError('bad_request', `Cannot read "version": ${state}`, { fields: { field: 'version' } });
}

const fileNameOf = (c: Context<AdminEnv>): string => requireFileName(c.req.param('fileName') ?? '');

/** Creates the OpenAPI document of the admin listener. Its examples contain the daemon's first site and first organization. */
export function adminDocument({ features, service, programVersion }: AdminOptions): OpenApiDocument {
  const all = Object.values(operations).flatMap((each) => [each, ...perSite(each)]);
  const document = openApiDocument(all, { ...ADMIN_INFO, programVersion, publicUrl: null });
  const { domain, sites } = features();
  const own = domain ?? sites?.[0]?.domain;
  const organization = service().organizations[0]?.id;
  return own === undefined ? document : withOwnNames(document, { domain: own, host: null, organization });
}

/** Maximum bytes of a signature, twice the maximum of minisign. */
const SIGNATURE_BYTES_MAX = 20_000;

async function readSignature(body: ReadableStream<Uint8Array>): Promise<string> {
  const bytes = await collect(body, SIGNATURE_BYTES_MAX);
  if (bytes !== null) return bytes.toString();
  const message = `Cannot store the signature: it is larger than ${SIGNATURE_BYTES_MAX} bytes`;
  throw new DocshelfError('payload_too_large', message, {
    next: 'Send the content of the .minisig file.',
    fields: { bytesMax: SIGNATURE_BYTES_MAX },
  });
}
