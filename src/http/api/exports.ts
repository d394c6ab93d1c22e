import type { Context } from 'hono';
import { JOBS_LIMIT_DEFAULT } from '../../domain/job.ts';
import type { ExportService } from '../../export/index.ts';
import { type AuditFacts, type AuditTrail, actorOf } from '../audit/audit.ts';
import { type Route, route } from '../routes.ts';
import { type ApiEnv, ownSite } from './auth.ts';
import * as calls from './operations.ts';

export interface ExportApiOptions {
  readonly exports: ExportService;
  readonly publicUrl: () => string | null;
  readonly audit?: Pick<AuditTrail, 'record'> | undefined;
}

/** The smallest exports are over by then. */
const RETRY_AFTER_S = 2;

/** Contract, section 6. Closed to other origins: an admin key has no business in a browser. */
export function exportRoutes({ exports, publicUrl, audit }: ExportApiOptions): Route<ApiEnv>[] {
  type C = Context<ApiEnv>;
  const jobOf = (c: C): [organizationId: string, jobId: string] => [
    c.var.caller.organization.id,
    c.req.param('jobId') ?? '',
  ];
  /** A change by an API key, with its audit line. */
  const record = <Result>(
    c: C,
    action: string,
    facts: AuditFacts,
    act: () => Promise<Result>,
    after?: (made: Result) => AuditFacts,
  ) => {
    const { organization, key } = c.var.caller;
    if (audit === undefined) return act();
    const actor = actorOf('key', c.env, key.id);
    return audit.record(actor, action, { organization: organization.id, ...facts }, act, after);
  };
  return [
    route(calls.startExport, async (c: C, { body }) => {
      const { domain, version = null, paths = null } = await body();
      const site = ownSite(c, 'export', domain);
      const start = () => exports.start(site, { version, paths });
      const job = await record(c, 'export-start', { site: site.domain }, start, ({ jobId }) => ({ target: jobId }));
      c.header('Location', `${pathPrefix(publicUrl())}${calls.startExport.path}/${job.jobId}`);
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

function pathPrefix(publicUrl: string | null): string {
  return publicUrl === null ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '');
}
