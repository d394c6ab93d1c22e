import { compareSync } from 'bcryptjs';
import { serve } from '../../../threads/index.ts';

const handlers = {
  /** True where the bcrypt hash is of that password. */
  compare: ({ password, hash }: { readonly password: string; readonly hash: string }): boolean =>
    compareSync(password, hash),
};
export type PasswordCalls = typeof handlers;

serve(handlers);
