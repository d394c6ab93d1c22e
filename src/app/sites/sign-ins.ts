import type { IncomingMessage } from 'node:http';
import type { Config } from '../../config/index.ts';
import { ClientRates } from '../../http/limits/client-rates.ts';
import { remoteAddressBehind } from '../../http/listener/remote-address.ts';
import { BasicPasswords } from '../../http/sign-in/basic-passwords.ts';
import { PasswordCheck } from '../../http/sign-in/passwords/password-check.ts';
import type { SignIn, SignInEvents } from '../../http/sign-in/sign-in.ts';
import { TrustedHeader } from '../../http/sign-in/trusted-header.ts';

/** Mistyped ones are few; who guesses gets one answer in ten seconds. */
const WRONG_RATE = { burst: 20, perSecond: 0.1 };

/** What the sign-ins of all sites of a daemon share: who is known, and who has guessed. */
export class SignIns {
  readonly #passwords = new PasswordCheck();
  readonly #rates = new ClientRates({ policy: WRONG_RATE, act: 'sign in', cause: 'wrong passwords' });

  /** Null where everybody may read. That each kind has what it needs is a rule of the config. */
  open({ server: { auth, trustedProxies } }: Config, events: SignInEvents): SignIn | null {
    switch (auth.kind) {
      case 'none':
        return null;
      case 'basic':
        return new BasicPasswords({
          ...events,
          users: auth.usersFile?.text.reveal() ?? '',
          passwords: this.#passwords,
          rates: this.#rates,
          clientOf: clientBehind(trustedProxies),
        });
      case 'header':
        return new TrustedHeader({ name: auth.name ?? '', trustedProxies });
    }
  }

  async end(): Promise<void> {
    await this.#passwords.end();
  }
}

/** Equal for configs whose readers sign in at the same place. */
export function signInKey({ server: { auth } }: Config): string {
  return JSON.stringify([auth, auth.usersFile?.text.reveal() ?? '']);
}

function clientBehind(trustedProxies: readonly string[]): (incoming: IncomingMessage) => string {
  const remoteAddress = remoteAddressBehind(trustedProxies);
  return ({ socket, headers }) => {
    const forwardedFor = headers['x-forwarded-for'];
    const hops = Array.isArray(forwardedFor) ? forwardedFor.join(', ') : forwardedFor;
    return remoteAddress(socket.remoteAddress ?? '', hops);
  };
}
