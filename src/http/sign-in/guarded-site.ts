import type { HttpBindings } from '@hono/node-server';
import { stripBase } from '../../web/mount/base-path.ts';
import { requestIdOf } from '../listener/request-id.ts';
import { outsideAnswer } from '../site/site.ts';
import { refusal } from './refusals.ts';
import type { SignIn } from './sign-in.ts';

type AnswerSite = (request: Request, env: HttpBindings) => Response | Promise<Response>;

interface Guard {
  readonly signIn: SignIn;
  /** With its last slash. */
  readonly basePath: string;
  readonly onFault: (error: unknown, requestId: string | null) => void;
}

/**
 * What everybody may ask for: files of docshelf's own pages, and reports of browsers. The raw target, letter by letter: any other
 * way of writing it needs a sign-in.
 */
const FREE = /^\/_docshelf\/(?:assets\/[A-Za-z0-9][A-Za-z0-9._-]*|csp-report)$/;

/** @param target below the base path */
export const isFree = (target: string): boolean => FREE.test(target);

/** A site whose every address below its base path needs the sign-in, before any route is looked at: a later one is covered. */
export function guarded({ signIn, basePath, onFault }: Guard, answer: AnswerSite): AnswerSite {
  return async (request, env) => {
    const { incoming } = env;
    const stripped = stripBase(incoming.url ?? '/', basePath);
    if (stripped.kind !== 'inside') return outsideAnswer(request.method, stripped);
    if (isFree(stripped.target)) return answer(request, env);
    const refused = await admit(signIn, env, stripped.target, onFault);
    return asPrivate(refused ?? (await answer(request, env)), signIn);
  };
}

/** Null where the reader may read on. A fault lets nobody in. */
export async function admit(
  signIn: SignIn,
  env: HttpBindings,
  target: string,
  onFault: Guard['onFault'],
): Promise<Response | null> {
  try {
    return await signIn.admit(env.incoming, target);
  } catch (error) {
    onFault(error, requestIdOf(env));
    return refusal(env.incoming, {
      status: 503,
      title: 'Signing in does not work at the moment',
      text: 'Try again shortly.',
      headers: { 'Retry-After': '5' },
    });
  }
}

/** No cache gives it to another reader (RFC 9111, section 5.2.2.7), and no other origin reads it. */
export function asPrivate(answer: Response, { vary }: SignIn): Response {
  const { headers } = answer;
  headers.set('Cache-Control', privateControl(headers.get('Cache-Control')));
  const former = headers.get('Vary');
  headers.set('Vary', former === null ? vary : `${former}, ${vary}`);
  headers.delete('Access-Control-Allow-Origin');
  return answer;
}

function privateControl(control: string | null): string {
  if (control === null) return 'private, no-cache';
  const words = control.split(',').map((word) => word.trim());
  if (words.includes('no-store')) return control;
  return ['private', ...words.filter((word) => !/^(?:public|private|s-maxage=.*)$/i.test(word))].join(', ');
}
