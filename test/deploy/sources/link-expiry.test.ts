import { describe, expect, test } from 'vitest';
import { saysExpired } from '../../../src/deploy/sources/http-bundle-source.ts';
import { expiryOfLink } from '../../../src/domain/bundle-link.ts';

describe('expiryOfLink()', () => {
  test.each([
    ['S3', 'X-Amz-Date=20240601T120000Z&X-Amz-Expires=3600&X-Amz-Signature=s', '2024-06-01T13:00:00Z'],
    ['S3, other case', 'x-amz-date=20240601T120000Z&x-amz-expires=60', '2024-06-01T12:01:00Z'],
    ['Google', 'X-Goog-Date=20240601T120000Z&X-Goog-Expires=1', '2024-06-01T12:00:01Z'],
    ['S3 version 2', 'AWSAccessKeyId=a&Expires=1717243200&Signature=s', '2024-06-01T12:00:00Z'],
    ['Azure', 'sv=2022-11-02&se=2024-06-01T12%3A00%3A00Z&sig=s', '2024-06-01T12:00:00Z'],
  ])('reads the expiry time from a presigned link of %s', (_, query, end) => {
    expect(expiryOfLink(`https://store.example/b.tar.gz?${query}`)).toBe(Date.parse(end));
  });

  test.each([
    'https://store.example/b.tar.gz',
    'https://store.example/b?X-Amz-Date=20240601T120000Z',
    'https://store.example/b?X-Amz-Date=20249901T120000Z&X-Amz-Expires=1',
    'https://store.example/b?Expires=soon',
    'https://store.example/b?se=2024-06-01',
    'no link',
  ])('returns null for a link without a readable expiry time: %s', (link) => {
    expect(expiryOfLink(link)).toBe(null);
  });
});

describe('saysExpired()', () => {
  test('returns true for the error code link_expired of a docshelf service', () => {
    expect(saysExpired('{"code":"link_expired"}')).toBe(true);
  });

  test.each([
    '<Error><Code>SignatureDoesNotMatch</Code><StringToSign>X-Amz-Expires=3600</StringToSign></Error>',
    '<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>',
    '<p>Your session expired, log in</p>',
    '',
  ])('returns false for a response that does not report an expired link: %s', (body) => {
    expect(saysExpired(body)).toBe(false);
  });
});
