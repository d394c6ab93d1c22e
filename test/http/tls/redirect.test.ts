import { describe, expect, it } from 'vitest';
import { redirectAnswer } from '../../../src/http/tls/tls-port.ts';
import { listenerBench } from '../listener/listener-bench.ts';

const { open, connectTo } = listenerBench();

async function send(request: string, { port = 8443, publicUrl = null as string | null } = {}): Promise<string> {
  const listener = await open({
    fetch: redirectAnswer({
      port,
      publicUrl: () => publicUrl,
      isCertifiedFor: (host) => ['docs.test', '127.0.0.1', '::1'].includes(host),
    }),
  });
  const connection = await connectTo(listener);
  connection.write(`${request}\r\nConnection: close\r\n\r\n`);
  return connection.untilClosed();
}

const locationOf = (answer: string): string | undefined =>
  /^HTTP\/1\.1 308 .*\r\nlocation: (\S+)\r\n/is.exec(answer)?.[1];

describe('redirectAnswer()', () => {
  it.each([
    ['GET /a/b?c=d%20e HTTP/1.1\r\nHost: docs.test', {}, 'https://docs.test:8443/a/b?c=d%20e'],
    ['GET / HTTP/1.1\r\nHost: DOCS.test:8080', {}, 'https://docs.test:8443/'],
    ['GET //evil.test/ HTTP/1.1\r\nHost: docs.test', {}, 'https://docs.test:8443//evil.test/'],
    ['GET /a/../b HTTP/1.1\r\nHost: docs.test', {}, 'https://docs.test:8443/a/../b'],
    ['POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0', { port: 443 }, 'https://127.0.0.1/'],
    ['GET / HTTP/1.1\r\nHost: [::1]:80', {}, 'https://[::1]:8443/'],
    ['GET http://docs.test/x HTTP/1.1\r\nHost: docs.test', {}, 'https://docs.test:8443/x'],
    ['GET /x HTTP/1.1\r\nHost: docs.test', { publicUrl: 'https://other.test' }, 'https://docs.test/x'],
    ['GET /x HTTP/1.1\r\nHost: docs.test', { publicUrl: 'https://other.test:444' }, 'https://docs.test:444/x'],
    ['GET /x HTTP/1.1\r\nHost: evil.test', { publicUrl: 'https://other.test:444' }, 'https://other.test:444/x'],
    ['GET /x HTTP/1.0', { publicUrl: 'https://other.test' }, 'https://other.test/x'],
  ])('redirects %j to the same path over TLS', async (request, options, location) => {
    const answer = await send(request, options);
    expect(locationOf(answer)).toBe(location);
    expect(answer.toLowerCase()).toContain('cache-control: no-cache');
    expect(answer).not.toMatch(/strict-transport-security/i);
  });

  it('does not redirect to a host name that no certificate contains', async () => {
    const answer = await send('GET / HTTP/1.1\r\nHost: evil.test');
    expect(answer).toMatch(/^HTTP\/1\.1 421 /);
    expect(answer).toContain('no certificate contains this host name');
    expect(answer).not.toMatch(/location:/i);
  });
});
