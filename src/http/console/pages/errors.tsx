import { readFileSync } from 'node:fs';
import { raw } from 'hono/html';
import type { Problem } from '../../../domain/errors.ts';
import { ActionResult } from '../forms.tsx';
import { showPage } from '../layout.tsx';
import type { ConsoleRoute, ConsoleVisit } from '../visit.ts';

export function problemPage(visit: ConsoleVisit, problem: Problem, headers: Headers): Promise<Response> {
  const { status, title } = problem;
  return showPage(visit, {
    title,
    status,
    headers,
    content: (
      <>
        <h1>{title}</h1>
        <ActionResult visit={visit} message={{ text: 'Details', problem }} />
      </>
    ),
  });
}

export const manualRoutes: readonly ConsoleRoute[] = [{ method: 'GET', path: '/manual/errors', run: showErrors }];

const TITLE = 'Error reference';

/** Shows the reference of error codes without internet access. `scripts/generate.ts` derives its HTML from `docs/errors.md`. */
function showErrors(visit: ConsoleVisit): Promise<Response> {
  const text = readFileSync(new URL('../assets/errors.html', import.meta.url), 'utf8').replaceAll(
    /<code>(?=[^\s<]{1,24}<)/g,
    '<code class="name short">',
  );
  const content = (
    <>
      <h1>{TITLE}</h1>
      <article class="manual">{raw(text)}</article>
    </>
  );
  return showPage(visit, { title: TITLE, isStill: true, content });
}
