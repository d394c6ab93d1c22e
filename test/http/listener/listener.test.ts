import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { ListenerOptions } from '../../../src/http/listener/listener.ts';
import { siteRequest } from '../../../src/http/listener/request.ts';
import type { ServedRequest } from '../../../src/http/listener/served-request.ts';
import { listenerBench } from './listener-bench.ts';
import { RawConnection } from './raw-connection.ts';

const { open, connectTo } = listenerBench();

const gate = () => Promise.withResolvers<void>();
const GET = 'GET /a?token=canary HTTP/1.1\r\nHost: x\r\n\r\n';

describe('listener from openListener()', () => {
  it('responds with a request id in every response', async () => {
    const { url } = await open();
    const kept = await fetch(url, { headers: { 'X-Request-Id': 'trace-1' } });
    expect(await kept.text()).toBe('hello');
    expect(kept.headers.get('x-request-id')).toBe('trace-1');
    const replaced = await fetch(url, { headers: { 'X-Request-Id': 'not one token' } });
    expect(replaced.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('uses the host of an absolute request target instead of the Host header', async () => {
    const fetch: ListenerOptions['fetch'] = (request, env) =>
      new Response(`${new URL(request.url).host} ${env.incoming.headers.host} ${siteRequest(request, env).target}`);
    const client = await connectTo(await open({ fetch }));
    client.write('GET HTTP://Docs.Acme.Dev:8080?q HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(await client.until(/\r\n\r\n.+$/s)).toContain('docs.acme.dev:8080 Docs.Acme.Dev:8080 /?q');
  });

  it('calls onFault for an uncaught error, with the request id of the response', async () => {
    const reported: unknown[] = [];
    const onFault: ListenerOptions['onFault'] = ({ code }, requestId) => reported.push([code, requestId]);
    const { url } = await open({ fetch: () => Promise.reject(new Error('secret')), onFault });
    const answer = await fetch(url, { headers: { 'X-Request-Id': 'trace-1' } });
    expect(await answer.json()).toMatchObject({ status: 500, code: 'internal', requestId: 'trace-1' });
    expect(reported).toEqual([['internal', 'trace-1']]);
  });

  it('fails to open if the port is in use, with an error that names the config key of the port', async () => {
    const { port } = await open();
    await expect(open({ port, name: 'admin' })).rejects.toMatchObject({
      code: 'port_taken',
      fields: { port },
      next: expect.stringContaining('admin.port'),
    });
  });

  it.each(['192.0.2.1', 'no-such-host.invalid'])('fails to open with cannot_listen on the host %s', async (host) => {
    await expect(open({ host })).rejects.toMatchObject({ code: 'cannot_listen' });
  });

  it('has a URL that accepts requests, even if the listener listens on 0.0.0.0', async () => {
    const { url, port } = await open({ host: '0.0.0.0' });
    expect(url).toBe(`http://127.0.0.1:${port}`);
    expect((await fetch(url)).status).toBe(200);
  });

  it('keeps a connection open for the next request', async () => {
    const connection = await connectTo(await open());
    connection.write(GET);
    await connection.until(/hello$/);
    connection.write(GET);
    expect(await connection.until(/hello.*hello$/s)).toMatch(/Keep-Alive: timeout=75/);
  });

  it('aborts the signal of a request when its client disconnects', async () => {
    const [arrived, left] = [gate(), gate()];
    const connection = await connectTo(
      await open({
        fetch: async (raw, env) => {
          using client = siteRequest(raw, env).client?.();
          client?.signal.addEventListener('abort', () => left.resolve());
          arrived.resolve();
          await left.promise;
          return new Response('late');
        },
      }),
    );
    connection.write(GET);
    await arrived.promise;
    connection.socket.destroy();
    await left.promise;
  });

  it('responds to a client that half-closes its connection after its request', async () => {
    const [arrived, ended] = [gate(), gate()];
    const connection = await connectTo(
      await open({
        fetch: async (raw, env) => {
          using client = siteRequest(raw, env).client?.();
          env.incoming.socket.once('end', () => ended.resolve());
          arrived.resolve();
          await ended.promise;
          return new Response(client?.signal.aborted === false ? 'hello' : 'left');
        },
      }),
    );
    connection.write(GET);
    await arrived.promise;
    connection.socket.end();
    expect(await connection.untilClosed()).toMatch(/hello$/);
  });

  it('passes the path of each request without the query to onRequest', async () => {
    const served: ServedRequest[] = [];
    const connection = await connectTo(await open({ onRequest: (each) => served.push(each) }));
    connection.write(
      GET.replace(
        'Host: x',
        'Host: x\r\nX-Request-Id: r-1\r\nX-Forwarded-For: 203.0.113.9\r\nUser-Agent: curl/8\r\nReferer: /x',
      ),
    );
    const first = (await connection.until(/hello$/)).length;
    connection.write('HEAD /b HTTP/1.1\r\nHost: x\r\n\r\n');
    await expect.poll(() => served.length).toBe(2);
    expect(served[0]).toMatchObject({
      listener: 'site',
      method: 'GET',
      path: '/a',
      status: 200,
      bytes: first,
      requestId: 'r-1',
      peer: '127.0.0.1',
      forwardedFor: '203.0.113.9',
      userAgent: 'curl/8',
      referrer: '/x',
    });
    await expect.poll(() => connection.received.length - first).toBe(served[1]?.bytes);
    expect(served[1]).toMatchObject({ method: 'HEAD', path: '/b' });
    expect(JSON.stringify(served)).not.toContain('canary');
  });

  it('passes status 499 to onRequest if the client disconnected before the response', async () => {
    const served: ServedRequest[] = [];
    const arrived = gate();
    const listener = await open({
      name: 'api',
      onRequest: (each) => served.push(each),
      fetch: (request) => {
        arrived.resolve();
        return new Promise((_, reject) => request.signal.addEventListener('abort', () => reject(new Error('gone'))));
      },
    });
    const connection = await connectTo(listener);
    connection.write(GET);
    await arrived.promise;
    connection.socket.destroy();
    await expect.poll(() => served.map((each) => each.status)).toEqual([499]);
  });

  it('calls onRequest once for a request whose client disconnects while the body is unread', async () => {
    const served: ServedRequest[] = [];
    const listener = await open({ onRequest: (each) => served.push(each) });
    const connection = await connectTo(listener);
    connection.write('PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nsome');
    await connection.until(/hello$/);
    connection.socket.end();
    await connection.untilClosed();
    await listener.stop(1_000);
    expect(served.map((each) => each.status)).toEqual([200]);
  });
});

describe('stop() of a listener', () => {
  it('closes idle connections, whether or not they have sent a request before', async () => {
    const listener = await open();
    const [used, fresh] = [await connectTo(listener), await connectTo(listener)];
    used.write(GET);
    await used.until(/hello$/);
    await listener.stop(60_000);
    await used.untilClosed();
    expect(await fresh.untilClosed()).toBe('');
  });

  it('responds to a request that arrives on an idle connection, and then closes the connection', async () => {
    const listener = await open();
    const connection = await connectTo(listener);
    connection.write(GET);
    await connection.until(/hello$/);
    const stopped = listener.stop(60_000);
    connection.write(GET);
    expect(await connection.untilClosed()).toMatch(/hello.*Connection: close.*hello$/is);
    await stopped;
  });

  it('finishes a pending request with Connection: close, and accepts no new connection', async () => {
    const [arrived, answer] = [gate(), gate()];
    const listener = await open({
      fetch: async () => {
        arrived.resolve();
        await answer.promise;
        return new Response('late');
      },
    });
    const connection = await connectTo(listener);
    connection.write(GET);
    await arrived.promise;
    const stopped = listener.stop(60_000);
    await expect(RawConnection.open(listener.port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    answer.resolve();
    expect(await connection.untilClosed()).toMatch(/Connection: close.*late$/is);
    await stopped;
  });

  it('finishes a response that has begun, then closes the connection of this response', async () => {
    let finish: () => void = () => undefined;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(Buffer.from('begun '));
        finish = () => {
          controller.enqueue(Buffer.from('done'));
          controller.close();
        };
      },
    });
    const listener = await open({ fetch: () => new Response(body) });
    const connection = await connectTo(listener);
    connection.write(GET);
    await connection.until(/begun/);
    const stopped = listener.stop(60_000);
    finish();
    expect(await connection.untilClosed()).toMatch(/begun.*done/s);
    await stopped;
  });

  it('closes remaining connections after the deadline', async () => {
    const begun = Promise.withResolvers<void>();
    const fetch = () => {
      begun.resolve();
      return new Promise<Response>(() => undefined);
    };
    const listener = await open({ fetch });
    const connection = await connectTo(listener);
    connection.write(GET);
    await begun.promise;
    await listener.stop(100);
    expect(await connection.untilClosed()).toBe('');
  });

  it('can be called twice', async () => {
    const listener = await open();
    await Promise.all([listener.stop(1_000), listener.stop(1_000)]);
    // Listen on the port of the stopped listener, which must be free again.
    const server = createServer().listen(listener.port, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    server.close();
  });
});
