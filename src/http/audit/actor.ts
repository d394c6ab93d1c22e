import type { HttpBindings } from '@hono/node-server';
import { requestIdOf } from '../listener/request.ts';

export const ACTOR_KINDS = ['token', 'session', 'socket', 'key'] as const;

/** Who acts: with the admin token, in a session of the console, through the daemon's socket, or with an API key. */
export interface Actor {
  readonly by: (typeof ACTOR_KINDS)[number];
  /** Of the session or key; null for the others. Never a credential. */
  readonly id: string | null;
  /** Address of the other end; null through a socket. */
  readonly client: string | null;
  readonly requestId: string | null;
}

export function actorOf(by: Actor['by'], env: Partial<HttpBindings> | undefined, id: string | null = null): Actor {
  const client = by === 'socket' ? null : (env?.incoming?.socket.remoteAddress ?? null);
  return { by, id, client, requestId: requestIdOf(env) };
}
