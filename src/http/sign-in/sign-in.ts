import type { IncomingMessage } from 'node:http';
import type { DocshelfError } from '../../domain/errors.ts';

/** A way in which readers sign in (contract, section 9.7). */
export interface SignIn {
  /** The fields of a request that decide, as `Vary` names them. */
  readonly vary: string;
  /**
   * Null where the reader may read; else the answer, which shows nothing of the site, or a page of the sign-in itself.
   * @param target below the base path
   * @param begins false: no sign-in is begun, since there is something to see without
   */
  admit(incoming: IncomingMessage, target: string, begins?: boolean): Response | null | Promise<Response | null>;
  /** True if `admit` would let the reader of a GET read, as far as that is known without waiting. */
  knows(incoming: IncomingMessage): boolean;
  /** True of the addresses that the sign-in answers itself. */
  isOwn?(target: string): boolean;
}

/** Where a provider leads back to, and where readers sign out; below the base path, without the first slash. */
export const CALLBACK = '_docshelf/sign-in/callback';
export const SIGN_OUT = '_docshelf/sign-out';

/** @param target below the base path */
export function isSignInAddress(target: string): boolean {
  const [path = ''] = target.slice(1).split('?', 1);
  return path === CALLBACK || path === SIGN_OUT;
}

/** What a sign-in tells of those it turns away. */
export interface SignInEvents {
  /** A wrong password or token; once for each request. */
  onWrong(): void;
  /** A sign-in that a provider began and did not end well. */
  onRefused(error: DocshelfError): void;
}
