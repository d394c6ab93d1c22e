import { siteAddress } from '../addresses.ts';
import type { ActionMessage } from '../session/messages.ts';
import { backTo, type Called, call, fieldOf, parameterOf, type SignedVisit } from '../visit.ts';

/** Each makes one call of the admin listener, and leads back to its site. */

export function activate(visit: SignedVisit): Promise<Response> {
  const version = fieldOf(visit, 'version');
  const made = call(visit, 'activate', { domain: domainOf(visit), parameters: { version } });
  return tell(visit, made, () => `Version ${version} is active`, `Version ${version} was not activated`);
}

export function rollback(visit: SignedVisit): Promise<Response> {
  const made = call(visit, 'rollback', { domain: domainOf(visit) });
  return tell(visit, made, (value) => `Rolled back: version ${value.version} is active`, 'It was not rolled back');
}

export function remove(visit: SignedVisit): Promise<Response> {
  const version = fieldOf(visit, 'version');
  const made = call(visit, 'remove', { domain: domainOf(visit), parameters: { version } });
  return tell(visit, made, () => `Version ${version} is removed`, `Version ${version} was not removed`);
}

export async function preview(visit: SignedVisit): Promise<Response> {
  const version = fieldOf(visit, 'version');
  const made = await call(visit, 'preview', { domain: domainOf(visit), parameters: { version } });
  if (made.problem !== null)
    return answer(visit, { text: `There is no preview of version ${version}`, problem: made.problem });
  const { link } = made.value as { readonly link: string };
  const text = `Whoever has this link reads version ${version} for a day`;
  return answer(visit, { text, problem: null, link });
}

async function tell(
  visit: SignedVisit,
  made: Promise<Called>,
  done: (value: { readonly version: string }) => string,
  failed: string,
): Promise<Response> {
  const { problem, ...called } = await made;
  if (problem !== null) return answer(visit, { text: failed, problem });
  const { value } = called as { readonly value: { readonly version: string } };
  return answer(visit, { text: done(value), problem: null });
}

function answer(visit: SignedVisit, message: ActionMessage): Response {
  return backTo(visit, siteAddress(domainOf(visit)), message);
}

function domainOf(visit: SignedVisit): string {
  return parameterOf(visit, 'domain');
}
