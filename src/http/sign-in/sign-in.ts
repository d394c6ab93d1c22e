import type { IncomingMessage } from 'node:http';

/** A way in which readers sign in (contract, section 9.7). */
export interface SignIn {
  /** The fields of a request that decide, as `Vary` names them. */
  readonly vary: string;
  /**
   * Null where the reader may read; else the answer, which shows nothing of the site, or a page of the sign-in itself.
   * @param target below the base path
   */
  admit(incoming: IncomingMessage, target: string): Response | null | Promise<Response | null>;
}

/** What a sign-in tells of those it turns away. */
export interface SignInEvents {
  /** A wrong password or token; once for each request. */
  onWrong(): void;
  /** A sign-in that a provider began and did not end well. */
  onRefused(error: unknown): void;
}
