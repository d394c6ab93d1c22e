import { Hono } from 'hono';
import { DocshelfError } from '../../domain/errors.ts';
import { once } from '../../threads/once.ts';
import { addDocs } from '../docs/docs.ts';
import { requestIdOf } from '../listener/request.ts';
import { answerFault } from '../problem.ts';
import { addRoutes, shown } from '../routes.ts';
import { type AdminEnv, type AdminOptions, adminDocument, adminRoutes } from './actions.ts';
import { requireAdmin, requireFolder, requireOwnName, TokenGuard } from './guards.ts';
import { FOLDER_HEADER, LAST_GOOD_PATH } from './operations.ts';

export type { AdminOptions } from './actions.ts';

const HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer' };

export function createAdminApp(options: AdminOptions): Hono<AdminEnv> {
  const { endpoint, token, hosts, metrics } = options;
  const guard = new TokenGuard({ token, onWrong: () => metrics.onWrongToken() });
  const app = new Hono<AdminEnv>();

  app.use(async (c, next) => {
    if (endpoint === 'token') requireOwnName(c.req.url, hosts());
    if (endpoint === 'socket') await requireFolder(c.req.header(FOLDER_HEADER), options.folder);
    await next();
    for (const [name, value] of Object.entries(HEADERS)) if (!c.res.headers.has(name)) c.header(name, value);
  });
  addRoutes(app, adminRoutes(options), { adminToken: [requireAdmin(endpoint, guard)] });
  if (endpoint === 'socket') app.get(LAST_GOOD_PATH, (c) => c.json({ text: options.lastGood()?.reveal() ?? null }));
  if (endpoint === 'token') {
    addDocs(app, () => adminDocument(options));
    const pages = consoleOf(options, guard);
    app.all('*', async (c) => (await pages()).fetch(c.req.raw, c.env));
  }
  app.notFound((c) => {
    throw new DocshelfError('not_found', `Cannot find "${shown(c.req.path)}": this endpoint has no such path`, {
      next: 'See /openapi.json for all paths.',
    });
  });
  app.onError((cause, c) => answerFault(cause, c.req.raw, requestIdOf(c.env), options));
  return app;
}

/** Loads the console at the first request of a page, because the load takes 40 ms (measured). Retries a failed load. */
function consoleOf(options: AdminOptions, guard: TokenGuard): () => Promise<Hono<AdminEnv>> {
  const calls = createAdminApp({ ...options, endpoint: 'session' });
  return once(async () => {
    const { createConsole } = await import('../console/index.ts');
    return createConsole({ ...options, guard, api: (request, env) => calls.fetch(request, env) });
  });
}
