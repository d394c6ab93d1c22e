import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { DocshelfError } from '../../../src/domain/errors.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { requireOwnName, TokenGuard } from '../../../src/http/admin/guards.ts';
import { ClientRates, LateAnswers } from '../../../src/http/limits/client-rates.ts';

describe('requireOwnName()', () => {
  it.each([
    'http://localhost:9090/v1/status',
    'http://LOCALHOST./',
    'http://127.0.0.1:9090/metrics',
    'http://10.1.2.3/',
    'http://[::1]:9090/',
    `http://${hostname()}:9090/`,
    'http://docs-metrics.acme.svc:9090/metrics',
  ])('accepts %s', (url) => {
    expect(() => requireOwnName(url, ['Docs-metrics.acme.svc'])).not.toThrow();
  });

  it.each([
    'http://evil.example:9090/v1/status',
    'http://localhost.evil.example/',
    'http://127.0.0.1.evil.example/metrics',
  ])('rejects %s, but accepts health probes at the same host', (url) => {
    expect(() => requireOwnName(url, [])).toThrow(expect.objectContaining({ code: 'misdirected' }));
    for (const path of ['/livez', '/readyz']) expect(() => requireOwnName(new URL(path, url).href, [])).not.toThrow();
    expect(() => requireOwnName(url, ['*'])).not.toThrow();
  });
});

describe('TokenGuard', () => {
  const RIGHT = 'a-token-that-is-long-enough';
  function guarded(nowMs = { at: 0 }, wait: (ms: number) => Promise<unknown> = async () => undefined) {
    const wrong = { count: 0 };
    const guard = new TokenGuard({
      token: () => new Secret(RIGHT),
      onWrong: () => {
        wrong.count += 1;
      },
      rates: new ClientRates({ policy: { burst: 2, perSecond: 1 }, now: () => nowMs.at }),
      late: new LateAnswers(wait),
    });
    const codeOf = (token: string, client = '10.0.0.1') =>
      guard.admit(`Bearer ${token}`, client).then(
        () => 'admitted',
        (error: unknown) => (error instanceof DocshelfError ? error.code : error),
      );
    return { guard, wrong, codeOf };
  }

  it('limits wrong tokens per client, and counts them', async () => {
    const now = { at: 0 };
    const { codeOf, wrong } = guarded(now);
    const codes = [];
    for (let tries = 0; tries < 3; tries += 1) codes.push(await codeOf('wrong'));
    expect(codes).toEqual(['unauthorized', 'unauthorized', 'rate_limited']);
    expect(await codeOf('wrong', '10.0.0.2')).toBe('unauthorized');
    now.at += 1_000;
    expect(await codeOf('wrong')).toBe('unauthorized');
    expect(wrong.count).toBe(5);
  });

  it('accepts the correct token immediately, even after wrong tokens from the same address', async () => {
    const { codeOf, wrong } = guarded();
    for (let tries = 0; tries < 5; tries += 1) await codeOf('wrong');
    expect(await codeOf(RIGHT)).toBe('admitted');
    expect(wrong.count).toBe(5);
  });

  it('delays each of several parallel wrong tokens of a client by one second more than the token before', async () => {
    const waits: { readonly ms: number; readonly end: () => void }[] = [];
    const wait = (ms: number) => new Promise<void>((end) => waits.push({ ms, end }));
    const { codeOf } = guarded({ at: 0 }, wait);
    for (let tries = 0; tries < 2; tries += 1) await codeOf('wrong');
    const guesses = [1, 2, 3].map(() => codeOf('wrong'));
    expect(await codeOf(RIGHT)).toBe('admitted');
    expect(await codeOf('wrong', '10.0.0.2')).toBe('unauthorized');
    expect(waits.map(({ ms }) => ms)).toEqual([1_000, 2_000, 3_000]);
    for (const { end } of waits) end();
    expect(await Promise.all(guesses)).toEqual(['rate_limited', 'rate_limited', 'rate_limited']);
    const last = codeOf('wrong');
    expect(waits.at(-1)?.ms).toBe(1_000);
    waits.at(-1)?.end();
    expect(await last).toBe('rate_limited');
  });

  it('states in the rate_limited error that the correct token is accepted immediately, and does not suggest server.trustedProxies', async () => {
    const guard = new TokenGuard({
      token: () => new Secret(RIGHT),
      onWrong: () => undefined,
      late: new LateAnswers(async () => undefined),
    });
    const attempt = () => guard.admit('Bearer wrong', '10.0.0.1').catch((error: DocshelfError) => error);
    for (let tries = 0; tries < 20; tries += 1) expect(await attempt()).toMatchObject({ code: 'unauthorized' });
    const refused = await attempt();
    expect(refused).toMatchObject({ code: 'rate_limited', next: expect.stringContaining('is accepted immediately') });
    expect(refused).not.toMatchObject({ next: expect.stringContaining('trustedProxies') });
  });

  it('does not count a request without a token as a wrong token', async () => {
    const { guard, wrong } = guarded();
    for (const header of [undefined, 'Basic x', RIGHT])
      await expect(guard.admit(header, '10.0.0.1')).rejects.toMatchObject({ code: 'unauthorized' });
    expect(wrong.count).toBe(0);
  });
});
