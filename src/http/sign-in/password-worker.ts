import { compareSync } from 'bcryptjs';
import { serve } from '../../threads/index.ts';

const handlers = {
  /** True if the password matches the first bcrypt hash. The other hashes only make all checks take the same time. */
  compare: ({ password, hashes }: { readonly password: string; readonly hashes: readonly string[] }): boolean =>
    hashes.findIndex((hash) => compareSync(password, hash)) === 0,
};
export type PasswordCalls = typeof handlers;

serve(handlers);
