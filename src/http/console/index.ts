import { type Context, Hono } from 'hono';
import { DocshelfError, type Problem } from '../../domain/errors.ts';
import type { AdminEnv } from '../admin/actions.ts';
import { requestIdOf, trustedPeers } from '../listener/request.ts';
import { answerAsset } from '../own-asset.ts';
import { answerFault } from '../problem.ts';
import { refuseMethod, shown } from '../routes.ts';
import { activationRoutes } from './pages/activation.tsx';
import { auditRoutes } from './pages/audit.tsx';
import { diffRoutes } from './pages/diff.tsx';
import { manualRoutes, problemPage } from './pages/errors.tsx';
import { jobRoutes } from './pages/jobs.tsx';
import { keyRoutes, organizationRoutes } from './pages/organizations.tsx';
import { overviewRoutes } from './pages/overview.tsx';
import { searchRoutes } from './pages/search.tsx';
import { signInRoutes } from './pages/sign-in.tsx';
import { siteRoutes } from './pages/site.tsx';
import {
  FORM_TOKEN,
  ownOrigin,
  readForm,
  requireFormToken,
  requireOwnPage,
  requireSession,
  Sessions,
  sessionValues,
} from './sessions.ts';
import { SignInAudit } from './sign-in-audit.ts';
import { EVENT_HEADERS, StatusEvents } from './status-events.ts';
import { ConsoleAssets, type ConsoleParts, type ConsoleRoute, type ConsoleVisit } from './visit.ts';

/** For a new page, add a file in `pages/`, a line here, and a line in `NAVIGATION` of `layout.tsx`. */
const consoleRoutes: readonly ConsoleRoute[] = [
  ...overviewRoutes,
  ...siteRoutes,
  ...activationRoutes,
  ...searchRoutes,
  ...diffRoutes,
  ...jobRoutes,
  ...organizationRoutes,
  ...keyRoutes,
  ...auditRoutes,
  ...signInRoutes,
  ...manualRoutes,
];

const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  // Do not use `no-referrer`, because browsers then send forms with the origin `null` (Fetch standard, section 3.2.5).
  'Referrer-Policy': 'same-origin',
};

export function createConsole(parts: ConsoleParts): Hono<AdminEnv> {
  const app = new Hono<AdminEnv>();
  const sessions = new Sessions(parts.token);
  const signIns = new SignInAudit(parts.audit);
  const assets = new ConsoleAssets();
  const events = new StatusEvents(parts);
  const isTrusted = trustedPeers(parts.trustedProxies);
  const visitOf = (c: Context<AdminEnv>): ConsoleVisit => {
    const depth = c.req.path.split('/').length - 2;
    const root = depth === 0 ? './' : '../'.repeat(depth);
    const session = sessions.find(sessionValues(c));
    const changes = parts.revisions.changes();
    return { c, parts, sessions, signIns, assets, session, root, now: new Date(), changes };
  };

  app.use(async (c, next) => {
    await next();
    for (const [name, value] of Object.entries(HEADERS)) c.header(name, value);
  });
  app.get('/assets/:name', (c) => {
    const asset = assets.find(c.req.param('name'));
    return asset === null ? c.notFound() : answerAsset(asset, c.req.header('accept-encoding'));
  });
  // Open no event stream for HEAD, because the client would not read and close the stream.
  app.get('/events', (c) => (c.req.method === 'HEAD' ? c.body(null, 200, EVENT_HEADERS) : events.answer()));
  const act = async (c: Context<AdminEnv>, route: ConsoleRoute & { method: 'POST' }): Promise<Response> => {
    const peer = c.env?.incoming?.socket.remoteAddress ?? '';
    requireOwnPage(c.req.raw, ownOrigin(c.req.raw, isTrusted(peer)));
    const visit = visitOf(c);
    if ('enter' in route) return route.enter(visit, await readForm(c.req.raw));
    const session = requireSession(visit.session);
    if ('take' in route) return route.take({ ...visit, session });
    const form = await readForm(c.req.raw);
    requireFormToken(form.get(FORM_TOKEN), session);
    return route.act({ ...visit, session, form });
  };
  for (const [path, ofPath] of Map.groupBy(consoleRoutes, (route) => route.path)) {
    for (const route of ofPath) {
      if (route.method === 'GET') app.get(path, (c) => route.run(visitOf(c)));
      else app.post(path, (c) => act(c, route));
    }
    const methods = ofPath.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    app.all(path, refuseMethod(methods.join(', ')));
  }
  const answerWith = async (cause: Error, c: Context<AdminEnv>): Promise<Response> => {
    const answer = answerFault(cause, c.req.raw, requestIdOf(c.env), parts);
    if (!/\btext\/html\b/.test(c.req.header('accept') ?? '')) return answer;
    return problemPage(visitOf(c), (await answer.json()) as Problem, answer.headers);
  };
  // Respond with the error instead of throwing it, because the response to a thrown error would lack the console's headers.
  app.notFound((c) => {
    const state = `Cannot find "${shown(c.req.path)}": the admin listener has no such path`;
    const next = 'Open the page at /, or see /openapi.json for all paths.';
    return answerWith(new DocshelfError('not_found', state, { next }), c);
  });
  app.onError(answerWith);
  return app;
}
