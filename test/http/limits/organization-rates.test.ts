import { expect, it } from 'vitest';
import { ORGANIZATION_RATE, rateHeaders } from '../../../src/http/limits/organization-rates.ts';

it('rateHeaders() states the policy and the remaining requests in header fields', () => {
  expect(rateHeaders(ORGANIZATION_RATE, { isAllowed: true, remaining: 9_999, resetS: 3600 })).toEqual({
    'RateLimit-Policy': '"hour";q=10000;w=3600',
    RateLimit: '"hour";r=9999;t=3600',
  });
});
