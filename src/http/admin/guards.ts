import { isIP } from 'node:net';
import { hostname } from 'node:os';
import type { Context } from 'hono';
import { bareHost } from '../../domain/egress.ts';
import { DocshelfError } from '../../domain/errors.ts';
import type { Secret } from '../../domain/secret.ts';
import { bearerToken, requireToken } from '../bearer.ts';
import { GuessRates } from '../limits/client-rates.ts';
import type { AdminEndpoint, AdminEnv } from './actions.ts';

/** Paths that accept any host name, because orchestrators probe them under various names. Their responses contain no secrets. */
const HEALTH: ReadonlySet<string> = new Set(['/livez', '/readyz']);

/** Prevents DNS rebinding, where a foreign host name resolves to this machine. @param hosts additional names; `*` allows all */
export function requireOwnName(url: string, hosts: readonly string[]): void {
  const asked = new URL(url);
  if (HEALTH.has(asked.pathname)) return;
  const name = bareHost(asked.hostname).replace(/\.$/, '');
  const own = ['localhost', hostname(), ...hosts].map((each) => each.toLowerCase());
  if (isIP(name) !== 0 || own.includes(name) || own.includes('*')) return;
  throw new DocshelfError('misdirected', `Cannot serve "${name}": admin.hosts does not contain this host name`, {
    next: 'Use an IP address or localhost, or add the name to admin.hosts.',
  });
}

interface TokenGuardOptions {
  readonly token: () => Secret | null;
  readonly onWrong: () => void;
}

const HELP = 'The correct admin.token is accepted immediately, also after wrong tokens from this address.';

/** Counts wrong tokens per client. After many, delays the responses to further wrong tokens, but never to a right token. */
export class TokenGuard {
  readonly #options: TokenGuardOptions;
  readonly #rates = new GuessRates({ act: 'sign in', cause: 'wrong tokens', help: HELP });

  constructor(options: TokenGuardOptions) {
    this.#options = options;
  }

  async admit(authorization: string | undefined, client: string): Promise<void> {
    const token = this.#options.token();
    try {
      requireToken(token, authorization);
    } catch (error) {
      if (bearerToken(authorization) === null || token === null) throw error;
      this.#options.onWrong();
      await this.#rates.takeLate(client);
      throw error;
    }
  }
}

/** Rejects a command if the data folder was renamed, because the socket moves with the folder and still accepts commands. */
export async function requireFolder(named: string | undefined, folder: () => Promise<string | null>): Promise<void> {
  if (named === undefined || named === (await folder())) return;
  const state = `Cannot run the command: the data folder of the daemon ${process.pid} was renamed or replaced`;
  throw new DocshelfError('daemon_unreachable', state, { next: 'Restart the daemon, then run the command again.' });
}

/** Checks the admin token before the body is read, so that docshelf reads no byte of a rejected upload. */
export function requireAdmin(endpoint: AdminEndpoint, guard: TokenGuard) {
  return async (c: Context<AdminEnv>, next: () => Promise<void>): Promise<void> => {
    const client = c.env?.incoming?.socket.remoteAddress ?? '';
    if (endpoint === 'token') await guard.admit(c.req.header('authorization'), client);
    await next();
  };
}
