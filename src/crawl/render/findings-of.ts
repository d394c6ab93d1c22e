import type { Finding } from '../../domain/job.ts';
import type { RenderedPage } from './ports.ts';

/** Why a request was not sent, in words. */
const REFUSALS: Readonly<Record<string, string>> = {
  method: 'it would change something on the site',
  stream: 'it never ends',
  budget: 'the page asks for too much',
  scheme: 'it is neither http nor https',
};

/**
 * What is worth telling of a page that was rendered: `not_rendered` where its scripts did not get to their end, so that what
 * they load may be missing, and `request_refused` for what they ask for and no export can hold. What its site does not
 * answer is no fault of the export.
 *
 * @param page what it is known by, its address or the path of its file
 */
export function findingsOf(page: string, { state, reason, failures }: RenderedPage): Finding[] {
  const found: Finding[] = [];
  if (state !== 'settled' && state !== 'left') {
    found.push({ kind: 'not_rendered', page, detail: `${state}: ${reason ?? 'no reason is known'}` });
  }
  for (const { url, why } of failures) {
    const refusal = REFUSALS[why];
    if (refusal !== undefined) found.push({ kind: 'request_refused', page, detail: `${url}: ${refusal}` });
  }
  return found;
}
