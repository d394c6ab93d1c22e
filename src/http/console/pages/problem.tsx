import type { Problem } from '../../../domain/errors.ts';
import { showPage } from '../layout.tsx';
import { Said } from '../parts/said.tsx';
import type { ConsoleVisit } from '../visit.ts';

/** In place of a page or of what an action leads to. @param headers of the problem document */
export function problemPage(visit: ConsoleVisit, problem: Problem, headers: Headers): Promise<Response> {
  const { status, title } = problem;
  return showPage(visit, {
    title,
    status,
    headers,
    content: (
      <>
        <h1>{title}</h1>
        <Said root={visit.root} message={{ text: 'What has happened', problem }} />
      </>
    ),
  });
}
