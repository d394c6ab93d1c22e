import { createHash } from 'node:crypto';
import { Hono } from 'hono';
import type { DeployState } from '../../deploy/index.ts';
import { DocshelfError, toDocshelfError } from '../../domain/errors.ts';
import type { FeatureReport } from '../../domain/feature.ts';
import type { Secret } from '../../domain/secret.ts';
import { requestIdOf } from '../listener/request-id.ts';
import type { ExportJobs, Metrics } from '../metrics/metrics.ts';
import { problemResponse, statusOf } from '../problem.ts';
import { type AdminActions, type AdminEnv, addActions, type Door } from './actions.ts';
import { adminPage } from './page.ts';
import { PAGE_STYLE } from './page-style.ts';
import type { StatusReport } from './status-report.ts';

export interface Readiness {
  readonly ready: boolean;
  /** Why not, one sentence. */
  readonly reason: string | null;
}

export interface AdminOptions {
  readonly door: Door;
  /** Null: no token is set, and every action is refused. */
  readonly token: () => Secret | null;
  readonly readiness: () => Readiness;
  /** In memory: metrics answer where the storage does not. */
  readonly state: () => DeployState;
  readonly status: () => Promise<StatusReport>;
  readonly features: () => FeatureReport;
  /** Absent: there are no exports here. */
  readonly jobs?: () => Promise<ExportJobs>;
  readonly metrics: Metrics;
  readonly actions: AdminActions;
  /** A fault of ours (status 500 and above) was answered; its message may not have been. */
  onError?(error: DocshelfError, requestId: string | null): void;
}

/** Nothing is loaded, framed or run; the page's own style and picture are the only exceptions. */
const STYLE_DIGEST = createHash('sha256').update(PAGE_STYLE).digest('base64');
const POLICY = `default-src 'none'; style-src 'sha256-${STYLE_DIGEST}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** Every path of the admin listener, with the methods that it knows. */
const METHODS_BY_PATH = {
  '/': 'GET, HEAD',
  '/livez': 'GET, HEAD',
  '/readyz': 'GET, HEAD',
  '/metrics': 'GET, HEAD',
  '/v1/status': 'GET, HEAD',
  '/v1/features': 'GET, HEAD',
  '/v1/reload': 'POST',
  '/v1/rollback': 'POST',
  '/v1/versions/:version': 'DELETE',
  '/v1/versions/:version/activate': 'POST',
  '/v1/versions/:version/take-up': 'POST',
  '/v1/bundles/:fileName': 'PUT',
};

/** A path may be as long as all headers may, 16 KiB. */
const shown = (path: string): string => path.slice(0, 200);

/**
 * The admin listener: health, status, metrics, the page, the actions. Reading needs no token. Faults are problem documents
 * (contract section 8), on every path.
 */
export function createAdminApp(options: AdminOptions): Hono<AdminEnv> {
  const { readiness, state, status, features, metrics } = options;
  const app = new Hono<AdminEnv>();

  app.use(async (c, next) => {
    await next();
    c.header('Cache-Control', 'no-store');
    c.header('X-Content-Type-Options', 'nosniff');
    c.header('Referrer-Policy', 'no-referrer');
  });
  app.get('/livez', (c) => c.text('ok'));
  app.get('/readyz', (c) => {
    const { ready, reason } = readiness();
    return c.json({ ready, reason }, ready ? 200 : 503);
  });
  app.get('/metrics', async (c) => {
    // All other metrics answer also where the queue does not.
    const jobs = (await options.jobs?.().catch(() => null)) ?? null;
    const text = await metrics.expose({ state: state(), isReady: readiness().ready, jobs });
    return c.body(text, 200, { 'Content-Type': metrics.contentType });
  });
  app.get('/v1/status', async (c) => c.json(await status()));
  app.get('/v1/features', (c) => c.json(features()));
  app.get('/', async (c) => {
    c.header('Content-Security-Policy', POLICY);
    return c.html(adminPage(await status(), features(), new Date()));
  });
  addActions(app, options.door, options.token, options.actions, metrics);

  for (const [path, allow] of Object.entries(METHODS_BY_PATH)) {
    app.all(path, (c) => {
      throw new DocshelfError(
        'method_not_allowed',
        `Cannot ${c.req.method} "${shown(c.req.path)}": it answers ${allow}`,
        {
          fields: { allow },
        },
      );
    });
  }
  app.notFound((c) => {
    throw new DocshelfError('not_found', `Cannot answer "${shown(c.req.path)}": the admin listener has no such path`, {
      next: 'The page at / links to what there is.',
    });
  });
  app.onError((cause, c) => {
    const error = toDocshelfError(cause);
    const requestId = requestIdOf(c.env);
    metrics.onError(error.code);
    if (statusOf(error.code) >= 500) options.onError?.(error, requestId);
    return problemResponse(error, requestId);
  });
  return app;
}
