import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { fetchBundle } from '../../../src/deploy/fetch/fetch.ts';
import type { BundleSource } from '../../../src/deploy/ports.ts';
import { s3BundleSource } from '../../../src/deploy/sources/s3-bundle-source.ts';
import type { S3Place } from '../../../src/domain/egress.ts';
import type { DocshelfError } from '../../../src/domain/errors.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { BUCKET, KEY, putObject, startS3Server } from '../../export/stores/s3-server.ts';
import { checkPresigned } from '../../export/stores/sigv4.ts';
import { type Answer, breakOffOnceStored, httpServer } from '../../helpers/local-server.ts';
import { newFolder } from '../../helpers/new-folder.ts';
import { type ClientSettings, httpClientOf } from '../../net/http-client-of.ts';
import { roleCredentials, useWebIdentity } from '../../net/web-identity.ts';

const NEVER = new AbortController().signal;
const HOUR_MS = 3600_000;
const LINK = new Secret(`s3://${BUCKET}/docs/acme-export-2024-06-01.tar.gz`);
const TOOLS = { sleep: async () => {}, random: () => 0 };

let dir: string;
beforeEach(async () => {
  dir = newFolder();
  for (const name of ['AWS_SESSION_TOKEN', 'AWS_WEB_IDENTITY_TOKEN_FILE', 'AWS_REGION', 'AWS_DEFAULT_REGION']) {
    vi.stubEnv(name, undefined);
  }
  vi.stubEnv('AWS_CONFIG_FILE', join(dir, 'none'));
  useKeys(KEY, KEY);
});

function useKeys(id: string, secret: string): void {
  vi.stubEnv('AWS_ACCESS_KEY_ID', id);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', secret);
}

interface Settings {
  readonly place?: Partial<S3Place>;
  readonly client?: ClientSettings;
  readonly now?: () => number;
}

function sourceAt(endpoint: string | null, { place, client, now }: Settings = {}): BundleSource {
  return s3BundleSource(httpClientOf(client), { region: 'eu-1', endpoint, pathStyle: true, ...place }, now);
}

const store = async (answer: Answer): Promise<string> => (await httpServer(answer)).origin;

const errorOf = async (source: BundleSource, link = LINK): Promise<DocshelfError> =>
  source.open(link, { resume: null, signal: NEVER }).then(
    () => expect.fail('opened'),
    (reason) => reason,
  );

const refuse = (response: ServerResponse, status: number, code: string, headers: object = {}): void => {
  const body = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>of ${KEY}-canary</Message></Error>`;
  response.writeHead(status, { 'content-type': 'application/xml', ...headers }).end(body);
};

describe('s3BundleSource(), with a store that verifies signatures,', () => {
  const strict = async (): Promise<string> => {
    const server = await startS3Server();
    onTestFinished(server.close);
    await putObject(server.endpoint, 'a.tar.gz', randomBytes(1000));
    return server.endpoint;
  };
  const link = new Secret(`s3://${BUCKET}/a.tar.gz`);

  it('reports a wrong secret, and a key that the store does not know', async () => {
    const endpoint = await strict();
    const keys = [
      [KEY, 'wrong', 'SignatureDoesNotMatch'],
      ['AKIDOTHER', KEY, 'InvalidAccessKeyId'],
    ] as const;
    for (const [id, secret, serverCode] of keys) {
      useKeys(id, secret);
      expect(await errorOf(sourceAt(endpoint), link)).toMatchObject({
        code: 'link_refused',
        message: `Cannot fetch "s3://${BUCKET}/a.tar.gz": the store does not accept the credentials (403 ${serverCode})`,
        next: expect.stringContaining('AWS_ACCESS_KEY_ID'),
        fields: { retryable: false, serverCode },
      });
    }
  });

  it('reports whether the bucket or the object is missing', async () => {
    const endpoint = await strict();
    const missing = await errorOf(sourceAt(endpoint), new Secret(`s3://${BUCKET}/b.tar.gz`));
    expect(missing).toMatchObject({ code: 'bundle_not_found', message: expect.stringContaining('no such object') });
    const bucket = await errorOf(sourceAt(endpoint), new Secret('s3://none/a.tar.gz'));
    expect(bucket).toMatchObject({
      code: 'bundle_not_found',
      message: expect.stringContaining('the bucket does not exist'),
    });
  });

  it('signs again with the time of the store if the local clock is two hours behind', async () => {
    const endpoint = await strict();
    const source = sourceAt(endpoint, { now: () => Date.now() - 2 * HOUR_MS });
    const bundle = await source.open(link, { resume: null, signal: NEVER });
    expect(bundle.totalBytes).toBe(1000);
    bundle.close();
  });
});

describe('s3BundleSource()', () => {
  it('contacts the Amazon host of the bucket, and signs with SigV4', async () => {
    vi.stubEnv('AWS_REGION', 'eu-central-1');
    const client = { allowedHosts: ['other.dev'] };
    const place = { region: null, pathStyle: false };
    expect(await errorOf(sourceAt(null, { place, client }))).toMatchObject({
      code: 'host_not_allowed',
      fields: { host: `${BUCKET}.s3.eu-central-1.amazonaws.com` },
    });
    const requests: string[] = [];
    const origin = await store((request, response) => {
      requests.push(`http://${request.headers.host}${request.url}`);
      response.end('x');
    });
    useKeys('AKID', 'secret/canary+x');
    const nowMs = Date.now();
    const bundle = await sourceAt(origin, { now: () => nowMs }).open(LINK, { resume: null, signal: NEVER });
    bundle.close();
    expect(checkPresigned('GET', requests[0] ?? '', 'secret/canary+x', nowMs)).toBe('valid');
    expect(requests[0]).not.toContain('canary');
  });

  it('contacts the store and STS through the proxy', async () => {
    const requests: string[] = [];
    const proxy = await store((request, response) => {
      requests.push(`${request.method} ${request.url?.split('?')[0]}`);
      response.end(request.method === 'GET' ? 'bundle' : roleCredentials());
    });
    useWebIdentity('http://sts.invalid');
    const through = (allowedHosts: string[]) => sourceAt('http://s3.invalid', { client: { proxy, allowedHosts } });
    expect(await errorOf(through(['s3.invalid']))).toMatchObject({ code: 'host_not_allowed' });
    expect(requests).toEqual([]);
    const bundle = await through(['s3.invalid', 'sts.invalid']).open(LINK, { resume: null, signal: NEVER });
    bundle.close();
    expect(requests).toEqual([
      'POST http://sts.invalid/',
      `GET http://s3.invalid/${BUCKET}/docs/acme-export-2024-06-01.tar.gz`,
    ]);
  });

  it('resumes an unchanged object, and starts over if the object was replaced', async () => {
    const [first, second] = [randomBytes(300_000), randomBytes(200_000)];
    for (const [next, nextTag] of [
      [first, '"one"'],
      [second, '"two"'],
    ] as const) {
      const ranges: (string | undefined)[] = [];
      // Amazon does not document If-Range: the response is a range of the current object.
      const origin = await store(async (request, response) => {
        ranges.push(request.headers.range);
        if (ranges.length === 1) {
          response.writeHead(200, { 'content-length': first.length, etag: '"one"' });
          response.write(first.subarray(0, 100_000));
          await breakOffOnceStored(response, 100_000, dir);
          return;
        }
        const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
        const range = { 'content-range': `bytes ${from}-${next.length - 1}/${next.length}` };
        const rest = next.subarray(from);
        response
          .writeHead(from === 0 ? 200 : 206, { 'content-length': rest.length, etag: nextTag, ...(from && range) })
          .end(rest);
      });
      const bundleFile = join(dir, 'whole');
      await fetchBundle(
        [sourceAt(origin)],
        {
          link: LINK,
          sha256: null,
          spoolDir: dir,
          bundleFile,
          bundleBytesMax: 1_000_000,
          retriesMax: 3,
          signal: NEVER,
        },
        TOOLS,
      );
      expect((await readFile(bundleFile)).equals(next)).toBe(true);
      expect(ranges[1]).toMatch(/^bytes=\d+-$/);
      expect(ranges).toHaveLength(next === first ? 2 : 3);
    }
  });

  it.each<[number, string, string, RegExp, RegExp]>([
    [403, 'AccessDenied', 'link_refused', /denies access/, /s3:ListBucket/],
    [403, 'ExpiredToken', 'link_refused', /credentials/, /AWS_ROLE_ARN/],
    [403, 'RequestTimeTooSkewed', 'link_refused', /clock/, /15 minutes/],
    [403, 'InvalidObjectState', 'source_failed', /archive class/, /Restore/],
    [400, 'AuthorizationHeaderMalformed', 'source_failed', /another region/, /network\.s3\.region to "eu-north-1"/],
    [301, 'PermanentRedirect', 'source_failed', /another region/, /network\.s3\.region to "eu-north-1"/],
    [400, 'InvalidRequest', 'source_failed', /unexpected response/, /network\.s3\.endpoint/],
  ])('explains the response %i %s, and prints no credentials', async (status, serverCode, code, sentence, next) => {
    useKeys('AKIDCANARY', 'secret/canary+x');
    const headers = { 'x-amz-bucket-region': 'eu-north-1' };
    const origin = await store((_, response) => refuse(response, status, serverCode, headers));
    const error = await errorOf(sourceAt(origin));
    expect(error).toMatchObject({
      code,
      message: expect.stringMatching(sentence),
      next: expect.stringMatching(next),
      fields: { status, serverCode, retryable: false },
    });
    expect(inspect(error, { depth: 20, showHidden: true })).not.toMatch(/canary/i);
  });

  it.each(['Request has expired', 'Request is not yet valid'])(
    'suggests checking the clock if S3 responds with "%s"',
    async (message) => {
      const body = `<Error><Code>AccessDenied</Code><Message>${message}</Message></Error>`;
      const origin = await store((_, response) => response.writeHead(403).end(body));
      expect(await errorOf(sourceAt(origin))).toMatchObject({
        code: 'link_refused',
        next: expect.stringMatching(/clock/),
      });
    },
  );

  it.each([
    [503, 'SlowDown', { 'retry-after': '7' }, 7000],
    [500, 'InternalError', {}, undefined],
    [429, 'TooManyRequests', {}, undefined],
  ])('reports a temporary error for the response %i %s', async (status, serverCode, headers, retryAfterMs) => {
    const origin = await store((_, response) => refuse(response, status, serverCode, headers));
    const { code, fields } = await errorOf(sourceAt(origin));
    expect(code).toBe('source_failed');
    expect(fields).toMatchObject({ retryable: true, serverCode });
    expect(fields.retryAfterMs).toBe(retryAfterMs);
  });

  it('names the missing region, or the missing credentials and their environment variable', async () => {
    const place = { region: null, pathStyle: false };
    expect(await errorOf(sourceAt(null, { place }))).toMatchObject({
      next: expect.stringContaining('network.s3.region'),
    });
    useKeys('', '');
    expect(await errorOf(sourceAt('http://127.0.0.1:9'))).toMatchObject({
      code: 'link_refused',
      message: expect.stringContaining('no credentials'),
      next: expect.stringContaining('AWS_WEB_IDENTITY_TOKEN_FILE'),
    });
  });
});
