import type { Context } from 'hono';
import { DocshelfError } from '../../domain/errors.ts';
import { JOBS_LIMIT_DEFAULT } from '../../domain/job.ts';
import { counted } from '../../domain/text.ts';
import type { ExportService } from '../../export/index.ts';
import type { BundleLinkRequest, LinkedBundle } from '../../export/ports.ts';
import { evaluatePreconditions, requestedRange } from '../../site/preconditions.ts';
import { FilePart, fileResponse } from '../../site/site-bytes.ts';
import { type AuditFacts, type AuditTrail, actorOf } from '../audit/audit.ts';
import { requestIdOf } from '../listener/request.ts';
import { type Route, route } from '../routes.ts';
import { type ApiEnv, ownSite } from './auth.ts';
import { calls } from './operations.ts';

export interface ExportApiOptions {
  readonly exports: ExportService;
  readonly publicUrl: () => string | null;
  readonly audit: Pick<AuditTrail, 'record'>;
}

const RETRY_AFTER_S = 2;

/** Routes of the export API. They do not allow requests from other origins, because a browser must not use an admin key. */
export function exportRoutes({ exports, publicUrl, audit }: ExportApiOptions): Route<ApiEnv>[] {
  type C = Context<ApiEnv>;
  const jobOf = (c: C) => [c.var.caller.organization.id, c.req.param('jobId') ?? ''] as const;
  const record = <Result>(
    c: C,
    action: string,
    facts: AuditFacts,
    act: () => Promise<Result>,
    after?: (made: Result) => AuditFacts,
  ) => {
    const { organization, key } = c.var.caller;
    const actor = actorOf('key', c.env, key.id);
    return audit.record(actor, action, { organization: organization.id, ...facts }, act, after);
  };
  return [
    route(calls.startExport, async (c: C, { body }) => {
      const { domain, version = null, paths = null } = await body();
      const site = ownSite(c, 'export', domain);
      const start = () => exports.start(site, { version, paths });
      const job = await record(c, 'export-start', { site: site.domain }, start, ({ jobId }) => ({ target: jobId }));
      const prefix = URL.parse(publicUrl() ?? '')?.pathname.replace(/\/+$/, '') ?? '';
      c.header('Location', `${prefix}${calls.startExport.path}/${job.jobId}`);
      c.header('Retry-After', String(RETRY_AFTER_S));
      return c.json(job, 202);
    }),
    route(calls.listExports, async (c: C, { query }) => {
      const { domain, limit = JOBS_LIMIT_DEFAULT, ...rest } = query();
      const site = domain === undefined ? {} : { domain: ownSite(c, 'list the jobs of', domain).domain };
      return c.json(await exports.list({ organizationId: c.var.caller.organization.id, limit, ...rest, ...site }));
    }),
    route(calls.getExport, async (c: C) => c.json(await exports.get(...jobOf(c)))),
    route(calls.cancelExport, async (c: C) => {
      const cancel = () => exports.cancel(...jobOf(c));
      return c.json(await record(c, 'export-cancel', { target: jobOf(c)[1] }, cancel), 202);
    }),
    route(calls.getExportReport, async (c: C) => c.json(await exports.report(...jobOf(c)))),
    route(calls.getExportPicture, async (c: C) => {
      const picture = await exports.picture(...jobOf(c), c.req.param('name') ?? '');
      return c.body(picture, 200, { 'Content-Type': 'image/png' });
    }),
    route(calls.linkBundle, async (c: C, { body }) => {
      await exports.get(...jobOf(c));
      await body();
      return c.json(await record(c, 'export-link', { target: jobOf(c)[1] }, () => exports.bundle(...jobOf(c))));
    }),
  ];
}

export const DOWNLOAD_PATH = '/v1/bundles/:sha256/:fileName';

export type AnswerDownload = (c: Context<ApiEnv, typeof DOWNLOAD_PATH>) => Response | Promise<Response>;

export interface BundleDownloadOptions {
  readonly follow: (link: BundleLinkRequest) => Promise<LinkedBundle>;
  readonly onFault?: (error: DocshelfError, requestId: string | null) => void;
}

/** Serves a bundle by a signed link. All links to a bundle have the same entity tag, so a new link can resume a download. */
export function bundleDownload({ follow, onFault }: BundleDownloadOptions): AnswerDownload {
  return async (c) => {
    const { sha256, fileName } = c.req.param();
    const bundle = await follow({ sha256, fileName, query: new URL(c.req.url).searchParams });
    const { method, path: target } = c.req;
    const request = { method, target, header: (name: string) => c.req.header(name), id: () => requestIdOf(c.env) };
    // Use only the digest as a validator, because packing the same bundle again changes the modification time of its file.
    const validators = { etag: `"${bundle.sha256}"`, lastModifiedMs: Number.NaN };
    // Send `no-store`, so that private caches (RFC 9111, section 5.2.2.5) do not keep the bundle longer than the link.
    const headers = { ETag: validators.etag, 'Cache-Control': 'no-store' };

    const verdict = evaluatePreconditions(request, validators);
    if (verdict === 'not-modified') return new Response(null, { status: 304, headers });
    if (verdict === 'failed') throw changed(fileName);

    const range = requestedRange(request, validators, bundle.sizeBytes);
    if (range === 'unsatisfiable') throw pastTheEnd(fileName, bundle.sizeBytes);
    const { start, length } = range ?? { start: 0, length: bundle.sizeBytes };
    const file = { diskPath: bundle.diskPath, size: bundle.sizeBytes };
    const onBroken = (cause: DocshelfError): void => onFault?.(brokenOff(fileName, cause), request.id());
    const part =
      request.method === 'HEAD' ? null : await FilePart.open(file, { start, end: start + length, onFault: onBroken });
    const own = {
      ...headers,
      'Content-Type': bundle.contentType,
      'Content-Disposition': bundle.contentDisposition,
      'Accept-Ranges': 'bytes',
      'X-Content-Type-Options': 'nosniff',
      'Content-Length': String(length),
    };
    if (range === null) return fileResponse(part, { headers: own });
    const contentRange = `bytes ${start}-${start + length - 1}/${bundle.sizeBytes}`;
    return fileResponse(part, { status: 206, headers: { ...own, 'Content-Range': contentRange } });
  };
}

function changed(fileName: string): DocshelfError {
  const state = 'its content does not match If-Match';
  return new DocshelfError('precondition_failed', `Cannot send "${fileName}": ${state}`, {
    next: 'Start the download again without If-Match.',
  });
}

function pastTheEnd(fileName: string, sizeBytes: number): DocshelfError {
  const message = `Cannot send the requested range of "${fileName}": the file has ${counted(sizeBytes, 'byte')}`;
  return new DocshelfError('range_not_satisfiable', message, {
    next: 'Request a range within the file, or the whole file.',
    fields: { contentRange: `bytes */${sizeBytes}` },
  });
}

/** Builds the error to log if an archive cannot be read to its end. The client gets no message, because its connection breaks. */
function brokenOff(fileName: string, cause: DocshelfError): DocshelfError {
  return new DocshelfError('cannot_read', `Cannot send the rest of "${fileName}": the archive cannot be read`, {
    next: 'Check the volume of storage.dir. A client can resume the download with a range request.',
    cause,
  });
}
