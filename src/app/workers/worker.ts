import { DocshelfError, toDocshelfError } from '../../domain/errors.ts';
import { Secret } from '../../domain/secret.ts';
import { counted } from '../../domain/text.ts';
import { accessLog } from '../../http/listener/access-log.ts';
import { type Listener, openListener } from '../../http/listener/listener.ts';
import type { TlsSettings } from '../../http/tls/served-certificates.ts';
import { DaemonLine } from '../../net/daemon-request.ts';
import { BodyCache } from '../../serve/index.ts';
import { serve } from '../../threads/index.ts';
import { lineMaker } from '../log/log-line.ts';
import { handOn } from './hand-on.ts';
import type { DaemonCalls, ListenOrder, OpenedPort, StampedOrder, TlsOrder, UseOrder } from './orders.ts';
import { Reports } from './reports.ts';
import { ServedSites } from './served-sites.ts';

/** A process that serves readers for the daemon: files it answers itself, all else it hands on. */

export interface StartOrder {
  readonly cacheBytes: number;
  readonly trustedProxies: readonly string[];
  /** Where the daemon answers what is handed on. */
  readonly socket: string;
}

interface Parts {
  readonly bodies: BodyCache;
  readonly trustedProxies: readonly string[];
  readonly sites: ServedSites;
  readonly line: DaemonLine;
}

const parts = Promise.withResolvers<Parts>();
const listening = Promise.withResolvers<Listener>();

const handlers = {
  start: ({ cacheBytes, trustedProxies, socket }: StartOrder): number => {
    const line = new DaemonLine(socket);
    const bodies = new BodyCache(cacheBytes);
    const sites = new ServedSites({
      bodies,
      handOn: (env) => handOn(line, env),
      onCache: (key, isHit) => reports.cache(key, isHit),
      onFault: (key, error, requestId) => tellFault('serve', error, key, requestId),
    });
    parts.resolve({ bodies, sites, line, trustedProxies });
    return process.pid;
  },
  prepare: async (order: StampedOrder) => (await parts.promise).sites.prepare(order),
  use: async (order: UseOrder) => {
    await (await parts.promise).sites.use(order);
    if (order.tls !== null) (await listening.promise).useTls(tlsOf(order.tls));
  },
  open: async ({ host, port, tls, stopMs }: ListenOrder): Promise<OpenedPort> => {
    const { sites, trustedProxies } = await parts.promise;
    const lineOf = lineMaker();
    const logLine = (fields: () => string): void => {
      const atMs = Date.now();
      reports.line(() => lineOf(fields(), atMs));
    };
    const log = accessLog({ trustedProxies, write: logLine });
    const listener = await openListener({
      name: 'site',
      host,
      port,
      plain: (incoming) => sites.plain(incoming),
      fetch: (request, env) => sites.answer(request, env),
      onRequest: (served) => {
        if (sites.isLogged) log(served);
        reports.served(served);
      },
      onFault: (error) => tellFault('listen', error),
      tls: tls === null ? undefined : tlsOf(tls),
    });
    listening.resolve(listener);
    // Of an operator; where the daemon has got one too, it answers at once.
    process.once('SIGTERM', () => void main.call('leave', null).then(() => handlers.stop(stopMs).then(leave)));
    return { url: listener.url, port: listener.port, address: listener.address };
  },
  forgetMade: async () => (await parts.promise).bodies.forgetMade(),
  flush: () => reports.flush(),
  ping: () => undefined,
  /** Of two that ask for it the first one's deadline holds. */
  stop: async (deadlineMs: number): Promise<void> => {
    await (await listening.promise).stop(deadlineMs);
    (await parts.promise).line.close();
    await reports.flush();
  },
};
export type ServingCalls = typeof handlers;

const main = serve<{ readonly [Name in keyof DaemonCalls]: DaemonCalls[Name] }>(handlers, { isForReaders: true });
const reports = new Reports(
  (report) => main.call('report', report),
  (lines) =>
    tellFault('log', new DocshelfError('busy', `Cannot log ${counted(lines, 'request')}: the daemon took no lines`)),
);

const leave = (): void => process.exit();

function tellFault(step: string, error: unknown, key: string | null = null, requestId: string | null = null): void {
  const told = { key, step, error: toDocshelfError(error).toPlain(), requestId };
  void main.call('fault', told).catch(() => undefined);
}

function tlsOf({ pairs, ticketKeys, ...rest }: TlsOrder): TlsSettings {
  const read = pairs.map(({ chain, key }) => ({ chain, key: new Secret(key) }));
  return { ...rest, pairs: read, ticketKeys: Buffer.from(ticketKeys, 'base64') };
}
