import { describe, expect, it } from 'vitest';
import { checkPresigned } from './sigv4.ts';

/** Example of Amazon's documentation, "Authenticating Requests: Using Query Parameters". */
const LINK =
  'https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256' +
  '&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z' +
  '&X-Amz-Expires=86400&X-Amz-SignedHeaders=host' +
  '&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404';
const SECRET = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
const SIGNED_MS = Date.parse('2013-05-24T00:00:00Z');

describe('checkPresigned()', () => {
  it("accepts the example in Amazon's documentation for exactly one day", () => {
    expect(checkPresigned('GET', LINK, SECRET, SIGNED_MS)).toBe('valid');
    expect(checkPresigned('GET', LINK, SECRET, SIGNED_MS + 86_399_999)).toBe('valid');
    expect(checkPresigned('GET', LINK, SECRET, SIGNED_MS + 86_400_000)).toBe('expired');
  });

  it.each([
    ['HEAD', LINK, SECRET],
    ['GET', LINK.replace('test.txt', 'test.txu'), SECRET],
    ['GET', LINK.replace('86400', '86401'), SECRET],
    ['GET', LINK.replace('examplebucket', 'other'), SECRET],
    ['GET', `${LINK}&response-content-type=text%2Fhtml`, SECRET],
    ['GET', LINK, SECRET.toLowerCase()],
  ])('rejects %s if the link or the secret was changed', (method, link, secret) => {
    expect(checkPresigned(method, link, secret, SIGNED_MS)).toBe('wrong signature');
  });
});
