import { compareSync } from 'bcryptjs';
import { serve } from '../../threads/index.ts';

const handlers = {
  /** True if the first bcrypt hash matches. The others are compared only to take the same time. */
  compare: ({ password, hashes }: { readonly password: string; readonly hashes: readonly string[] }): boolean =>
    hashes.findIndex((hash) => compareSync(password, hash)) === 0,
};
export type PasswordCalls = typeof handlers;

serve(handlers);
