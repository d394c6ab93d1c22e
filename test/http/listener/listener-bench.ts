import { afterEach } from 'vitest';
import { type Listener, type ListenerOptions, openListener } from '../../../src/http/listener/listener.ts';
import { RawConnection } from './raw-connection.ts';

/** Listeners of a site and raw connections, closed after each test. @param defaults options of all listeners */
export function listenerBench(defaults: Partial<ListenerOptions> = {}) {
  const opened: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of opened.splice(0).reverse()) await close();
  });
  const onEnd = (close: () => unknown): void => {
    opened.push(close);
  };
  return {
    onEnd,
    open: async (options: Partial<ListenerOptions> = {}): Promise<Listener> => {
      const fetch = () => new Response('hello');
      const place = 'socket' in options ? {} : { host: '127.0.0.1', port: 0 };
      const own = { name: 'site', ...place, fetch };
      const listener = await openListener({ ...own, ...defaults, ...options } as ListenerOptions);
      onEnd(() => listener.stop(0));
      return listener;
    },
    connectTo: async ({ port }: Pick<Listener, 'port'>): Promise<RawConnection> => {
      const connection = await RawConnection.open(port);
      onEnd(() => connection.socket.destroy());
      return connection;
    },
  };
}
