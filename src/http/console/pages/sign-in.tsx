import { DocshelfError, type Problem, toDocshelfError } from '../../../domain/errors.ts';
import { Secret } from '../../../domain/secret.ts';
import { requestIdOf } from '../../listener/request.ts';
import { answerFault } from '../../problem.ts';
import { ActionResult } from '../forms.tsx';
import { showPage } from '../layout.tsx';
import { clearSession, sessionValues, setSession } from '../sessions.ts';
import type { ConsoleRoute, ConsoleVisit, SignedVisit } from '../visit.ts';

export const signInRoutes: readonly ConsoleRoute[] = [
  { method: 'GET', path: '/sign-in', run: (visit) => signInPage(visit, visit.c.req.query('to') ?? '') },
  { method: 'POST', path: '/sign-in', enter: signIn },
  { method: 'POST', path: '/sign-out', act: signOut },
];

/** Console page to open after a sign-in. Its path is relative to the root, so it is always a page of this host. */
const OWN_PAGE = /^(?:[a-z0-9_-]+(?:\/[A-Za-z0-9_-]+)*)?$/;

const WRONG = new DocshelfError(
  'unauthorized',
  'Cannot sign in: the token does not match the admin.token of the config',
  {
    next: 'Paste the value of admin.token, or the content of its environment variable or file.',
  },
);

async function signIn(visit: ConsoleVisit, form: URLSearchParams): Promise<Response> {
  const { c, parts, sessions, signIns, root } = visit;
  const token = form.get('token')?.trim() ?? '';
  const to = form.get('to') ?? '';
  try {
    await parts.guard.admit(`Bearer ${token}`, c.env?.incoming?.socket.remoteAddress ?? '');
  } catch (error) {
    const cause = toDocshelfError(error);
    const fault = cause.code === 'unauthorized' ? WRONG : cause;
    await signIns.failed(c.env, fault);
    const answer = answerFault(fault, c.req.raw, requestIdOf(c.env), parts);
    return signInPage(visit, to, (await answer.json()) as Problem, answer.headers);
  }
  sessions.end(sessionValues(c));
  const value = sessions.open(new Secret(token));
  setSession(c, value);
  await signIns.opened(c.env, sessions.find([value]));
  return c.redirect(root + (OWN_PAGE.test(to) ? to : ''), 303);
}

async function signOut({ c, sessions, signIns, session, root }: SignedVisit): Promise<Response> {
  sessions.end(sessionValues(c));
  clearSession(c);
  await signIns.ended(c.env, session);
  return c.redirect(root, 303);
}

function signInPage(visit: ConsoleVisit, to: string, problem?: Problem, headers?: Headers): Promise<Response> {
  const isOpen = visit.parts.token() !== null;
  const content = (
    <>
      <h1>Sign in</h1>
      {problem && <ActionResult visit={visit} message={{ text: 'Sign-in failed', problem }} />}
      {isOpen ? (
        <form method="post" action={`${visit.root}sign-in`} class="card narrow">
          <input type="hidden" name="to" value={to} />
          <label for="token">Admin token</label>
          <input
            id="token"
            name="token"
            type="password"
            autocomplete="current-password"
            required
            autofocus={problem === undefined}
            aria-describedby="token-help"
          />
          <p class="soft" id="token-help">
            The value of <code>admin.token</code> in the config. You can see the status without it.
          </p>
          <button type="submit" class="primary">
            Sign in
          </button>
        </form>
      ) : (
        <p>
          No <code>admin.token</code> is set, so the console is read-only. To make changes, use the command line or set
          the token.
        </p>
      )}
    </>
  );
  const more = problem === undefined ? {} : { status: problem.status, ...(headers && { headers }) };
  return showPage(visit, { title: 'Sign in', content, ...more });
}
