import { describe, expect, it } from 'vitest';
import { TrustedHeader } from '../../../src/http/sign-in/sign-in.ts';
import { RawConnection } from '../listener/raw-connection.ts';
import { guardedSite, SECRET } from './guarded-listener.ts';

/** Rejects every client of this machine. */
const nobody = new TrustedHeader({ name: 'X-Remote-User', trustedProxies: ['192.0.2.1'] });

describe('site that requires a sign-in', () => {
  // In ASCII, longer names replace the slash and the characters after it, because the framework removes these.
  it.each([
    '\u00fc.\u00fc.\u00fc.\u00fc.\u00fc.\u00fc/_docshelf/search?q=secret&limit=3#x',
    '\u00fc.\u00fc.\u00fc.\u00fc.\u00fc/_docshelf/features.json?xxxxx',
    'docs.acme.dev:x@\u00fc.\u00fc.\u00fc.\u00fc.\u00fc.\u00fc.\u00fc.\u00fc/_docshelf/search?q=secret#xxxxx',
  ])('rejects an invalid Host header that contains an address: %s', async (host) => {
    for (const basePath of ['/', '/docs/']) {
      await using site = await guardedSite(nobody, { basePath });
      const connection = await RawConnection.open(site.listener.port);
      const lines = [`GET ${basePath}_docshelf/assets/a HTTP/1.1`, `Host: ${host}`, 'Connection: close', '', ''];
      connection.socket.write(Buffer.from(lines.join('\r\n'), 'latin1'));
      const answer = await connection.untilClosed();
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).not.toContain(SECRET);
    }
  });

  it('serves no content of the site at addresses that need no sign-in', async () => {
    for (const basePath of ['/', '/docs/']) {
      await using site = await guardedSite(nobody, { basePath });
      for (const method of ['GET', 'HEAD', 'POST', 'DELETE']) {
        for (const path of ['_docshelf/assets/a', '_docshelf/csp-report']) {
          const answer = await site.send(basePath + path, { accept: 'text/html' }, method);
          expect(answer.status).toBe(method === 'POST' && path.endsWith('csp-report') ? 204 : 404);
          expect(JSON.stringify(answer)).not.toContain(SECRET);
        }
      }
    }
  });

  it('checks each pipelined request of a connection separately', async () => {
    await using site = await guardedSite(new TrustedHeader({ name: 'X-User', trustedProxies: ['127.0.0.1'] }));
    const connection = await RawConnection.open(site.listener.port);
    connection.write(
      'GET / HTTP/1.1\r\nHost: x\r\nX-User: anna\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    );
    const received = await connection.untilClosed();
    expect(received.match(/HTTP\/1\.1 \d{3} /g)).toEqual(['HTTP/1.1 200 ', 'HTTP/1.1 401 ']);
  });
});
