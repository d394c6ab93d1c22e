import { noticePage } from '../../../serve/index.ts';

/** @param elsewhere origin of the provider, where the form's answer leads; null: nowhere */
export function signOutPage(method: string, elsewhere: string | null): Response {
  return noticePage(method, {
    status: 200,
    title: 'Sign out?',
    text: 'You will be asked to sign in again when you next open this documentation.',
    headers: { 'Cache-Control': 'no-store' },
    button: { label: 'Sign out', formAction: ["'self'", ...(elsewhere === null ? [] : [elsewhere])].join(' ') },
  });
}
