import { hash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import type { S3BundleStore, S3BundleStoreOptions } from '../../../src/export/stores/s3-bundle-store.ts';
import { PART_BYTES } from '../../../src/export/stores/s3-objects.ts';
import { EgressPolicy } from '../../../src/net/egress.ts';
import { makeCertificate } from '../../helpers/certificates.ts';
import { httpServer, tcpServer, tlsServer } from '../../helpers/local-server.ts';
import { newFolder } from '../../helpers/new-folder.ts';
import { egressRulesOf } from '../../net/http-client-of.ts';
import { roleCredentials, useWebIdentity } from '../../net/web-identity.ts';
import { packedBundle } from './packed-bundle.ts';
import { BUCKET, s3StoreAt } from './s3-server.ts';
import { checkPresigned } from './sigv4.ts';

const NEVER = new AbortController().signal;
const HOUR_MS = 3600_000;
const SHA256 = 'ab'.repeat(32);
const NAME = 'acme-export-2024-06-01.tar.gz';
const CREDENTIALS = { accessKeyId: new Secret('AKIDCANARY'), secretAccessKey: new Secret('secret/canary+x') };

let dir: string;
beforeEach(async () => {
  dir = newFolder();
});

const storeAt = (endpoint: string, options: Partial<S3BundleStoreOptions> = {}): S3BundleStore =>
  s3StoreAt(endpoint, { credentials: CREDENTIALS, ...options });

interface Call {
  /** `PUT /bundles/x.tar.gz?partNumber=1`, without the id of the upload. */
  readonly name: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** A service with responses from the test. It records each call after its body has arrived. */
async function service(
  answer: (call: Call, response: ServerResponse) => void,
): Promise<{ origin: string; calls: Call[] }> {
  const calls: Call[] = [];
  const { origin } = await httpServer(async (request, response) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      // The client has disconnected.
      return;
    }
    const url = new URL(request.url ?? '/', 'http://x');
    for (const name of ['uploadId', 'x-id']) url.searchParams.delete(name);
    const name = `${request.method} ${url.pathname}${url.search}`;
    const call = { name, headers: request.headers, body: Buffer.concat(chunks) };
    calls.push(call);
    answer(call, response);
  });
  return { origin, calls };
}

const refuse = (response: ServerResponse, status: number, code: string): void => {
  const body = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>of AKIDCANARY</Message><AWSAccessKeyId>AKIDCANARY</AWSAccessKeyId><StringToSign>secret/canary+x</StringToSign></Error>`;
  response.writeHead(status, { 'content-type': 'application/xml' }).end(body);
};

/** Responds to a multipart upload like S3, and to HEAD with 404. */
function receive({ name, headers }: Call, response: ServerResponse): void {
  const [method = '', path = ''] = name.split(' ');
  if (method === 'HEAD') response.writeHead(404).end();
  else if (method === 'GET') response.end('<R></R>');
  else if (path.endsWith('?uploads=')) response.end('<R><UploadId>u1</UploadId></R>');
  else if (method === 'POST') response.end('<R><ETag>"whole"</ETag></R>');
  else if (method === 'DELETE') response.writeHead(204).end();
  else {
    const checksum = headers['x-amz-checksum-sha256'];
    response.writeHead(200, { etag: '"e"', ...(checksum ? { 'x-amz-checksum-sha256': checksum } : {}) }).end();
  }
}

describe('S3BundleStore.link()', () => {
  const NOW_MS = Date.parse('2024-06-01T12:00:00.250Z');
  const secret = CREDENTIALS.secretAccessKey.reveal();
  const nowMs = () => NOW_MS;

  it.each([
    ['path-style', { endpoint: 'https://s3.example:9000', pathStyle: true }, 'https://s3.example:9000/bundles/'],
    ['virtual-host', { endpoint: 'https://s3.example', pathStyle: false }, 'https://bundles.s3.example/'],
    ['Amazon', { endpoint: null, pathStyle: false }, 'https://bundles.s3.eu-central-1.amazonaws.com/'],
    [
      'a bucket with dots at an address',
      { endpoint: 'http://127.0.0.1:9000', pathStyle: false, bucket: 'docs.acme.dev' },
      'http://127.0.0.1:9000/docs.acme.dev/',
    ],
  ])('returns a link with a valid SigV4 signature for %s', async (_, options: Partial<S3BundleStoreOptions>, base) => {
    const store = storeAt('', { ...options, nowMs });
    const { url, expiresAt } = await store.link({ sha256: SHA256, fileName: NAME }, HOUR_MS);
    expect(url.split('?')[0]).toBe(`${base}${SHA256}.tar.gz`);
    expect(checkPresigned('GET', url, secret, NOW_MS)).toBe('valid');
    expect(checkPresigned('GET', url, secret, expiresAt.getTime() - 1)).toBe('valid');
    expect(checkPresigned('GET', url, secret, expiresAt.getTime())).toBe('expired');
    expect(expiresAt.getTime()).toBeGreaterThanOrEqual(NOW_MS + HOUR_MS);
    const { searchParams } = new URL(url);
    expect(searchParams.get('response-content-type')).toBe('application/gzip');
    expect(searchParams.get('response-content-disposition')).toBe(`attachment; filename=${NAME}`);
  });

  it.each([
    ['a b/c+d', `größe "€" 'x' (1)*!.tar.gz`],
    ['/äß/~_-./', 'a%2Fb&c=d;e?f#g.tar.gz'],
    ['50%/=&', 'plain.tar.gz'],
  ])(
    'returns a validly signed link for special characters in the prefix %s and the file name %s',
    async (prefix, fileName) => {
      const store = storeAt('http://127.0.0.1:9000', { prefix, nowMs });
      const { url } = await store.link({ sha256: SHA256, fileName }, HOUR_MS);
      expect(checkPresigned('GET', url, secret, NOW_MS)).toBe('valid');
      const key = `${prefix.replace(/^\/|\/$/g, '')}/${SHA256}.tar.gz`;
      expect(decodeURIComponent(new URL(url).pathname)).toBe(`/${BUCKET}/${key}`);
    },
  );

  it('signs a link with the configured secret, for one object and GET only', async () => {
    const { url } = await storeAt('http://127.0.0.1:9000', { nowMs }).link({ sha256: SHA256, fileName: NAME }, HOUR_MS);
    expect(checkPresigned('HEAD', url, secret, NOW_MS)).toBe('wrong signature');
    expect(checkPresigned('GET', url, `${secret}x`, NOW_MS)).toBe('wrong signature');
    expect(checkPresigned('GET', url.replace('abab', 'abac'), secret, NOW_MS)).toBe('wrong signature');
    expect(url).not.toContain('canary');
  });

  it('returns a link that expires together with the credentials that sign the link', async () => {
    const end = new Date(Math.floor(Date.now() / 1000) * 1000 + HOUR_MS / 2);
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDROLE');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'of-the-role');
    vi.stubEnv('AWS_SESSION_TOKEN', 'token/of+the=role');
    vi.stubEnv('AWS_CREDENTIAL_EXPIRATION', end.toISOString());
    const store = storeAt('http://127.0.0.1:9000', { credentials: null, policy: new EgressPolicy(egressRulesOf()) });
    const { url, expiresAt } = await store.link({ sha256: SHA256, fileName: NAME }, HOUR_MS);
    expect(expiresAt).toEqual(end);
    expect(checkPresigned('GET', url, 'of-the-role', Date.now())).toBe('valid');
    expect(new URL(url).searchParams.get('X-Amz-Security-Token')).toBe('token/of+the=role');
  });

  describe('without configured credentials', () => {
    const link = (allowedHosts: string[]) => {
      const policy = new EgressPolicy(egressRulesOf({ allowedHosts })).forStore(() => null);
      const store = storeAt('http://127.0.0.1:9000', { credentials: null, policy });
      return store.link({ sha256: SHA256, fileName: NAME }, HOUR_MS);
    };

    it('uses credentials from the environment, and never calls a metadata service', async () => {
      const machine = await service((_, response) => {
        const until = new Date(Date.now() + HOUR_MS).toISOString();
        response.end(JSON.stringify({ AccessKeyId: 'M', SecretAccessKey: 'm', Token: 't', Expiration: until }));
      });
      for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_WEB_IDENTITY_TOKEN_FILE'])
        vi.stubEnv(name, '');
      vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', `${machine.origin}/`);
      vi.stubEnv('AWS_EC2_METADATA_SERVICE_ENDPOINT', machine.origin);
      vi.stubEnv('AWS_DEFAULTS_MODE', 'auto');
      const storeCode = 'CredentialsProviderError';
      for (const hosts of [[], ['127.0.0.1:9000']]) {
        await expect(link(hosts)).rejects.toMatchObject({ code: 'store_failed', fields: { storeCode } });
      }
      expect(machine.calls).toEqual([]);
      vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDENV');
      vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'of-the-environment');
      expect(checkPresigned('GET', (await link([])).url, 'of-the-environment', Date.now())).toBe('valid');
    });

    it('assumes a role with a web identity from STS if the egress policy allows the host of STS', async () => {
      const sts = await service((_, response) => response.end(roleCredentials()));
      useWebIdentity(sts.origin);
      await expect(link(['127.0.0.1:9000'])).rejects.toMatchObject({
        message: expect.stringContaining('docshelf may not contact the host of the store'),
      });
      expect(sts.calls).toEqual([]);
      const { url } = await link([new URL(sts.origin).host]);
      expect(checkPresigned('GET', url, 'of-the-role', Date.now())).toBe('valid');
      expect(sts.calls[0]?.body.toString()).toContain('WebIdentityToken=header.claims.signature');
    });
  });
});

describe('S3BundleStore.put()', () => {
  it('sends a small bundle in one request, with checksum and digest', async () => {
    const { origin, calls } = await service(receive);
    const bytes = randomBytes(1000);
    const bundle = await packedBundle(dir, bytes);
    await storeAt(origin).put(bundle, NEVER);
    const path = `/${BUCKET}/${bundle.sha256}.tar.gz`;
    expect(calls.map(({ name }) => name)).toEqual([`HEAD ${path}`, `PUT ${path}`]);
    expect(calls[1]?.body.equals(bytes)).toBe(true);
    expect(calls[1]?.headers).toMatchObject({
      'content-type': 'application/gzip',
      'x-amz-checksum-sha256': hash('sha256', bytes, 'base64'),
      'x-amz-meta-sha256': bundle.sha256,
    });
  });

  it('sends a large bundle in parts, each with a checksum', async () => {
    const { origin, calls } = await service(receive);
    const bytes = randomBytes(5 * PART_BYTES + 1);
    const bundle = await packedBundle(dir, bytes);
    await storeAt(origin).put(bundle, NEVER);
    const path = `/${BUCKET}/${bundle.sha256}.tar.gz`;
    expect(calls[2]?.name).toBe(`POST ${path}?uploads=`);
    expect(calls[2]?.headers).toMatchObject({
      'x-amz-meta-sha256': bundle.sha256,
      'x-amz-checksum-algorithm': 'SHA256',
    });
    const parts = calls.slice(3, -1).sort((a, b) => (a.name < b.name ? -1 : 1));
    expect(parts.map(({ name }) => name)).toEqual([1, 2, 3, 4, 5, 6].map((part) => `PUT ${path}?partNumber=${part}`));
    expect(Buffer.concat(parts.map(({ body }) => body)).equals(bytes)).toBe(true);
    for (const { headers, body } of parts) {
      expect(headers['x-amz-checksum-sha256']).toBe(hash('sha256', body, 'base64'));
    }
    const completion = calls.at(-1)?.body.toString() ?? '';
    expect([...completion.matchAll(/<PartNumber>(\d)</g)].map(([, part]) => part).join('')).toBe('123456');
    expect(completion.match(/<ChecksumSHA256>/g)).toHaveLength(6);
  });

  it('sends an existing bundle again only if its content differs', async () => {
    const bundle = await packedBundle(dir, randomBytes(1000));
    let kept: Record<string, string | number> = { 'content-length': 1000, 'x-amz-meta-sha256': bundle.sha256 };
    const { origin, calls } = await service((call, response) => {
      if (call.name.startsWith('HEAD')) response.writeHead(200, kept).end();
      else receive(call, response);
    });
    const store = storeAt(origin);
    await store.put(bundle, NEVER);
    expect(calls).toHaveLength(1);
    for (const other of [{ 'content-length': 999 }, { 'x-amz-meta-sha256': SHA256 }]) {
      kept = { 'content-length': 1000, 'x-amz-meta-sha256': bundle.sha256, ...other };
      calls.length = 0;
      await store.put(bundle, NEVER);
      expect(calls.map(({ name }) => name.split(' ')[0])).toEqual(['HEAD', 'PUT']);
    }
  });

  it.each<[string, (call: Call) => boolean]>([
    ['a part', ({ name }) => name.endsWith('partNumber=2')],
    ['the completion', ({ name }) => name.startsWith('POST') && !name.endsWith('uploads=')],
  ])('aborts the upload if the store rejects %s', async (_, isRefused) => {
    const { origin, calls } = await service((call, response) => {
      if (isRefused(call)) refuse(response, 400, 'BadDigest');
      else receive(call, response);
    });
    const bundle = await packedBundle(dir, randomBytes(PART_BYTES + 1));
    await expect(storeAt(origin).put(bundle, NEVER)).rejects.toMatchObject({
      code: 'store_failed',
      fields: { storeCode: 'BadDigest', retryable: true },
    });
    expect(calls.filter(({ name }) => name.startsWith('DELETE'))).toHaveLength(1);
  });

  it('aborts the upload instead of completing it if the bytes of the file have changed since their digest was computed', async () => {
    const { origin, calls } = await service(receive);
    const bundle = await packedBundle(dir, randomBytes(2 * PART_BYTES));
    await writeFile(bundle.file, randomBytes(2 * PART_BYTES));
    await expect(storeAt(origin).put(bundle, NEVER)).rejects.toMatchObject({ code: 'store_failed' });
    const methods = calls.map(({ name }) => name.split(' ')[0]);
    expect(methods.filter((method) => method === 'POST')).toHaveLength(1);
    expect(methods.at(-1)).toBe('DELETE');
  });

  it('sends no further parts and aborts the multipart upload if its signal is aborted', async () => {
    const abort = new AbortController();
    const reason = new Error('enough');
    const { origin, calls } = await service((call, response) => {
      // Parts get no response.
      if (call.name.includes('partNumber')) abort.abort(reason);
      else receive(call, response);
    });
    const bundle = await packedBundle(dir, randomBytes(6 * PART_BYTES));
    await expect(storeAt(origin).put(bundle, abort.signal)).rejects.toBe(reason);
    expect(calls.filter(({ name }) => name.includes('partNumber')).length).toBeLessThanOrEqual(4);
    expect(calls.filter(({ name }) => name.startsWith('POST'))).toHaveLength(1);
    expect(calls.filter(({ name }) => name.startsWith('DELETE'))).toHaveLength(1);
  });

  it('treats an upload as complete if only the response to CompleteMultipartUpload is lost', async () => {
    const bundle = await packedBundle(dir, randomBytes(PART_BYTES + 1));
    let isComplete = false;
    const { origin } = await service((call, response) => {
      if (call.name.startsWith('POST') && !call.name.endsWith('uploads=')) {
        if (isComplete) refuse(response, 404, 'NoSuchUpload');
        else response.destroy();
        isComplete = true;
      } else if (call.name.startsWith('HEAD') && isComplete) {
        response.writeHead(200, { 'content-length': bundle.sizeBytes, 'x-amz-meta-sha256': bundle.sha256 }).end();
      } else receive(call, response);
    });
    await expect(storeAt(origin).put(bundle, NEVER)).resolves.toBeUndefined();
  });

  it('sends no checksums to a store that does not support them', async () => {
    const { origin, calls } = await service((call, response) => receive({ ...call, headers: {} }, response));
    await storeAt(origin).put(await packedBundle(dir, randomBytes(PART_BYTES + 1)), NEVER);
    expect(calls.at(-1)?.body.toString()).toContain('<PartNumber>2<');
    expect(calls.at(-1)?.body.toString()).not.toContain('Checksum');
  });
});

describe('S3BundleStore.put() of a large bundle', () => {
  const partOf = ({ name }: Call): number => Number(/partNumber=(\d+)$/.exec(name)?.[1] ?? 0);
  const partsSent = (calls: readonly Call[]): number[] => calls.map(partOf).filter((number) => number > 0);

  it('retries when the store responds with SlowDown, and sends no received part twice', async () => {
    let slow = 6;
    const { origin, calls } = await service((call, response) => {
      if (partOf(call) === 2 && slow > 0) {
        slow -= 1;
        refuse(response, 503, 'SlowDown');
      } else receive(call, response);
    });
    await storeAt(origin).put(await packedBundle(dir, randomBytes(2 * PART_BYTES + 1)), NEVER);
    expect(partsSent(calls).sort().join('')).toBe('122222223');
    expect(calls.filter(({ name }) => /^POST .*uploads=/.test(name))).toHaveLength(1);
    expect(calls.filter(({ name }) => name.startsWith('DELETE'))).toEqual([]);
  });

  /** A store with an unfinished upload of a killed process. */
  const withParts =
    (bundle: { readonly sha256: string }, parts: string, initiated: Date) => (call: Call, response: ServerResponse) => {
      const key = `${bundle.sha256}.tar.gz`;
      if (/^GET .*[?&]uploads=/.test(call.name)) {
        const upload = `<Upload><Key>${key}</Key><UploadId>u0</UploadId><Initiated>${initiated.toISOString()}</Initiated></Upload>`;
        const other = upload.replace(key, `${key}.other`).replace('u0', 'u9');
        response.end(`<ListMultipartUploadsResult>${other}${upload}</ListMultipartUploadsResult>`);
      } else if (call.name.startsWith('GET')) response.end(`<ListPartsResult>${parts}</ListPartsResult>`);
      else receive(call, response);
    };
  const BYTES = randomBytes(3 * PART_BYTES);
  const piece = (part: number): Buffer => BYTES.subarray((part - 1) * PART_BYTES, part * PART_BYTES);
  const listed = (part: number, words: string): string => `<Part><PartNumber>${part}</PartNumber>${words}</Part>`;
  const checksummed = (part: number, bytes: Buffer): string =>
    listed(part, `<ETag>"e${part}"</ETag><ChecksumSHA256>${hash('sha256', bytes, 'base64')}</ChecksumSHA256>`);

  it('resumes with the parts that a killed process has sent, if the bytes of these parts match', async () => {
    const bundle = await packedBundle(dir, BYTES);
    const parts =
      checksummed(1, piece(1)) + checksummed(2, piece(1)) + listed(3, `<ETag>"${hash('md5', piece(3))}"</ETag>`);
    const { origin, calls } = await service(withParts(bundle, parts, new Date()));
    await storeAt(origin).put(bundle, NEVER);
    expect(partsSent(calls)).toEqual([2]);
    expect(calls.some(({ name }) => /^POST .*uploads=/.test(name))).toBe(false);
    const completion = calls.at(-1)?.body.toString() ?? '';
    expect([...completion.matchAll(/<PartNumber>(\d)</g)].map(([, part]) => part).join('')).toBe('123');
    expect(completion).toContain('e1');
  });

  it('starts a new upload if the unfinished upload is older than a day or cannot be listed', async () => {
    const bundle = await packedBundle(dir, BYTES);
    const old = withParts(bundle, checksummed(1, piece(1)), new Date(Date.now() - 25 * HOUR_MS));
    const denied = (call: Call, response: ServerResponse): void => {
      if (call.name.startsWith('GET')) refuse(response, 403, 'AccessDenied');
      else receive(call, response);
    };
    for (const answer of [old, denied]) {
      const { origin, calls } = await service(answer);
      await storeAt(origin).put(bundle, NEVER);
      expect(partsSent(calls).sort()).toEqual([1, 2, 3]);
    }
  });

  it('starts a new upload if another process has ended the unfinished upload', async () => {
    let uploads = 0;
    const { origin, calls } = await service((call, response) => {
      if (call.name.startsWith('POST') && call.name.endsWith('uploads=')) uploads += 1;
      if (partOf(call) === 2 && uploads === 1) refuse(response, 404, 'NoSuchUpload');
      else receive(call, response);
    });
    await storeAt(origin).put(await packedBundle(dir, BYTES), NEVER);
    expect(uploads).toBe(2);
    expect(partsSent(calls).filter((part) => part === 1)).toHaveLength(2);
  });
});

describe('S3BundleStore with a clock two hours behind', () => {
  it('uses the time of the store for requests and links', async () => {
    const storeNowMs = () => Date.now() + 2 * HOUR_MS;
    const skewed: string[] = [];
    const { origin } = await service((call, response) => {
      response.setHeader('date', new Date(storeNowMs()).toUTCString());
      const [, year, month, day, hour, minute] =
        /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)/.exec(String(call.headers['x-amz-date'])) ?? [];
      const sentMs = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:00Z`);
      if (Math.abs(storeNowMs() - sentMs) > 15 * 60_000) {
        skewed.push(call.name);
        if (call.name.startsWith('HEAD')) response.writeHead(403).end();
        else refuse(response, 403, 'RequestTimeTooSkewed');
      } else receive(call, response);
    });
    const store = storeAt(origin);
    const bundle = await packedBundle(dir, randomBytes(10));
    await store.put(bundle, NEVER);
    expect(skewed).toHaveLength(1);
    const { url, expiresAt } = await store.link({ sha256: bundle.sha256, fileName: NAME }, HOUR_MS);
    expect(checkPresigned('GET', url, CREDENTIALS.secretAccessKey.reveal(), storeNowMs())).toBe('valid');
    expect(expiresAt.getTime()).toBeGreaterThan(storeNowMs() + HOUR_MS / 2);
  });
});

describe('S3BundleStore with encryption', () => {
  const KEY_ARN = 'arn:aws:kms:eu-central-1:123456789012:key/abc';
  it.each([
    [null, undefined, undefined],
    [{ algorithm: 'AES256', kmsKeyId: null }, 'AES256', undefined],
    [{ algorithm: 'aws:kms', kmsKeyId: null }, 'aws:kms', undefined],
    [{ algorithm: 'aws:kms', kmsKeyId: KEY_ARN }, 'aws:kms', KEY_ARN],
  ] as const)('requests encryption %o only when it creates an object', async (encryption, algorithm, key) => {
    for (const length of [10, PART_BYTES + 1]) {
      const { origin, calls } = await service(receive);
      await storeAt(origin, { encryption }).put(await packedBundle(dir, randomBytes(length)), NEVER);
      for (const { name, headers } of calls) {
        const begins = name.endsWith('?uploads=') ? name.startsWith('POST') : /^PUT [^?]+$/.test(name);
        expect(headers['x-amz-server-side-encryption'], name).toBe(begins ? algorithm : undefined);
        expect(headers['x-amz-server-side-encryption-aws-kms-key-id'], name).toBe(begins ? key : undefined);
      }
    }
  });
});

describe('S3BundleStore in a bucket with versions', () => {
  it('treats an object with a delete marker as missing, and stores the bundle again', async () => {
    const bundle = await packedBundle(dir, randomBytes(10));
    // Delete marker of a DELETE without a version.
    let isMarked = false;
    const { origin, calls } = await service((call, response) => {
      const marker = { 'x-amz-delete-marker': 'true', 'x-amz-version-id': 'v2' };
      if (call.name.startsWith('DELETE')) {
        isMarked = true;
        response.writeHead(204, marker).end();
      } else if (isMarked && call.name.startsWith('HEAD')) response.writeHead(404, marker).end();
      else if (isMarked && call.name.startsWith('GET')) refuse(response, 404, 'NoSuchKey');
      else if (call.name.startsWith('HEAD')) {
        response.writeHead(200, { 'content-length': 10, 'x-amz-meta-sha256': bundle.sha256 }).end();
      } else receive(call, response);
    });
    const store = storeAt(origin);
    expect(await store.has(bundle.sha256)).toBe(true);
    await store.remove(bundle.sha256);
    expect(await store.has(bundle.sha256)).toBe(false);
    await expect(store.read(bundle.sha256, NEVER)).rejects.toMatchObject({ code: 'bundle_gone' });
    await store.put(bundle, NEVER);
    expect(calls.at(-1)?.name).toMatch(/^PUT/);
    expect(calls.find(({ name }) => name.startsWith('DELETE'))?.name).not.toContain('versionId');
  });
});

describe('S3BundleStore when the store fails', () => {
  it.each<[number, string, boolean, RegExp]>([
    [403, 'AccessDenied', false, /denies access/],
    [403, 'InvalidAccessKeyId', false, /credentials/],
    [403, 'SignatureDoesNotMatch', false, /credentials/],
    [403, 'RequestTimeTooSkewed', false, /clock/],
    [404, 'NoSuchBucket', false, /the bucket does not exist/],
    [400, 'AuthorizationHeaderMalformed', false, /region/],
    [400, 'XAmzContentSHA256Mismatch', true, /other bytes/],
    [400, 'KMS.DisabledException', false, /its KMS key/],
    [400, 'EntityTooLarge', false, /400/],
    [507, 'XMinioStorageFull', true, /507/],
  ])(
    'explains the response %i %s in an error that contains no credentials',
    async (status, code, retryable, sentence) => {
      const { origin } = await service((call, response) => {
        if (call.name.startsWith('HEAD')) response.writeHead(404).end();
        else refuse(response, status, code);
      });
      const bundle = await packedBundle(dir, randomBytes(10));
      const error = await storeAt(origin)
        .put(bundle, NEVER)
        .catch((reason) => reason);
      expect(error).toMatchObject({
        code: 'store_failed',
        message: expect.stringMatching(sentence),
        next: expect.any(String),
        fields: { storeCode: code, storeStatus: status, retryable },
      });
      expect(inspect(error, { depth: 20, showHidden: true })).not.toMatch(/canary/i);
    },
  );

  it.each([
    [403, false],
    [301, false],
    [400, false],
    [503, true],
  ])('states in the error for a response %i without a body whether a retry can succeed', async (status, retryable) => {
    const { origin } = await service((_, response) => response.writeHead(status).end());
    await expect(storeAt(origin).has(SHA256)).rejects.toMatchObject({
      code: 'store_failed',
      fields: { storeStatus: status, retryable },
    });
  });

  it('states in the error that the connection was refused', async () => {
    const server = await tcpServer(() => {});
    await server.close();
    const error = await storeAt(server.origin)
      .has(SHA256)
      .catch((reason) => reason);
    expect(error).toMatchObject({ code: 'store_failed', message: expect.stringContaining('ECONNREFUSED') });
  });

  it('rejects with store_failed if the response is not from S3', async () => {
    const { origin } = await service((_, response) => response.writeHead(403).end('<html>no</html>'));
    const bundle = await packedBundle(dir, randomBytes(10));
    await expect(storeAt(origin).put(bundle, NEVER)).rejects.toMatchObject({ code: 'store_failed' });
    await expect(storeAt(origin).remove(SHA256)).rejects.toMatchObject({ code: 'store_failed' });
  });

  it('names the config key of the region in the error if the region is unknown', async () => {
    for (const name of ['AWS_REGION', 'AWS_DEFAULT_REGION']) vi.stubEnv(name, undefined);
    vi.stubEnv('AWS_CONFIG_FILE', join(dir, 'none'));
    const store = storeAt('', { endpoint: null, region: null });
    await expect(store.link({ sha256: SHA256, fileName: NAME }, HOUR_MS)).rejects.toMatchObject({
      code: 'store_failed',
      next: expect.stringContaining('exportApi.store.region'),
    });
  });
});

describe('S3BundleStore over TLS', () => {
  const TLS = new URL('../../fixtures/tls/', import.meta.url);
  const trusting = (caFile: string) => new EgressPolicy(egressRulesOf()).forStore(() => caFile);
  const caFile = fileURLToPath(new URL('certificate.pem', TLS));
  const tls = { cert: readFileSync(caFile, 'utf8'), key: readFileSync(new URL('key.pem', TLS), 'utf8') };

  it('trusts only certificates of caFile', async () => {
    const { origin } = await tlsServer(tls, (_, response) => response.writeHead(404).end());
    expect(await storeAt(origin, { policy: trusting(caFile) }).has(SHA256)).toBe(false);
    await expect(storeAt(origin).has(SHA256)).rejects.toMatchObject({
      code: 'store_failed',
      next: expect.stringContaining('exportApi.store.caFile'),
    });
  });

  it('uses a new caFile of the config, and reads a caFile again if its content changes', async () => {
    const { origin } = await tlsServer(tls, (_, response) => response.writeHead(404).end());
    const other = join(dir, 'other.pem');
    await writeFile(other, makeCertificate({ names: ['other.dev'] }).cert);
    let named = other;
    const store = storeAt(origin, { policy: new EgressPolicy(egressRulesOf()).forStore(() => named) });
    await expect(store.has(SHA256)).rejects.toMatchObject({ code: 'store_failed' });
    named = caFile;
    expect(await store.has(SHA256)).toBe(false);
    named = other;
    await writeFile(other, tls.cert);
    const later = storeAt(origin, { policy: new EgressPolicy(egressRulesOf()).forStore(() => named) });
    expect(await later.has(SHA256)).toBe(false);
  });

  it('throws an error if caFile is missing or contains no certificate', async () => {
    const none = join(dir, 'none.pem');
    expect(() => storeAt('https://127.0.0.1', { policy: trusting(none) })).toThrow(
      expect.objectContaining({ code: 'cannot_read' }),
    );
    await writeFile(none, 'no certificate');
    expect(() => storeAt('https://127.0.0.1', { policy: trusting(none) })).toThrow(
      expect.objectContaining({ code: 'config_invalid' }),
    );
  });
});
