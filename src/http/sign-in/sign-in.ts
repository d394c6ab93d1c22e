import type { IncomingMessage } from 'node:http';

/** A way in which readers sign in (contract, section 9.7). */
export interface SignIn {
  /** The fields of a request that decide, as `Vary` names them. */
  readonly vary: string;
  /** Null where the reader may read; else the answer, which shows nothing of the site. */
  admit(incoming: IncomingMessage): Response | null | Promise<Response | null>;
}

/** What a sign-in tells of those it turns away. */
export interface SignInEvents {
  /** A wrong password; once for each request. */
  onWrong(): void;
}
