import type { Hono } from 'hono';
import type { ExportService } from '../../export/index.ts';
import { exportRequestParser, jobQueryParser } from '../export-request.ts';
import { ownSite, requireExportPlan, requireKey } from './auth.ts';
import { readEmptyJson, readJson } from './body.ts';
import { type ApiEnv, refuseMethod } from './env.ts';
import type { Access } from './keys.ts';

export interface ExportApiOptions {
  readonly access: () => Access;
  readonly exports: ExportService;
  /** URL under which clients reach this listener; null: the one that they asked. */
  readonly publicUrl: () => string | null;
}

const JOBS = '/v1/static-export/jobs';
const JOB = `${JOBS}/:jobId` as const;
const REPORT = `${JOB}/report` as const;
const PICTURE = `${REPORT}/pictures/:name` as const;
const BUNDLE = `${JOB}/bundle` as const;

/** When a job is worth a second look: the smallest exports are over by then. */
const RETRY_AFTER_S = 2;

/**
 * The static export API (contract, section 6): key -> plan -> domain or job -> body -> act. Only where the body names the
 * domain is it read first. No other origin reads the answers: an admin key has no business in a browser.
 */
export function addExports(app: Hono<ApiEnv>, { access, exports, publicUrl }: ExportApiOptions): void {
  const guards = [requireKey(access, 'admin'), requireExportPlan] as const;
  const parseRequest = exportRequestParser();
  const parseQuery = jobQueryParser();

  app.post(JOBS, ...guards, async (c) => {
    const { domain, ...request } = parseRequest(await readJson(c.req.raw, c.env));
    const job = await exports.start(ownSite(c, 'export', domain), request);
    c.header('Location', `${pathPrefix(publicUrl())}${JOBS}/${job.jobId}`);
    c.header('Retry-After', String(RETRY_AFTER_S));
    return c.json(job, 202);
  });
  app.get(JOBS, ...guards, async (c) => {
    const { domain, ...query } = parseQuery(new URL(c.req.url).searchParams);
    const site = domain === undefined ? {} : { domain: ownSite(c, 'list the jobs of', domain).domain };
    return c.json(await exports.list({ organizationId: c.var.caller.organization.id, ...query, ...site }));
  });
  app.all(JOBS, refuseMethod('GET, HEAD, POST'));

  app.get(JOB, ...guards, async (c) => {
    return c.json(await exports.get(c.var.caller.organization.id, c.req.param('jobId')));
  });
  app.delete(JOB, ...guards, async (c) => {
    return c.json(await exports.cancel(c.var.caller.organization.id, c.req.param('jobId')), 202);
  });
  app.all(JOB, refuseMethod('GET, HEAD, DELETE'));

  app.get(REPORT, ...guards, async (c) => {
    return c.json(await exports.report(c.var.caller.organization.id, c.req.param('jobId')));
  });
  app.all(REPORT, refuseMethod('GET, HEAD'));

  app.get(PICTURE, ...guards, async (c) => {
    const picture = await exports.picture(c.var.caller.organization.id, c.req.param('jobId'), c.req.param('name'));
    return c.body(picture, 200, { 'Content-Type': 'image/png' });
  });
  app.all(PICTURE, refuseMethod('GET, HEAD'));

  app.post(BUNDLE, ...guards, async (c) => {
    const organizationId = c.var.caller.organization.id;
    const jobId = c.req.param('jobId');
    await exports.get(organizationId, jobId);
    await readEmptyJson(c.req.raw, c.env);
    return c.json(await exports.bundle(organizationId, jobId));
  });
  app.all(BUNDLE, refuseMethod('POST'));
}

/** What a proxy's address has before our paths; the rest of an address is the client's, who has reached us by it. */
function pathPrefix(publicUrl: string | null): string {
  return publicUrl === null ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '');
}
