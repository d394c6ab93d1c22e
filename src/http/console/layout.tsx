import type { Child } from 'hono/jsx';
import type { StatusReport } from '../../domain/status.ts';
import { ActionForm, ActionResult } from './forms.tsx';
import { revisionOf } from './status-events.ts';
import { type ConsoleVisit, signInAddress, type VisitProps } from './visit.ts';

const NAVIGATION = [
  { page: '', name: 'Sites' },
  { page: 'jobs', name: 'Jobs' },
  { page: 'organizations', name: 'Organizations' },
  { page: 'audit', name: 'Audit' },
  { page: 'docs', name: 'API' },
] as const;

interface PageContent {
  readonly title: string;
  readonly page?: string;
  readonly status?: number;
  readonly headers?: Headers;
  /** Status of the daemon that the page shows. The page reloads only if this status changes. */
  readonly state?: StatusReport;
  /** True if the page must not reload itself, for example because the server can show its content only once. */
  readonly isStill?: boolean;
  readonly content: Child;
}

export async function showPage(visit: ConsoleVisit, page: PageContent): Promise<Response> {
  const { c, assets, root, session } = visit;
  const { title, status = 200, headers, state, isStill = false, content } = page;
  const name = c.req.query('message');
  const message = session?.messages.find(name) ?? null;
  const icon = root + assets.address('shelf.svg');
  const markup = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>{title} · docshelf</title>
        <link rel="icon" type="image/svg+xml" href={icon} />
        <link rel="stylesheet" href={root + assets.address('console.css')} />
        {!isStill && (
          <script type="module" src={root + assets.address('live.js')} data-events={`${root}events`}></script>
        )}
        {session && <script type="module" src={root + assets.address('upload.js')}></script>}
      </head>
      <body data-state={state && revisionOf(state, visit.changes)} data-jobs={page.page === 'jobs' ? '' : undefined}>
        <a class="skip" href="#main">
          Skip to the content
        </a>
        <header>
          <a class="brand" href={root}>
            <img src={icon} width="28" height="28" alt="" />
            docshelf
          </a>
          <nav aria-label="Console">
            {NAVIGATION.map((each) => (
              <a href={root + each.page} aria-current={each.page === page.page ? 'page' : undefined}>
                {each.name}
              </a>
            ))}
          </nav>
          <SignedIn visit={visit} />
        </header>
        <main id="main" tabindex={-1}>
          {message && <ActionResult visit={visit} message={message} name={name} />}
          {content}
        </main>
        <footer>
          <a href={`${root}v1/status`}>Status as JSON</a>
          <a href={`${root}v1/features`}>Features as JSON</a>
          <a href={`${root}metrics`}>Metrics</a>
          <a href={`${root}manual/errors`}>Error reference</a>
          <a href={`${root}openapi.json`}>OpenAPI document</a>
          <span class="soft">docshelf {visit.parts.programVersion}</span>
        </footer>
      </body>
    </html>
  );
  const all = new Headers(headers);
  all.set('Content-Type', 'text/html; charset=utf-8');
  return new Response(`<!doctype html>\n${await markup.toString()}\n`, { status, headers: all });
}

function SignedIn({ visit }: VisitProps) {
  if (visit.session === null) {
    return (
      <a class="button" href={visit.root + signInAddress(visit)}>
        Sign in
      </a>
    );
  }
  return (
    <ActionForm visit={visit} action="sign-out">
      <button type="submit">Sign out</button>
    </ActionForm>
  );
}
