import { hostname } from 'node:os';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DocshelfError } from '../../../src/domain/errors.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { requireOwnName, TokenGuard } from '../../../src/http/admin/guards.ts';

describe('requireOwnName() (check of the Host header)', () => {
  it.each([
    'http://localhost:9090/v1/status',
    'http://LOCALHOST./',
    'http://127.0.0.1:9090/metrics',
    'http://10.1.2.3/',
    'http://[::1]:9090/',
    `http://${hostname()}:9090/`,
    'http://docs-metrics.acme.svc:9090/metrics',
  ])('accepts a request to %s', (url) => {
    expect(() => requireOwnName(url, ['Docs-metrics.acme.svc'])).not.toThrow();
  });

  it.each([
    'http://evil.example:9090/v1/status',
    'http://localhost.evil.example/',
    'http://127.0.0.1.evil.example/metrics',
  ])('rejects a request to %s because of its host, but accepts health probes at this host', (url) => {
    expect(() => requireOwnName(url, [])).toThrow(expect.objectContaining({ code: 'misdirected' }));
    for (const path of ['/livez', '/readyz']) expect(() => requireOwnName(new URL(path, url).href, [])).not.toThrow();
    expect(() => requireOwnName(url, ['*'])).not.toThrow();
  });
});

describe('TokenGuard (check of the admin token)', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  const RIGHT = 'a-token-that-is-long-enough';
  function guarded() {
    const wrong = { count: 0 };
    const guard = new TokenGuard({
      token: () => new Secret(RIGHT),
      onWrong: () => {
        wrong.count += 1;
      },
    });
    const codeOf = (token: string, client = '10.0.0.1') =>
      guard.admit(`Bearer ${token}`, client).then(
        () => 'admitted',
        (error: unknown) => (error instanceof DocshelfError ? error.code : error),
      );
    return { guard, wrong, codeOf };
  }

  /** Sends the 20 wrong tokens that get a response without a delay. */
  async function exhaust({ codeOf }: ReturnType<typeof guarded>): Promise<void> {
    for (let tries = 0; tries < 20; tries += 1) expect(await codeOf('wrong')).toBe('unauthorized');
  }

  it('responds with rate_limited to a client that has sent 20 wrong tokens, and limits each client separately', async () => {
    const site = guarded();
    await exhaust(site);
    const late = site.codeOf('wrong');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await late).toBe('rate_limited');
    expect(await site.codeOf('wrong', '10.0.0.2')).toBe('unauthorized');
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await site.codeOf('wrong')).toBe('unauthorized');
    expect(site.wrong.count).toBe(23);
  });

  it('delays each of several parallel wrong tokens of a client by one second more than the token before', async () => {
    const site = guarded();
    await exhaust(site);
    const ended: number[] = [];
    const startedMs = performance.now();
    const guess = async () => {
      expect(await site.codeOf('wrong')).toBe('rate_limited');
      ended.push(performance.now() - startedMs);
    };
    const guesses = [guess(), guess(), guess()];
    expect(await site.codeOf(RIGHT)).toBe('admitted');
    expect(await site.codeOf('wrong', '10.0.0.2')).toBe('unauthorized');
    await vi.advanceTimersByTimeAsync(3_000);
    await Promise.all(guesses);
    expect(ended).toEqual([1_000, 2_000, 3_000]);
    const last = guess();
    await vi.advanceTimersByTimeAsync(1_000);
    await last;
    expect(ended.at(-1)).toBe(4_000);
  });

  it('states in the rate_limited error that the correct token is accepted immediately, and does not suggest server.trustedProxies', async () => {
    const site = guarded();
    await exhaust(site);
    const refused = site.guard.admit('Bearer wrong', '10.0.0.1').catch((error: DocshelfError) => error);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await refused).toMatchObject({
      code: 'rate_limited',
      next: expect.stringContaining('is accepted immediately'),
    });
    expect(await refused).not.toMatchObject({ next: expect.stringContaining('trustedProxies') });
  });

  it('does not count a request without a token as a wrong token', async () => {
    const { guard, wrong } = guarded();
    for (const header of [undefined, 'Basic x', RIGHT])
      await expect(guard.admit(header, '10.0.0.1')).rejects.toMatchObject({ code: 'unauthorized' });
    expect(wrong.count).toBe(0);
  });
});
