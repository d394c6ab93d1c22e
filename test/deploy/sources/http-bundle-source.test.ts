import type { RequestListener, ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { OpenedBundle } from '../../../src/deploy/ports.ts';
import { httpBundleSource } from '../../../src/deploy/sources/http-bundle-source.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { bundleAnswer, httpServer } from '../../helpers/local-server.ts';
import { httpClientOf } from '../../net/http-client-of.ts';

const NOW = Date.parse('2024-06-01T12:00:00Z');
const NEVER = new AbortController().signal;
const BUNDLE = Buffer.from('0123456789');

async function openFrom(answer: RequestListener, resume: { offset: number; etag: string } | null = null, path = '/b') {
  const { origin } = await httpServer(answer);
  return httpBundleSource(httpClientOf(), () => NOW).open(new Secret(`${origin}${path}`), {
    resume,
    signal: NEVER,
  });
}

async function textOf(bundle: OpenedBundle): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bundle.stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const xml = (code: string, message: string) =>
  `<?xml version="1.0"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>`;
const answerWith =
  (status: number, body: string, headers: Record<string, string> = {}) =>
  (_: unknown, response: ServerResponse) =>
    void response.writeHead(status, headers).end(body);

describe('an error response to a fetch', () => {
  const PAST = 'X-Amz-Date=20240601T100000Z&X-Amz-Expires=3600';
  const FUTURE = 'X-Amz-Date=20240601T113000Z&X-Amz-Expires=3600';
  test.each([
    ['S3, an expired link', 403, xml('AccessDenied', 'Request has expired'), '/b', 'link_expired'],
    ['S3, an expired token', 400, xml('ExpiredToken', 'The provided token has expired.'), '/b', 'link_expired'],
    ['no reason is given, but the link has expired', 403, '', `/b?${PAST}`, 'link_expired'],
    ['a wrong signature', 403, xml('SignatureDoesNotMatch', 'Check your key'), `/b?${FUTURE}`, 'link_refused'],
    [
      'access denied while the link is valid',
      403,
      xml('AccessDenied', 'Access Denied'),
      `/b?${FUTURE}`,
      'link_refused',
    ],
    ['no credentials', 401, '', '/b', 'link_refused'],
    ['a bad request for an expired link', 400, xml('InvalidArgument', 'no'), `/b?${PAST}`, 'source_failed'],
    ['not found', 404, xml('NoSuchKey', 'no'), '/b', 'bundle_not_found'],
    ['gone', 410, '', '/b', 'bundle_not_found'],
    ['an unknown status', 418, '', '/b', 'source_failed'],
    ['no content', 204, '', '/b', 'source_failed'],
    ['a range that was not requested', 206, 'part', '/b', 'source_failed'],
  ])('is mapped to an error code: %s', async (_, status, body, path, code) => {
    await expect(openFrom(answerWith(status, body), null, path)).rejects.toMatchObject({
      code,
      fields: { status, retryable: false },
    });
  });

  const azure = (start: string, expiry: string): string =>
    `\ufeff<?xml version="1.0" encoding="utf-8"?><Error><Code>AuthenticationFailed</Code><Message>Server failed to authenticate the request.\nRequestId:1\nTime:2024-06-01T12:00:00Z</Message><AuthenticationErrorDetail>Signature not valid in the specified time frame: Start [Sat, 01 Jun 2024 ${start} GMT] - Expiry [Sat, 01 Jun 2024 ${expiry} GMT] - Current [Sat, 01 Jun 2024 12:00:00 GMT]</AuthenticationErrorDetail></Error>`;
  const LATER = 'X-Amz-Date=20240601T140000Z&X-Amz-Expires=3600';

  test.each([
    ['S3, signed headers', xml('RequestTimeTooSkewed', 'The difference between the request time …'), '/b'],
    ['S3, a link', xml('AccessDenied', 'Request is not yet valid'), '/b'],
    ['MinIO', xml('AccessDenied', 'Request is not valid yet'), '/b'],
    ['a service of AWS', xml('SignatureDoesNotMatch', 'Signature not yet current: 1 is still later than 0'), '/b'],
    ['Azure', azure('13:00:00', '14:00:00'), '/b'],
    ['Azure, a delegation key', azure('13:00:00', '14:00:00').replace('specified time', 'specified key time'), '/b'],
    [
      'S3 without a reason, for a link that was signed in the future',
      xml('AccessDenied', 'Access Denied'),
      `/b?${LATER}`,
    ],
    ['Google', '', '/b?X-Goog-Date=20240601T140000Z&X-Goog-Expires=60'],
    ['Azure, without a reason', '', '/b?st=2024-06-01T13%3A00%3A00Z&se=2024-06-01T14%3A00%3A00Z&sig=s'],
    [
      'a time skew error for a link that has expired by the local clock',
      xml('RequestTimeTooSkewed', 'The difference'),
      `/b?${PAST}`,
    ],
  ])(
    'suggests checking the clock of the signing machine if the store rejects the time of the signature: %s',
    async (_, body, path) => {
      const error = await openFrom(answerWith(403, body), null, path).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: 'link_refused', message: expect.stringMatching(/clock/) });
      expect(error).toMatchObject({ next: expect.stringMatching(/clock of the machine that signed/) });
    },
  );

  test.each([
    ['S3', 403, xml('InvalidObjectState', 'The operation is not valid for the storage class of the object'), {}],
    ['S3, for an expired link', 403, xml('\n  InvalidObjectState\n', 'no'), {}],
    ['Azure', 409, xml('BlobArchived', 'This operation is not permitted on an archived blob.'), {}],
    ['Azure, by its header', 409, '', { 'x-ms-error-code': 'BlobArchived' }],
    ['Azure, while it is restored', 409, xml('BlobBeingRehydrated', 'no'), {}],
    ['Oracle', 409, '{ "code" : "NotRestored", "message" : "The object is archived" }', {}],
  ])('suggests restoring the object if the store has archived it: %s', async (name, status, body, headers) => {
    const path = name.endsWith('expired link') ? `/b?${PAST}` : '/b';
    await expect(openFrom(answerWith(status, body, headers), null, path)).rejects.toMatchObject({
      code: 'source_failed',
      message: expect.stringMatching(/archive/),
      next: expect.stringMatching(/^Restore the object/),
      fields: { status, retryable: false },
    });
  });

  test.each([
    ['S3', xml('SignatureDoesNotMatch', 'The request signature we calculated does not match'), `/b?${FUTURE}`],
    ['S3, signed by a fast clock', xml('SignatureDoesNotMatch', 'Check your key'), `/b?${LATER}`],
    [
      'Azure',
      xml('AuthenticationFailed', 'x').replace(
        '</Error>',
        '<AuthenticationErrorDetail>Signature did not match.</AuthenticationErrorDetail></Error>',
      ),
      '/b?st=2024-06-01T13%3A00%3A00Z&sig=s',
    ],
    ['S3, permission', xml('AccessDenied', 'Access Denied'), `/b?${FUTURE}`],
    [
      'S3, signed two minutes ahead',
      xml('AccessDenied', 'Access Denied'),
      '/b?X-Amz-Date=20240601T120200Z&X-Amz-Expires=60',
    ],
  ])(
    'suggests quoting the link if the store reports a wrong signature or a missing permission: %s',
    async (_, body, path) => {
      await expect(openFrom(answerWith(403, body), null, path)).rejects.toMatchObject({
        code: 'link_refused',
        next: expect.stringMatching(/in quotes/),
      });
    },
  );

  test.each([
    ['Azure', 403, azure('10:00:00', '11:00:00')],
    ['Azure, without times', 403, xml('AuthenticationFailed', 'Signature not valid in the specified time frame')],
    ['S3', 403, xml('RequestExpired', 'Request has expired.')],
    [
      'Google',
      400,
      xml('ExpiredToken', 'Invalid argument.').replace(
        '</Error>',
        '<Details>Request signature expired at: 2024-06-01T11:00:00+00:00</Details></Error>',
      ),
    ],
  ])('suggests a new link if the link has expired: %s', async (_, status, body) => {
    await expect(openFrom(answerWith(status, body))).rejects.toMatchObject({
      code: 'link_expired',
      next: expect.stringMatching(/^Generate a new/),
    });
  });

  test('is searched for an expiry message only in its first 4 KiB', async () => {
    const body = `${' '.repeat(5000)}Request has expired`;
    await expect(openFrom(answerWith(403, body))).rejects.toMatchObject({ code: 'link_refused' });
  });

  test.each([408, 425, 429, 500, 502, 503, 504])('is a temporary error if the status is %i', async (status) => {
    await expect(openFrom(answerWith(status, ''))).rejects.toMatchObject({
      code: 'source_failed',
      fields: { status, retryable: true },
    });
  });

  test.each([
    ['7', 7000],
    [new Date(NOW + 90_000).toUTCString(), 90_000],
    [new Date(NOW - 90_000).toUTCString(), 0],
    ['presently', undefined],
  ])('sets the delay before a retry from Retry-After: %s', async (text, retryAfterMs) => {
    const failing = openFrom(answerWith(503, '', { 'retry-after': text }));
    const error = await failing.catch((reason: unknown) => reason);
    expect((error as { fields: Record<string, unknown> }).fields.retryAfterMs).toBe(retryAfterMs);
  });

  test('includes the error code of the server but never the query of the link, even if the server echoes the query', async () => {
    const echo = xml('SignatureDoesNotMatch', 'GET /b?sig=canary');
    const error = await openFrom(answerWith(403, echo), null, '/b?sig=canary').catch((reason: unknown) => reason);
    expect(error).toMatchObject({ fields: { serverCode: 'SignatureDoesNotMatch' } });
    expect(inspect(error, { depth: null, showHidden: true })).not.toContain('canary');
  });
});

describe('a bundle opened over HTTP', () => {
  test.each([
    // Node's servers write a string header as Latin-1: each character is one byte.
    ['UTF-8', Buffer.from('attachment; filename="büro-v1.2.3.zip"').toString('latin1'), 'büro-v1.2.3.zip'],
    ['Latin-1', 'attachment; filename="b\u00fcro-v1.2.3.zip"', 'büro-v1.2.3.zip'],
  ])('has the file name from the header Content-Disposition, encoded in %s', async (_, header, name) => {
    const bundle = await openFrom((__, response) =>
      response.writeHead(200, { 'content-disposition': header }).end('x'),
    );
    bundle.close();
    expect(bundle.fileName).toBe(name);
  });

  test('has no ETag if the server sends a weak ETag', async () => {
    const bundle = await openFrom(bundleAnswer(BUNDLE, 'W/"v1"'));
    bundle.close();
    expect(bundle.etag).toBe(null);
  });

  test.each(['gzip', 'x-gzip', 'zstd', 'aws-chunked', 'identity', 'aws-chunked, gzip'])(
    'is not decoded if the Content-Encoding of the response is %s',
    async (coding) => {
      const bundle = await openFrom(answerWith(200, 'as stored', { 'content-encoding': coding }));
      expect(await textOf(bundle)).toBe('as stored');
    },
  );

  test.each(['br', 'deflate', 'gzip, br'])(
    'is rejected with source_encoded if the response is encoded with %s',
    async (coding) => {
      await expect(openFrom(answerWith(200, 'coded', { 'content-encoding': coding }))).rejects.toMatchObject({
        code: 'source_encoded',
        fields: { retryable: false },
      });
    },
  );
});

describe('resuming a download', () => {
  const RESUME = { offset: 4, etag: '"v1"' };
  const range = (contentRange: string, body: string, headers = {}) =>
    answerWith(206, body, {
      'content-range': contentRange,
      'content-length': `${body.length}`,
      etag: '"v1"',
      ...headers,
    });
  /** The first response to a range, and the whole bundle for all other requests. */
  const rangeOnly = (partial: ReturnType<typeof answerWith>): RequestListener => {
    const whole = bundleAnswer(BUNDLE, '"v2"');
    return (request, response) =>
      request.headers.range === undefined ? whole(request, response) : partial(request, response);
  };

  test.each([
    ['416', answerWith(416, '')],
    ['a range with another start', range('bytes 3-9/10', '3456789')],
    ['a range with another end', range('bytes 4-8/10', '45678')],
    [
      'a chunked range with another end',
      answerWith(206, '45678', { 'content-range': 'bytes 4-8/10', 'transfer-encoding': 'chunked' }),
    ],
    ['a range with an unknown total', range('bytes 4-9/*', '456789')],
    ['a length that contradicts the range', range('bytes 4-9/10', '45')],
    ['no Content-Range', answerWith(206, '456789', { etag: '"v1"' })],
    ['another ETag', range('bytes 4-9/10', '456789', { etag: '"v3"' })],
  ])('requests the whole content again if the response is invalid: %s', async (_, partial) => {
    const bundle = await openFrom(rangeOnly(partial), RESUME);
    expect(bundle).toMatchObject({ offset: 0, totalBytes: 10, etag: '"v2"' });
    expect(await textOf(bundle)).toBe('0123456789');
  });

  test('reports an error response instead of starting over', async () => {
    await expect(openFrom(answerWith(403, 'Request has expired'), RESUME)).rejects.toMatchObject({
      code: 'link_expired',
    });
  });
});
