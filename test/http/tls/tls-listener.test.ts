import { once } from 'node:events';
import { constants } from 'node:http2';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import type { ServedRequest } from '../../../src/http/listener/served-request.ts';
import type { KeyPair, TlsSettings } from '../../../src/http/tls/tls-port.ts';
import { makeCertificate } from '../../helpers/certificates.ts';
import { listenerBench } from '../listener/listener-bench.ts';
import { RawConnection } from '../listener/raw-connection.ts';
import { openHttp2, requestHttp1, requestHttp2, shakeHands } from './tls-client.ts';

function pairFor(...names: string[]): KeyPair {
  const { cert, key } = makeCertificate({ names });
  return { chain: cert, key: new Secret(key) };
}

const FIRST = pairFor('first.test', '127.0.0.1');
const SECOND = pairFor('second.test', '*.wild.test');
const tlsOf = (...pairs: KeyPair[]): TlsSettings => ({ pairs, http2: true, hstsMs: null });

const { open, onEnd } = listenerBench({
  fetch: (request) => new Response(`hello ${new URL(request.url).host}`),
  tls: tlsOf(FIRST),
});

function session(port: number, options = {}) {
  const made = openHttp2(port, options);
  onEnd(() => made.destroy());
  return made;
}

async function nameOf(port: number, servername?: string): Promise<string> {
  const socket = await shakeHands(port, servername === undefined ? {} : { servername });
  const { subject } = socket.getPeerCertificate();
  socket.destroy();
  return String(subject.CN);
}

describe('TLS session tickets', () => {
  const isResumed = async (port: number, session: Buffer, options: object): Promise<boolean> => {
    const socket = await shakeHands(port, { session, ...options });
    const isReused = socket.isSessionReused();
    socket.destroy();
    return isReused;
  };

  it.each([
    { maxVersion: 'TLSv1.2' },
    { minVersion: 'TLSv1.3' },
    { maxVersion: 'TLSv1.2', servername: 'second.test' },
    { minVersion: 'TLSv1.3', servername: 'second.test' },
  ] as const)('resume a session until the certificates change (%j)', async (options) => {
    const { port, useTls } = await open({ tls: tlsOf(FIRST, SECOND) });
    const socket = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options });
    const [session] = await once(socket, 'session');
    socket.destroy();
    useTls(tlsOf(FIRST, SECOND));
    expect(await isResumed(port, session, options)).toBe(true);
    useTls(tlsOf(SECOND, FIRST));
    expect(await isResumed(port, session, options)).toBe(false);
  });
});

describe('listener with TLS', () => {
  it.each([
    ['a page', {}],
    ['a page by HEAD', { method: 'HEAD' }],
    ['a prepared page', { path: '/plain' }],
    ['a missing page', { path: '/missing' }],
    ['a page of another host', { host: 'other.test:8443' }],
    ['an address over the limit', { path: `/${'a'.repeat(17_000)}` }],
  ])('responds to a request for %s over HTTP/2 as over HTTP/1.1', async (_, facts) => {
    const plain = { status: 200, headers: ['Content-Type', 'text/x-plain'], body: Buffer.from('prepared') } as const;
    const { port, url } = await open({
      fastAnswer: (incoming) => (incoming.url === '/plain' ? plain : null),
      fetch: (request) => {
        const { host, pathname } = new URL(request.url);
        return new Response(`${host} ${pathname}`, { status: pathname === '/missing' ? 404 : 200 });
      },
    });
    expect(url).toBe(`https://127.0.0.1:${port}`);
    const host = `127.0.0.1:${port}`;
    const first = await requestHttp1(port, { host, ...facts });
    const { body, ...second } = await requestHttp2(session(port), { host, ...facts });
    const { requestId: __, ...response } = body.startsWith('{') ? JSON.parse(body) : { body };
    expect(first).toMatchObject(second);
    const { requestId: ___, ...toldFirst } = first.body.startsWith('{') ? JSON.parse(first.body) : { body: first.body };
    expect(response).toEqual(toldFirst);
  });

  it('calls onRequest separately for each HTTP/2 request of a connection', async () => {
    const served: ServedRequest[] = [];
    const { port } = await open({ onRequest: (each) => served.push(each) });
    const client = session(port);
    await Promise.all(['/a', '/b'].map((path) => requestHttp2(client, { path, headers: { 'x-request-id': path } })));
    await expect.poll(() => served.length).toBe(2);
    expect(served.map(({ path, requestId, status }) => [path, requestId, status])).toEqual([
      ['/a', '/a', 200],
      ['/b', '/b', 200],
    ]);
    const [{ bytes = 0 } = {}, second] = served;
    expect(second?.bytes).toBe(bytes);
    expect(bytes).toBeGreaterThan('hello 127.0.0.1'.length);
    expect(bytes).toBeLessThan(1000);
  });

  it('selects the certificate by the requested name', async () => {
    const { port, isCertifiedFor } = await open({ tls: tlsOf(FIRST, SECOND) });
    expect(await nameOf(port)).toBe('first.test');
    expect(await nameOf(port, 'second.test')).toBe('second.test');
    expect(await nameOf(port, 'a.wild.test')).toBe('second.test');
    expect(await nameOf(port, 'unknown.test')).toBe('first.test');
    expect(await nameOf(port, 'unknown.test')).toBe('first.test');
    expect(['127.0.0.1', 'b.wild.test', 'a.b.wild.test', '127.0.0.2', '\0', ''].map(isCertifiedFor)).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
  });

  it('swaps certificates for new connections, and keeps open connections', async () => {
    const { port, useTls } = await open();
    const before = session(port);
    await requestHttp2(before, {});
    const renewed = pairFor('renewed.test', 'first.test');
    useTls(tlsOf(renewed));
    expect(await nameOf(port)).toBe('renewed.test');
    expect(await nameOf(port, 'first.test')).toBe('renewed.test');
    expect((await requestHttp2(before, {})).status).toBe(200);
    expect(() => useTls(tlsOf({ chain: FIRST.chain, key: SECOND.key }))).toThrow();
    expect(await nameOf(port, 'first.test')).toBe('renewed.test');
  });

  it('completes all requests while certificates are swapped', async () => {
    const { port, useTls } = await open();
    const until = { isOver: false };
    const send = async (): Promise<number> => {
      let count = 0;
      for (const kept = session(port); !until.isOver; count++) {
        expect((await requestHttp1(port, {})).status).toBe(200);
        expect((await requestHttp2(kept, {})).status).toBe(200);
      }
      return count;
    };
    const pending = Array.from({ length: 4 }, send);
    for (let swap = 0; swap < 30; swap++) {
      useTls(tlsOf(pairFor(`swap-${swap}.test`)));
      await sleep(5);
    }
    until.isOver = true;
    for (const count of await Promise.all(pending)) expect(count).toBeGreaterThan(0);
  });

  it('responds to a plain HTTP request with 400 and a message that the port needs HTTPS', async () => {
    const served: ServedRequest[] = [];
    const { port } = await open({ onRequest: (each) => served.push(each) });
    const connection = await RawConnection.open(port);
    connection.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    const answer = await connection.untilClosed();
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n.*X-Request-Id: /s);
    expect(answer).toContain('Cannot read the request: it is plain HTTP, and this port needs HTTPS');
    expect(served).toMatchObject([{ status: 400, method: '-' }]);
  });

  it('rejects older TLS versions', async () => {
    const { port } = await open();
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' } as const;
    await expect(shakeHands(port, old)).rejects.toMatchObject({ code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' });
  });

  it.each([
    ['h2', ['http/1.1', 'h2'], true, 'h2'],
    ['HTTP/1.1 if HTTP/2 is off', ['h2', 'http/1.1'], false, 'http/1.1'],
    ['no protocol if the client offers none', undefined, true, false],
  ] as const)('negotiates the protocol with ALPN: %s', async (_, ALPNProtocols, http2, agreed) => {
    const { port } = await open({ tls: { ...tlsOf(FIRST), http2 } });
    const socket = await shakeHands(port, ALPNProtocols === undefined ? {} : { ALPNProtocols: [...ALPNProtocols] });
    onEnd(() => socket.destroy());
    expect(socket.alpnProtocol).toBe(agreed);
  });

  it('rejects a client that offers only unknown protocols', async () => {
    const { port } = await open();
    await expect(shakeHands(port, { ALPNProtocols: ['spdy/3'] })).rejects.toMatchObject({
      code: 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL',
    });
  });

  it('sends Strict-Transport-Security over both protocols if configured', async () => {
    const plain = { status: 200, headers: ['A', 'b'], body: null } as const;
    const { port } = await open({
      tls: { ...tlsOf(FIRST), hstsMs: 86_400_000 },
      fastAnswer: ({ url }) => (url === '/plain' ? plain : null),
    });
    const client = session(port);
    for (const path of ['/', '/plain']) {
      for (const { headers } of [await requestHttp1(port, { path }), await requestHttp2(client, { path })]) {
        expect(headers).toMatchObject({ 'strict-transport-security': 'max-age=86400' });
      }
    }
  });
});

describe('limits for TLS clients', () => {
  const times = { handshakeMsMax: 300, keepAliveMs: 300, unreadMsMax: 300, checkMs: 50 };

  it.each([
    ['sends no bytes', ''],
    ['stops within its first record', '\x16\x03\x01'],
  ])('close a connection that %s', async (_, bytes) => {
    const { port } = await open({ times });
    const connection = await RawConnection.open(port);
    connection.write(bytes);
    await connection.untilClosed();
  });

  it('close an idle HTTP/2 session', async () => {
    const { port } = await open({ times });
    const client = session(port);
    await requestHttp2(client, {});
    await once(client, 'close');
  });

  it('reset a response that is not read', async () => {
    const { port } = await open({ times, fetch: () => new Response('x'.repeat(10_000_000)) });
    const client = session(port);
    const unread = client.request({ ':path': '/large' });
    unread.on('error', () => undefined);
    await once(unread, 'close');
    expect(unread.rstCode).toBe(constants.NGHTTP2_CANCEL);
  });

  it('are announced to HTTP/2 clients: the maximum number of streams and the maximum header size', async () => {
    const { port } = await open();
    const client = session(port);
    await once(client, 'remoteSettings');
    expect(client.remoteSettings).toMatchObject({ maxConcurrentStreams: 128, maxHeaderListSize: 32 * 1024 });
  });

  it.each([
    ['too large in total', Object.fromEntries(Array.from({ length: 5 }, (_, at) => [`a-${at}`, 'a'.repeat(8_000)]))],
    ['too many', Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`a-${at}`, 'a']))],
  ])('reject header fields that are %s', async (_, fields) => {
    const { port } = await open();
    const client = session(port, { maxSendHeaderBlockLength: 1_000_000 });
    // Settings apply after the client has confirmed them. Until then, the listener responds.
    const answer = await requestHttp2(client, { headers: fields }).catch(() => null);
    expect(answer?.status ?? 431).toBe(431);
    expect((await requestHttp2(session(port), {})).status).toBe(200);
  });

  it('disconnect a client that repeatedly cancels its requests', async () => {
    let answered = 0;
    const { port } = await open({
      fetch: () => {
        answered++;
        return new Response('hello');
      },
    });
    const client = session(port);
    await once(client, 'remoteSettings');
    const ASKED = 5_000;
    for (let at = 0; at < ASKED && !client.destroyed; at++) {
      const stream = client.request({ ':path': '/' });
      stream.on('error', () => undefined);
      stream.close(constants.NGHTTP2_CANCEL);
      if (at % 100 === 0) await sleep(1);
    }
    expect((await requestHttp2(session(port), {})).body).toBe('hello');
    expect(answered).toBeLessThan(ASKED / 2);
  });
});

describe('stop() with TLS', () => {
  it('ends idle sessions, and does not wait for clients that stay connected', async () => {
    const listener = await open();
    const client = session(listener.port);
    await requestHttp2(client, {});
    const gone = once(client, 'goaway');
    // A client that completes the handshake and stays connected.
    const stays = connectTls({
      ...{ allowHalfOpen: true },
      host: '127.0.0.1',
      port: listener.port,
      rejectUnauthorized: false,
    });
    await once(stays, 'secureConnect');
    const silent = connect({ host: '127.0.0.1', port: listener.port, allowHalfOpen: true });
    await once(silent, 'connect');
    onEnd(() => stays.destroy());
    onEnd(() => silent.destroy());
    await listener.stop(60_000);
    expect((await gone)[0]).toBe(constants.NGHTTP2_NO_ERROR);
  });

  it('finishes pending requests, and aborts them at the deadline', async () => {
    const answer = Promise.withResolvers<Response>();
    const arrived = Promise.withResolvers<void>();
    const listener = await open({
      fetch: () => {
        arrived.resolve();
        return answer.promise;
      },
    });
    const response = requestHttp2(session(listener.port), {});
    await arrived.promise;
    const stopped = listener.stop(60_000);
    answer.resolve(new Response('the end'));
    expect((await response).body).toBe('the end');
    await stopped;

    const arriving = Promise.withResolvers<void>();
    const other = await open({
      fetch: () => {
        arriving.resolve();
        return new Promise(() => undefined);
      },
    });
    const client = session(other.port);
    const never = client.request({ ':path': '/' });
    never.on('error', () => undefined);
    await arriving.promise;
    const cut = once(client, 'close');
    await other.stop(100);
    await cut;
  });
});
