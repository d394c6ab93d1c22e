import { describe, expect, it } from 'vitest';
import { TrustedHeader } from '../../../src/http/sign-in/sign-in.ts';
import { guardedSite, SECRET } from './guarded-listener.ts';

const signIn = (...trustedProxies: string[]) => new TrustedHeader({ name: 'X-Remote-User', trustedProxies });

describe('TrustedHeader (sign-in with a user header from a proxy)', () => {
  it.each(['127.0.0.1', '127.0.0.0/8'])(
    'accepts the user header of a proxy in the trusted network %s',
    async (network) => {
      await using site = await guardedSite(signIn('10.0.0.0/8', network));
      const answer = await site.send('/', { 'x-remote-user': 'anna' });
      expect(answer).toMatchObject({ status: 200, headers: { 'cache-control': 'private, no-cache' } });
      expect(answer.headers.vary).toContain('X-Remote-User');
    },
  );

  it.each<[string, Record<string, string | string[]>]>([
    ['missing', {}],
    ['empty', { 'x-remote-user': '' }],
    ['blank', { 'x-remote-user': '  ' }],
    ['sent twice, once by the client', { 'x-remote-user': ['mallory', 'anna'] }],
    ['under another name', { x_remote_user: 'anna' }],
    ['replaced by other headers', { 'x-forwarded-user': 'anna', authorization: 'Basic YTpi' }],
  ])('rejects a user header that is %s', async (_, headers) => {
    await using site = await guardedSite(signIn('127.0.0.1'));
    const answer = await site.send('/', headers);
    expect(answer.status).toBe(401);
    expect(JSON.stringify(answer)).not.toContain(SECRET);
  });

  it('rejects the user header of a client, whatever its X-Forwarded-For header contains', async () => {
    await using site = await guardedSite(signIn('10.1.2.3', '::ffff:10.0.0.1'));
    for (const forwarded of ['10.1.2.3', '127.0.0.1, 10.1.2.3', '10.0.0.1']) {
      const answer = await site.send('/', { 'x-remote-user': 'anna', 'x-forwarded-for': forwarded });
      expect(answer.status).toBe(401);
    }
  });

  it('accepts the user header of a trusted IPv4 proxy on an IPv6 socket', async () => {
    await using site = await guardedSite(signIn('127.0.0.1'), { host: '::' });
    expect(await site.send('/', { 'x-remote-user': 'anna' })).toMatchObject({ status: 200 });
  });
});
