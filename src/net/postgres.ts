import { Socket, type SocketConnectOpts } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { Client, Pool } from 'pg';
import type { DatabaseAddress } from '../domain/database-address.ts';
import { urlHost } from '../domain/egress.ts';
import { authoritiesOf } from './certificates.ts';
import type { EgressPolicy } from './egress.ts';

/** Maximum connections of one replica. Low, because PostgreSQL allows 100 connections of all clients by default. */
const CONNECTIONS_MAX = 5;
const IDLE_MS = 30_000;
/** Maximum time for a response. docshelf's statements take milliseconds, so a server that needs longer is unavailable. */
const ANSWER_MS_MAX = 15_000;

/** Calls `address` for each connection, because the password can change. @param caSetting setting to name in errors */
export function openPostgresPool(policy: EgressPolicy, address: () => DatabaseAddress, caSetting: string): Pool {
  class GuardedClient extends Client {
    constructor() {
      const { tls, password, ...place } = address();
      super({
        ...place,
        // Set an empty password, so that the driver does not search for a password file in the home folder.
        password: password ?? '',
        ssl: tls === 'off' ? false : tlsOf(tls, policy, caSetting),
        stream: () => new GuardedSocket(policy),
        application_name: 'docshelf',
        keepAlive: true,
        connectionTimeoutMillis: policy.rules.connectTimeoutMs,
        query_timeout: ANSWER_MS_MAX,
      });
    }
  }
  const pool = new Pool({
    Client: GuardedClient,
    max: CONNECTIONS_MAX,
    idleTimeoutMillis: IDLE_MS,
    allowExitOnIdle: true,
    connectionTimeoutMillis: policy.rules.connectTimeoutMs,
  });
  // Ignore errors of idle connections, because the next query opens a new connection.
  pool.on('error', () => undefined);
  return pool;
}

function tlsOf(tls: DatabaseAddress['tls'], { rules }: EgressPolicy, caSetting: string): ConnectionOptions {
  if (tls === 'encrypted') return { rejectUnauthorized: false };
  return {
    ...authoritiesOf(rules.caFile, caSetting),
    ...(tls === 'chain' ? { checkServerIdentity: () => undefined } : {}),
  };
}

/** Checks the host name before the socket resolves it, and each resolved address before the socket connects. */
class GuardedSocket extends Socket {
  readonly #policy: EgressPolicy;

  constructor(policy: EgressPolicy) {
    super();
    this.#policy = policy;
  }

  override connect(...[at, host]: readonly unknown[]): this {
    if (typeof at === 'string') return super.connect(at);
    const [hostname, port] = [urlHost(String(host)), Number(at)];
    const refusal = this.#policy.refusalOf({ hostname, port: String(port), protocol: 'postgres:' });
    if (refusal !== null) {
      process.nextTick(() => this.destroy(refusal));
      return this;
    }
    const options: SocketConnectOpts = { host: String(host), port, lookup: this.#policy.lookupFor(hostname, port) };
    return super.connect(options);
  }
}
