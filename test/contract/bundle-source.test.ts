import { createHash, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { BundleSource, OpenedBundle } from '../../src/deploy/ports.ts';
import { fileBundleSource } from '../../src/deploy/sources/file-bundle-source.ts';
import { httpBundleSource } from '../../src/deploy/sources/http-bundle-source.ts';
import { ociBundleSource } from '../../src/deploy/sources/oci-bundle-source.ts';
import { s3BundleSource } from '../../src/deploy/sources/s3-bundle-source.ts';
import { LINK_SCHEMES } from '../../src/domain/bundle-link.ts';
import { DocshelfError } from '../../src/domain/errors.ts';
import { Secret } from '../../src/domain/secret.ts';
import { BUCKET, KEY, putObject, startS3Server } from '../export/stores/s3-server.ts';
import { onFileEnd } from '../helpers/file-end.ts';
import { bundleAnswer, httpServer } from '../helpers/local-server.ts';
import { newFolder } from '../helpers/new-folder.ts';
import { httpClientOf } from '../net/http-client-of.ts';

/** Contract of each BundleSource (src/deploy/ports.ts), for all schemes. */
interface Subject {
  readonly source: BundleSource;
  /** Link to `BUNDLE`, with the name `acme-export-2024-06-01.tar.gz`. */
  readonly link: Secret;
  /** Link without a file. */
  readonly deadLink: Secret;
  readonly foreignLink: Secret;
  readonly environment?: Readonly<Record<string, string>>;
}

const NAME = 'acme-export-2024-06-01.tar.gz';
const BUNDLE = randomBytes(1024 * 1024);
const NEVER = new AbortController().signal;

async function httpSubject(): Promise<Subject> {
  const answer = bundleAnswer(BUNDLE, '"v1"');
  const server = await httpServer((request, response) => {
    if (request.url?.startsWith(`/${NAME}?`)) answer(request, response);
    else response.writeHead(404).end();
  });
  return {
    source: httpBundleSource(httpClientOf()),
    link: new Secret(`${server.origin}/${NAME}?sig=1`),
    deadLink: new Secret(`${server.origin}/missing.zip?sig=1`),
    foreignLink: new Secret('file:///a.zip'),
  };
}

async function fileSubject(): Promise<Subject> {
  const folder = newFolder();
  await writeFile(join(folder, NAME), BUNDLE);
  return {
    source: fileBundleSource([folder]),
    link: new Secret(pathToFileURL(join(folder, NAME)).href),
    deadLink: new Secret(pathToFileURL(join(folder, 'missing.zip')).href),
    foreignLink: new Secret('https://docs.invalid/a.zip'),
  };
}

/** A registry with the minimum that the distribution specification requires. */
async function ociSubject(): Promise<Subject> {
  const digest = `sha256:${createHash('sha256').update(BUNDLE).digest('hex')}`;
  const annotations = { 'org.opencontainers.image.title': NAME };
  const layer = { mediaType: 'application/gzip', digest, size: BUNDLE.length, annotations };
  const manifest = JSON.stringify({ schemaVersion: 2, layers: [layer] });
  const server = await httpServer((request, response) => {
    if (request.url === '/v2/acme/manifests/v1') response.end(manifest);
    else if (request.url === `/v2/acme/blobs/${digest}`) answerRanges(request, response);
    else response.writeHead(404).end();
  });
  return {
    source: ociBundleSource(httpClientOf(), { authFile: null, tokenHosts: [] }),
    link: new Secret(`oci://${server.host}/acme:v1`),
    deadLink: new Secret(`oci://${server.host}/acme:v2`),
    foreignLink: new Secret('https://docs.invalid/a.zip'),
  };
}

/** Credentials from the environment, and a store that checks signatures. */
async function s3Subject(): Promise<Subject> {
  const server = await startS3Server();
  onFileEnd(server.close);
  await putObject(server.endpoint, `docs/ä b+c/${NAME}`, BUNDLE);
  return {
    source: s3BundleSource(httpClientOf(), { region: null, endpoint: server.endpoint, pathStyle: true }),
    link: new Secret(`s3://${BUCKET}/docs/ä b+c/${NAME}`),
    deadLink: new Secret(`s3://${BUCKET}/docs/missing.zip`),
    foreignLink: new Secret('https://docs.invalid/a.zip'),
    environment: { AWS_ACCESS_KEY_ID: KEY, AWS_SECRET_ACCESS_KEY: KEY, AWS_SESSION_TOKEN: '' },
  };
}

/** Ranges without a validator, because content with a digest in its name cannot change. */
function answerRanges(request: IncomingMessage, response: ServerResponse): void {
  const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
  const rest = BUNDLE.subarray(from);
  const range = { 'content-range': `bytes ${from}-${BUNDLE.length - 1}/${BUNDLE.length}` };
  response.writeHead(from === 0 ? 200 : 206, { 'content-length': rest.length, ...(from === 0 ? {} : range) }).end(rest);
}

type Scheme = keyof typeof LINK_SCHEMES;

const SUBJECTS: Readonly<Record<Scheme, () => Promise<Subject>>> = {
  // The source is the same. Only the client, which has its own tests, distinguishes the two schemes.
  https: httpSubject,
  http: httpSubject,
  file: fileSubject,
  oci: ociSubject,
  s3: s3Subject,
};

describe.each(Object.keys(LINK_SCHEMES) as Scheme[])('bundle source of %s links', (scheme) => {
  let subject: Subject;
  beforeAll(async () => {
    subject = await SUBJECTS[scheme]();
  });
  beforeEach(() => {
    for (const [name, value] of Object.entries(subject.environment ?? {})) vi.stubEnv(name, value);
  });

  const bytesOf = async (bundle: OpenedBundle): Promise<Buffer> => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of bundle.stream) chunks.push(chunk);
    return Buffer.concat(chunks);
  };

  test('supports only links of its scheme', () => {
    expect(subject.link.reveal()).toMatch(subject.source.links);
    expect(subject.foreignLink.reveal()).not.toMatch(subject.source.links);
  });

  test('returns the whole bundle, with its length and name', async () => {
    const bundle = await subject.source.open(subject.link, { resume: null, signal: NEVER });
    expect(bundle).toMatchObject({ offset: 0, totalBytes: BUNDLE.length, endIsCertain: true, fileName: NAME });
    expect((await bytesOf(bundle)).equals(BUNDLE)).toBe(true);
    bundle.close();
  });

  test('returns the missing bytes or all bytes if a download of unchanged content is resumed', async () => {
    const first = await subject.source.open(subject.link, { resume: null, signal: NEVER });
    first.close();
    const resume = { offset: 1000, etag: first.etag ?? '"none"' };
    const bundle = await subject.source.open(subject.link, { resume, signal: NEVER });
    expect([0, 1000]).toContain(bundle.offset);
    expect(bundle.totalBytes).toBe(BUNDLE.length);
    expect((await bytesOf(bundle)).equals(BUNDLE.subarray(bundle.offset))).toBe(true);
  });

  test('returns all bytes if a download is resumed but the content has changed', async () => {
    const resume = { offset: 1000, etag: '"v0"' };
    const bundle = await subject.source.open(subject.link, { resume, signal: NEVER });
    expect(bundle.offset).toBe(0);
    expect((await bytesOf(bundle)).equals(BUNDLE)).toBe(true);
  });

  test('reports a dead link as an error that must not be retried', async () => {
    const error = await subject.source
      .open(subject.deadLink, { resume: null, signal: NEVER })
      .catch((reason) => reason);
    expect(error).toBeInstanceOf(DocshelfError);
    expect(error).toMatchObject({ fields: { retryable: false }, next: expect.any(String) });
  });

  test('rejects with the reason of the signal if it is aborted, both in open() and in the stream', async () => {
    const reason = new Error('enough');
    const request = { resume: null, signal: AbortSignal.abort(reason) };
    await expect(subject.source.open(subject.link, request)).rejects.toBe(reason);

    const abort = new AbortController();
    const bundle = await subject.source.open(subject.link, { resume: null, signal: abort.signal });
    const reading = (async () => {
      for await (const _chunk of bundle.stream) abort.abort(reason);
    })();
    await expect(reading).rejects.toBe(reason);
  });

  test('returns a bundle whose close() may be called before the bundle is read, and several times', async () => {
    const bundle = await subject.source.open(subject.link, { resume: null, signal: NEVER });
    bundle.close();
    expect(() => bundle.close()).not.toThrow();
  });
});
