import { readFileSync } from 'node:fs';
import { raw } from 'hono/html';
import { showPage } from '../layout.tsx';
import type { ConsoleRoute, ConsoleVisit } from '../visit.ts';

export const manualRoutes: readonly ConsoleRoute[] = [{ method: 'GET', path: '/manual/errors', run: showErrors }];

const TITLE = 'Errors, and what to do';

/** A page of the manual, for machines that reach no other. `scripts/generate.ts` makes its text of `docs/errors.md`. */
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
