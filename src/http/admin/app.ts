import { Hono } from 'hono';
import { DocshelfError } from '../../domain/errors.ts';
import { requestIdOf } from '../listener/request-id.ts';
import { answerFault } from '../problem.ts';
import { addRoutes, shown } from '../routes.ts';
import { type AdminEnv, type AdminOptions, adminRoutes, requireAdmin } from './actions.ts';
import { requireOwnName } from './own-names.ts';
import { PendingSignatures } from './pending-signatures.ts';
import { TokenGuard } from './token-guard.ts';

export type { AdminOptions } from './actions.ts';

/** The admin listener. Reading needs no token. Faults are problem documents (contract section 8), on every path. */
export function createAdminApp(options: AdminOptions): Hono<AdminEnv> {
  const { door, token, hosts, metrics } = options;
  const guard = new TokenGuard({ token, onWrong: () => metrics.onWrongToken() });
  const app = new Hono<AdminEnv>();

  app.use(async (c, next) => {
    if (door === 'token') requireOwnName(c.req.url, hosts());
    await next();
    c.header('Cache-Control', 'no-store');
    c.header('X-Content-Type-Options', 'nosniff');
    c.header('Referrer-Policy', 'no-referrer');
  });
  addRoutes(app, adminRoutes(options, new PendingSignatures()), { adminToken: [requireAdmin(door, guard)] });
  app.notFound((c) => {
    throw new DocshelfError('not_found', `Cannot answer "${shown(c.req.path)}": the admin listener has no such path`, {
      next: 'The page at / links to what there is, and /openapi.json describes it.',
    });
  });
  app.onError((cause, c) => answerFault(cause, c.req.raw, requestIdOf(c.env), options));
  return app;
}
