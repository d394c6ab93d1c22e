import type { HttpBindings } from '@hono/node-server';
import { type FastAnswer, noticeResponse } from '../../site/index.ts';
import { toHeaders } from '../../site/site-bytes.ts';
import { stripBase } from '../../web/mount/base-path.ts';
import { requestIdOf, siteRequest } from '../listener/request.ts';
import { type PageReports, REPORTS_PATH } from '../site/page-reports.ts';
import { NOTHING_HERE, outsideAnswer } from '../site/site.ts';
import type { SiteAssets } from '../site/site-assets.ts';
import { ownPage, type SignIn } from './sign-in.ts';

type AnswerSite = (request: Request, env: HttpBindings) => Response | Promise<Response>;

interface Guard {
  readonly signIn: SignIn;
  readonly basePath: string;
  readonly reports: Pick<PageReports, 'answer'>;
  readonly assets: SiteAssets;
  readonly onFault: (error: unknown, requestId: string | null) => void;
}

/** Paths that need no sign-in. The raw target must match exactly, because any other spelling needs a sign-in. */
const FREE = /^\/_docshelf\/(?:assets\/(?:[A-Za-z0-9][A-Za-z0-9._-]*\/)?[A-Za-z0-9][A-Za-z0-9._-]*|csp-report)$/;

export const isFree = (target: string): boolean => FREE.test(target);

/** Requires a sign-in before routing, so that new routes under the base path also require it. */
export function guarded({ signIn, basePath, reports, assets, onFault }: Guard, answer: AnswerSite): AnswerSite {
  return async (request, env) => {
    const asked = siteRequest(request, env);
    const stripped = stripBase(asked.target, basePath);
    if (stripped.kind !== 'inside') return outsideAnswer(asked, stripped);
    if (isFree(stripped.target)) {
      if (request.method === 'POST' && stripped.target === REPORTS_PATH) return reports.answer(request);
      const asset = assets.answer(stripped.target, basePath, asked.header('accept-encoding'), asked.method);
      // Respond to a missing asset here, because the site's 404 page and rules could reveal content.
      return asset ?? noticeResponse(asked, { ...NOTHING_HERE, form: 'line' });
    }
    const refused = await admit({ signIn, onFault }, request, env, stripped.target);
    return asPrivate(refused ?? (await answer(request, env)), signIn);
  };
}

/** Returns the response for a reader without access. Null if the reader may read the site. An error denies access. */
export async function admit(
  { signIn, onFault }: Pick<Guard, 'signIn' | 'onFault'>,
  { signal }: Request,
  env: HttpBindings,
  target: string,
  begins = true,
): Promise<Response | null> {
  try {
    return await signIn.admit(env.incoming, target, begins, signal);
  } catch (error) {
    if (!signal.aborted) onFault(error, requestIdOf(env));
    return ownPage(env.incoming, { status: 503, words: 'noSignIn', headers: { 'Retry-After': '5' } });
  }
}

/** Keeps the response from shared caches (RFC 9111, section 5.2.2.7) and from other origins. */
export function asPrivate(answer: Response, { vary }: Pick<SignIn, 'vary'>): Response {
  const { headers } = answer;
  headers.set('Cache-Control', privateControl(headers.get('Cache-Control')));
  const former = headers.get('Vary');
  headers.set('Vary', former === null ? vary : `${former}, ${vary}`);
  headers.delete('Access-Control-Allow-Origin');
  return answer;
}

/** Returns a function that applies `asPrivate` to prepared responses, and caches the changed headers. */
export function privateAnswers(signIn: SignIn): (answer: FastAnswer) => FastAnswer {
  const made = new WeakMap<readonly string[], readonly string[]>();
  return ({ status, headers, body }) => {
    const own = made.get(headers) ?? flatOf(asPrivate(new Response(null, { headers: toHeaders(headers) }), signIn));
    made.set(headers, own);
    return { status, headers: own, body };
  };
}

const flatOf = ({ headers }: Response): readonly string[] => [...headers].flat();

function privateControl(control: string | null): string {
  if (control === null) return 'private, no-cache';
  const words = control.split(',').map((word) => word.trim());
  if (words.includes('no-store')) return control;
  return ['private', ...words.filter((word) => !/^(?:public|private|s-maxage=.*)$/i.test(word))].join(', ');
}
