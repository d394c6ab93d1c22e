import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ClientRates } from '../../../src/http/limits/client-rates.ts';

const policy = { burst: 3, perSecond: 2 };

function ratesOf() {
  const rates = new ClientRates({ policy });
  return (address: string, times: number): number => {
    let allowed = 0;
    for (let index = 0; index < times; index++) {
      try {
        rates.take(address);
        allowed++;
      } catch (error) {
        expect(error).toMatchObject({ code: 'rate_limited', fields: { retryAfterS: 1 } });
      }
    }
    return allowed;
  };
}

describe('ClientRates (rate limit per client)', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
  afterEach(() => void vi.useRealTimers());

  it('allows a burst, then the rate of the policy', () => {
    const take = ratesOf();
    expect(take('192.0.2.1', 5)).toBe(3);
    vi.advanceTimersByTime(499);
    expect(take('192.0.2.1', 5)).toBe(0);
    vi.advanceTimersByTime(1);
    expect(take('192.0.2.1', 5)).toBe(1);
    vi.advanceTimersByTime(60_000);
    expect(take('192.0.2.1', 9)).toBe(3);
  });

  it('counts each client separately', () => {
    const take = ratesOf();
    expect(take('192.0.2.1', 3)).toBe(3);
    expect(take('192.0.2.2', 4)).toBe(3);
  });

  it('counts all addresses of an IPv6 network as one client, however the addresses are written', () => {
    const take = ratesOf();
    expect(take('2001:db8::1', 3)).toBe(3);
    expect(take('2001:db8:0:0:ffff::9', 1)).toBe(0);
    expect(take('2001:0db8:0000:0000:1:2:3:4', 1)).toBe(0);
    expect(take('2001:db8:0:1::1', 1)).toBe(1);
    expect(take('::1', 1)).toBe(1);
    expect(take('::ffff:192.0.2.1', 3)).toBe(3);
    expect(take('::ffff:192.0.2.2', 1)).toBe(1);
  });

  it('removes the least recently seen client if there are too many clients', () => {
    const take = ratesOf();
    expect(take('192.0.2.1', 3)).toBe(3);
    expect(take('192.0.2.2', 3)).toBe(3);
    expect(take('192.0.2.1', 1)).toBe(0);
    for (let client = 0; client < 9_999; client++) take(`10.0.${client >> 8}.${client & 255}`, 1);
    expect(take('192.0.2.1', 1)).toBe(0);
    expect(take('192.0.2.2', 1)).toBe(1);
  });
});
