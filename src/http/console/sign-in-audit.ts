import type { HttpBindings } from '@hono/node-server';
import type { DocshelfError } from '../../domain/errors.ts';
import { counted } from '../../domain/text.ts';
import { type AuditTrail, actorOf } from '../audit/audit.ts';
import { ClientRates } from '../limits/client-rates.ts';
import type { ConsoleSession } from './sessions.ts';

/** Maximum rate of audit lines for failed sign-ins: 1,440 a day for all clients. The audit files then have room for two months. */
const FAILED_RATE = { burst: 20, perSecond: 1 / 60 };
const ALL = 'all clients';

type Env = Partial<HttpBindings> | undefined;

export class SignInAudit {
  readonly #trail: Pick<AuditTrail, 'record'>;
  readonly #failures = new ClientRates({ policy: FAILED_RATE });
  #unreported = 0;

  constructor(trail: Pick<AuditTrail, 'record'>) {
    this.#trail = trail;
  }

  opened(env: Env, session: ConsoleSession | null): Promise<void> {
    return this.#record(env, 'sign-in', session);
  }

  ended(env: Env, session: ConsoleSession): Promise<void> {
    return this.#record(env, 'sign-out', session);
  }

  async failed(env: Env, { code, message }: DocshelfError): Promise<void> {
    try {
      this.#failures.take(ALL);
    } catch {
      this.#unreported += 1;
      return;
    }
    const more =
      this.#unreported === 0
        ? ''
        : ` (${counted(this.#unreported, 'other attempt', 'other attempts')} failed since the previous line)`;
    this.#unreported = 0;
    await this.#record(env, 'sign-in', null, { result: code, error: message + more });
  }

  #record(
    env: Env,
    action: string,
    session: ConsoleSession | null,
    outcome: { readonly result?: string; readonly error?: string } = {},
  ): Promise<void> {
    const actor = actorOf('session', env, session?.name ?? null);
    return this.#trail.record(
      actor,
      action,
      {},
      () => Promise.resolve(),
      () => outcome,
    );
  }
}
