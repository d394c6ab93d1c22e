import { compareSync } from 'bcryptjs';
import { serve } from '../../threads/index.ts';

const handlers = {
  /** True where the first bcrypt hash is of that password; the others are compared for the time that it takes. */
  compare: ({ password, hashes }: { readonly password: string; readonly hashes: readonly string[] }): boolean =>
    hashes.findIndex((hash) => compareSync(password, hash)) === 0,
};
export type PasswordCalls = typeof handlers;

serve(handlers);
