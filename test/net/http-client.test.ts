import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { inspect, promisify } from 'node:util';
import { describe, expect, test, vi } from 'vitest';
import type { HttpResponse } from '../../src/net/http-response.ts';
import { type Answer, answering, httpServer, type LocalServer, tcpServer, tlsServer } from '../helpers/local-server.ts';
import { newFolder } from '../helpers/new-folder.ts';
import { clientBench, NEVER } from './client-bench.ts';
import type { ClientSettings } from './http-client-of.ts';

const TLS = new URL('../fixtures/tls/', import.meta.url);
const CERTIFICATE_FILE = new URL('certificate.pem', TLS).pathname;
const CERTIFICATE = {
  key: readFileSync(new URL('key.pem', TLS), 'utf8'),
  cert: readFileSync(CERTIFICATE_FILE, 'utf8'),
};
const { client, get, keep, server } = clientBench();

async function bodyOf(response: HttpResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.stream()) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe('HttpClient.get()', () => {
  test('returns the bytes as the server sends them, and requests no content coding', async () => {
    const { origin, requests } = await server((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end('not gzip at all'),
    );
    const response = await client().get(`${origin}/a?b=c`, { headers: { 'accept-encoding': 'br' }, signal: NEVER });
    expect(await bodyOf(response)).toBe('not gzip at all');
    expect(requests[0]?.headers['accept-encoding']).toBe('identity');
    expect(requests[0]?.url).toBe('/a?b=c');
  });

  test('sends user info of the URL as Basic credentials, but not after a redirect', async () => {
    const { host, requests } = await server((request, response) => {
      if (request.url === '/a') response.writeHead(302, { location: '/b' }).end();
      else response.end();
    });
    const response = await get(`http://us%65r:p%40ss@${host}/a`);
    await bodyOf(response);
    const sent = requests.map((request) => request.headers.authorization);
    expect(sent).toEqual([`Basic ${Buffer.from('user:p@ss').toString('base64')}`, undefined]);
  });

  test.each([
    ['/caf\u00e9.html', 'utf8', '/caf%C3%A9.html'],
    ['/caf\u00e9.html', 'latin1', '/caf%E9.html'],
    ['/caf%C3%A9/\u5217?q=\u00e9', 'utf8', '/caf%C3%A9/%E5%88%97?q=%C3%A9'],
  ] as const)('follows a Location header "%s" that is encoded as %s', async (location, encoding, path) => {
    const { origin, requests } = await server((request, response) => {
      const headers = { location: Buffer.from(location, encoding).toString('latin1') };
      if (request.url === '/a') response.writeHead(302, headers).end();
      else response.end();
    });
    await bodyOf(await get(`${origin}/a`));
    expect(requests[1]?.url).toBe(path);
  });

  test.each([301, 302, 303, 307, 308])(
    'follows a redirect with status %i, and keeps the Range header',
    async (status) => {
      const { origin, requests } = await server((request, response) => {
        if (request.url === '/a') response.writeHead(status, { location: 'b?signed' }).end('moved');
        else response.end('there');
      });
      const response = await client().get(`${origin}/a`, { headers: { range: 'bytes=1-' }, signal: NEVER });
      expect(await bodyOf(response)).toBe('there');
      expect(response.link.reveal()).toBe(`${origin}/b?signed`);
      expect(requests[1]?.headers.range).toBe('bytes=1-');
    },
  );

  test.each<[location: string | undefined, code: string, asked: number]>([
    ['/again', 'too_many_redirects', 3],
    ['file:///etc/passwd', 'source_failed', 1],
    ['data:text/html,x', 'source_failed', 1],
    ['ftp://127.0.0.1/', 'source_failed', 1],
    [undefined, 'source_failed', 1],
  ])('rejects a redirect to %s with the error %s after %i requests', async (location, code, expectedUrls) => {
    const headers = location === undefined ? {} : { location };
    const { origin, requests } = await server((_, response) => response.writeHead(302, headers).end());
    const fault = { code, fields: { retryable: false } };
    await expect(get(origin, { redirectsMax: 2 })).rejects.toMatchObject(fault);
    expect(requests.length).toBe(expectedUrls);
  });

  test('rejects a redirect from https to http, and does not request the http address', async () => {
    const plain = await server((_, response) => response.end());
    const { origin } = await server(
      tlsServer(CERTIFICATE, (_, response) => response.writeHead(302, { location: plain.origin }).end()),
    );
    const fault = { code: 'source_failed', fields: { retryable: false } };
    await expect(get(origin, { caFile: CERTIFICATE_FILE })).rejects.toMatchObject(fault);
    expect(plain.requests.length).toBe(0);
  });

  test('contacts only allowed hosts, also after redirects', async () => {
    const other = await server((_, response) => response.end());
    const { host, origin } = await server((_, response) => response.writeHead(302, { location: other.origin }).end());
    const limited = client({ allowedHosts: ['example.org', host] });
    await expect(limited.get(origin, { signal: NEVER })).rejects.toMatchObject({ code: 'host_not_allowed' });
    expect(other.requests.length).toBe(0);
    await expect(limited.get(other.origin, { signal: NEVER })).rejects.toMatchObject({ code: 'host_not_allowed' });
  });

  test('allows subdomains of a wildcard host, but not the domain without a subdomain', async () => {
    const limited = client({ allowedHosts: ['*.invalid'] });
    await expect(limited.get('http://a.invalid/', { signal: NEVER })).rejects.toMatchObject({
      code: 'source_unreachable',
    });
    await expect(limited.get('http://invalid/', { signal: NEVER })).rejects.toMatchObject({ code: 'host_not_allowed' });
    await expect(limited.get('http://notinvalid/', { signal: NEVER })).rejects.toMatchObject({
      code: 'host_not_allowed',
    });
  });

  test('contacts no host if no host is allowed', async () => {
    const { origin, requests } = await server((_, response) => response.end());
    await expect(get(origin, { allowsUnnamed: false })).rejects.toMatchObject({ code: 'host_not_allowed' });
    expect(requests.length).toBe(0);
  });
});

/** Returns the origin of a server that has stopped. */
async function closedOrigin(): Promise<string> {
  const { origin, close } = await httpServer(() => {});
  await close();
  return origin;
}

describe('error of HttpClient.get()', () => {
  test.each<[string, () => Promise<string>, code: string, retryable: boolean, next?: string]>([
    ['no server listens', closedOrigin, 'source_unreachable', true],
    [
      'the connection is reset before a response',
      async () => (await server(tcpServer((socket) => socket.once('data', () => socket.resetAndDestroy())))).origin,
      'source_unreachable',
      true,
    ],
    [
      'the response is not HTTP',
      async () => (await server(tcpServer(answering('SSH-2.0-OpenSSH_9.2\r\n')))).origin,
      'source_failed',
      false,
    ],
    [
      'the certificate is not trusted',
      async () => (await server(tlsServer(CERTIFICATE, () => undefined))).origin,
      'source_unreachable',
      false,
      'caFile',
    ],
    [
      'the port does not speak TLS',
      async () => `https://${(await server((_, response) => response.end())).host}/`,
      'source_unreachable',
      false,
    ],
  ])('states the reason: %s', async (_, start, code, retryable, next = '') => {
    const fault = { code, next: expect.stringContaining(next), fields: { retryable } };
    await expect(get(await start())).rejects.toMatchObject(fault);
  });
});

describe('time limits of HttpClient.get()', () => {
  const dripping: Answer = (_, response) => {
    const timer = setInterval(() => response.write('.'), 20);
    response.on('close', () => clearInterval(timer));
  };
  const redirectingSlowly: Answer = (_, response) =>
    void setTimeout(() => response.writeHead(302, { location: '/' }).end(), 80);

  test.each<[string, () => Promise<LocalServer> | Answer, ClientSettings]>([
    // The server reads, because only then does it notice the end of the connection.
    ['a TLS handshake', () => tcpServer((socket) => void socket.resume()), { connectTimeoutMs: 150 }],
    ['a missing response', () => () => {}, { idleTimeoutMs: 150 }],
    ['a body that stops', () => (_, response) => void response.writeHead(200).write('begin'), { idleTimeoutMs: 150 }],
    ['an endless slow body', () => dripping, { totalTimeoutMs: 200 }],
    ['redirects, within the total time', () => redirectingSlowly, { totalTimeoutMs: 200, redirectsMax: 100 }],
  ])('apply to %s', async (name, start, settings) => {
    const local = await server(start());
    const url = name === 'a TLS handshake' ? `https://${local.host}/` : local.origin;
    const fault = { code: 'source_timeout', fields: { retryable: true } };
    await expect(get(url, settings).then(bodyOf)).rejects.toMatchObject(fault);
    await vi.waitFor(() => expect(local.openSockets()).toBe(0), 30_000);
  });
});

describe('abort signal of HttpClient.get()', () => {
  const REASON = new Error('the caller has had enough');

  test('ends a request that waits for its connection', async () => {
    const { host } = await server(tcpServer(() => {}));
    const abort = new AbortController();
    // Set a timeout longer than the test, because the abort must not wait for the timeout.
    const get = client({ connectTimeoutMs: 60_000 }).get(`https://${host}/`, { signal: abort.signal });
    setTimeout(() => abort.abort(REASON), 30);
    await expect(get).rejects.toBe(REASON);
  });

  test('ends a response body and its socket', async () => {
    const local = await server((_, response) => void response.writeHead(200).write('begin'));
    const abort = new AbortController();
    const response = await client().get(local.origin, { signal: abort.signal });
    setTimeout(() => abort.abort(REASON), 30);
    await expect(bodyOf(response)).rejects.toBe(REASON);
    await vi.waitFor(() => expect(local.openSockets()).toBe(0), 30_000);
  });

  test('prevents the request if the signal is already aborted', async () => {
    const { origin, requests } = await server((_, response) => response.end());
    await expect(client().get(origin, { signal: AbortSignal.abort(REASON) })).rejects.toBe(REASON);
    expect(requests.length).toBe(0);
  });
});

describe('response body of HttpClient.get()', () => {
  test.each([
    ['fewer bytes than declared', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort'],
    ['fewer bytes than declared, closing', 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 100\r\n\r\nshort'],
    ['no last chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n'],
    [
      'no last chunk, closing',
      'HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n',
    ],
  ])('is rejected as source_truncated if it has %s', async (_, text) => {
    const { origin } = await server(tcpServer(answering(text)));
    const response = await get(origin);
    await expect(bodyOf(response)).rejects.toMatchObject({
      code: 'source_truncated',
      fields: { receivedBytes: 5, retryable: true },
    });
  });

  test('is rejected as source_truncated if the connection is reset', async () => {
    const head = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort';
    const { origin } = await server(
      tcpServer(answering(head, (socket) => void setTimeout(() => socket.resetAndDestroy(), 50))),
    );
    const response = await get(origin);
    await expect(bodyOf(response)).rejects.toMatchObject({ code: 'source_truncated' });
  });

  test('frees its socket if the body is closed before it is read', async () => {
    const local = await server((_, response) => void response.writeHead(200).write('begin'));
    const response = await get(local.origin);
    response.close();
    await vi.waitFor(() => expect(local.openSockets()).toBe(0), 30_000);
  });

  test('can be read as text up to a limit', async () => {
    const local = await server((_, response) => void response.writeHead(200).write('x'.repeat(100_000)));
    const response = await get(local.origin);
    expect(await response.text(4096)).toBe('x'.repeat(4096));
    await vi.waitFor(() => expect(local.openSockets()).toBe(0), 30_000);
  });
});

describe('proxy of HttpClient', () => {
  test('is read from the settings', async () => {
    const proxy = await server((_, response) => response.end('by proxy'));
    const response = await get('http://docs.invalid/a?b', { proxy: proxy.origin });
    expect(await bodyOf(response)).toBe('by proxy');
    expect(proxy.requests[0]?.url).toBe('http://docs.invalid/a?b');
  });

  test('is read from the environment, and is not used for hosts in NO_PROXY', async () => {
    const proxy = await server((_, response) => response.end('by proxy'));
    const direct = await server((_, response) => response.end('direct'));
    vi.stubEnv('http_proxy', proxy.origin);
    vi.stubEnv('no_proxy', '127.0.0.1');
    const proxied = client({ proxy: 'env' });
    expect(await bodyOf(await proxied.get('http://docs.invalid/', { signal: NEVER }))).toBe('by proxy');
    expect(await bodyOf(await proxied.get(direct.origin, { signal: NEVER }))).toBe('direct');
  });

  /** Returns true if NO_PROXY makes a request bypass the proxy. The proxy of this test accepts no connection. */
  async function goesDirect(noProxy: string, host: string): Promise<boolean> {
    vi.stubEnv('http_proxy', 'http://127.0.0.1:1');
    vi.stubEnv('no_proxy', noProxy);
    const direct = await server((_, response) => response.end('direct'));
    const { port } = new URL(direct.origin);
    const outcome = await client({ proxy: 'env' })
      .get(`http://${host}:${port}/`, { signal: NEVER })
      .then(bodyOf, () => 'refused by the proxy');
    return outcome === 'direct';
  }

  // The server listens only on 127.0.0.1, which ::ffff:127.0.0.1 also reaches.
  test.each([
    ['127.0.0.0/8', '127.0.0.1'],
    ['10.0.0.0/8,127.0.0.0/8,::1/128', '127.0.0.1'],
    [' 10.0.0.0/8 ,\t127.0.0.0/8 ', '127.0.0.1'],
    ['10.0.0.0/8 127.0.0.0/8', '127.0.0.1'],
    ['127.9.8.7/8', '127.0.0.1'],
    ['127.0.0.1/32', '127.0.0.1'],
    ['0.0.0.0/0', '127.0.0.1'],
    ['127.0.0.0/8', '2130706433'],
    ['127.0.0.0/8', '[::ffff:127.0.0.1]'],
    ['::ffff:127.0.0.0/104', '127.0.0.1'],
    ['::ffff:0:0/96', '[::ffff:7f00:1]'],
    ['0:0:0:0:0:FFFF:7f00:1', '[::ffff:127.0.0.1]'],
    ['[::ffff:7f00:0]/104', '[::ffff:127.0.0.1]'],
    ['[::ffff:7f00:0/104]', '[::ffff:127.0.0.1]'],
    ['nonsense/8,10.0.0.0/,127.0.0.0/33,/8,::/129,127.0.0.0/8', '127.0.0.1'],
    ['127.0.0.1', '127.0.0.1'],
    ['*', '127.0.0.1'],
  ])('is not used if NO_PROXY is "%s" and the host %s', async (noProxy, host) => {
    expect(await goesDirect(noProxy, host)).toBe(true);
  });

  test.each([
    ['10.0.0.0/8', '127.0.0.1'],
    ['128.0.0.0/1', '127.0.0.1'],
    ['127.0.0.0/33', '127.0.0.1'],
    ['127.0.0.0/-8', '127.0.0.1'],
    ['127.0.0.0/8x', '127.0.0.1'],
    ['127/8', '127.0.0.1'],
    ['127.0.0.0/', '127.0.0.1'],
    ['::/0', '127.0.0.1'],
    ['::1/128', '[::ffff:127.0.0.1]'],
    // A network in NO_PROXY contains addresses only. Like curl and Python, docshelf does not look up names for it.
    ['127.0.0.0/8,::1/128', 'localhost'],
    ['127.0.0.1:1', '127.0.0.1'],
  ])('is used if NO_PROXY is "%s" and the host %s', async (noProxy, host) => {
    expect(await goesDirect(noProxy, host)).toBe(false);
  });

  test('is not used for hosts in an IPv6 network of NO_PROXY', async () => {
    vi.stubEnv('http_proxy', 'http://127.0.0.1:1');
    vi.stubEnv('no_proxy', '2001:db8::/32, fd00::/8, ::1/128');
    const direct = createServer((_, response) => response.end('direct'));
    direct.listen(0, '::1');
    await once(direct, 'listening');
    keep({ close: promisify(direct.close.bind(direct)) });
    const { port } = direct.address() as AddressInfo;
    const response = await get(`http://[::1]:${port}/`, { proxy: 'env' });
    expect(await bodyOf(response)).toBe('direct');
  });

  test('tunnels https, and causes a timeout if the proxy does not respond', async () => {
    const proxy = await server(tcpServer(() => {}));
    const pending = get('https://docs.invalid/', { proxy: proxy.origin, idleTimeoutMs: 150 });
    await expect(pending).rejects.toMatchObject({ code: 'source_timeout' });
  });

  test('causes config_invalid if it is not a URL, and the error does not show the password', () => {
    try {
      client({ proxy: 'user:canary-password@proxy:nonsense' });
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ code: 'config_invalid' });
      expect(inspect(error, { depth: null, showHidden: true })).not.toContain('canary');
    }
  });
});

test('A SOCKS proxy in the environment causes config_invalid', () => {
  vi.stubEnv('HTTPS_PROXY', 'socks5://127.0.0.1:1');
  expect(() => client({ proxy: 'env' })).toThrow(expect.objectContaining({ code: 'config_invalid' }));
});

describe('caFile of HttpClient', () => {
  test('causes cannot_read if the file is missing, and config_invalid if the file contains no certificate', async () => {
    const caFile = join(newFolder(), 'ca.pem');
    expect(() => client({ caFile })).toThrow(expect.objectContaining({ code: 'cannot_read' }));
    await writeFile(caFile, 'no certificate');
    expect(() => client({ caFile })).toThrow(expect.objectContaining({ code: 'config_invalid' }));
  });
});

describe('credentials in the query of a link', () => {
  const CANARY = 'X-Amz-Signature=canary0123456789';
  const faults: Record<string, (canary: string) => Promise<[string, ClientSettings]>> = {
    'no server listens': async () => [await closedOrigin(), {}],
    'unknown host': async () => ['http://docs.invalid', {}],
    'not HTTP, and echoes the query': async (canary) => [
      (await server(tcpServer(answering(`garbage /?${canary}\r\n\r\n`)))).origin,
      {},
    ],
    'a broken chunk that echoes the query': async (canary) => [
      (await server(tcpServer(answering(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n?${canary}\r\n`))))
        .origin,
      {},
    ],
    'a redirect loop that contains the query': async (canary) => [
      (await server((_, response) => response.writeHead(302, { location: `/?${canary}` }).end())).origin,
      {},
    ],
    'a redirect to an unknown host': async (canary) => {
      const location = `http://docs.invalid/?${canary}`;
      return [(await server((_, response) => response.writeHead(302, { location }).end())).origin, {}];
    },
    'no response': async () => [(await server(() => {})).origin, { idleTimeoutMs: 100 }],
    'a timeout of the whole request': async () => [(await server(() => {})).origin, { totalTimeoutMs: 100 }],
    'an unavailable proxy': async () => ['http://docs.invalid', { proxy: await closedOrigin() }],
    'host not allowed': async () => ['http://docs.invalid', { allowsUnnamed: false }],
    'an invalid URL': async () => ['http://', {}],
  };

  test.each(Object.keys(faults))('appear in no part of the error: %s', async (name) => {
    const [origin, settings] = (await faults[name]?.(CANARY)) ?? ['', {}];
    const failing = get(`${origin}/bundle.tar.gz?${CANARY}#canary`, settings).then(bodyOf);
    const error = await failing.then(
      () => expect.unreachable('it must fail'),
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({ name: 'DocshelfError' });
    expect(inspect(error, { depth: null, showHidden: true })).not.toContain('canary');
  });
});
