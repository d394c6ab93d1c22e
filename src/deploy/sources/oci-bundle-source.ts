import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { LINK_SCHEMES, type OciReference, parseOciReference } from '../../domain/bundle-link.ts';
import { bareHost } from '../../domain/egress.ts';
import { DocshelfError, type ErrorCode, errnoOf } from '../../domain/errors.ts';
import { Secret } from '../../domain/secret.ts';
import { jsonOf, membersOf } from '../../domain/shape.ts';
import { collect } from '../../files/index.ts';
import type { HttpClient } from '../../net/http-client.ts';
import type { HttpResponse } from '../../net/http-response.ts';
import { type BundleSource, cannotFetch, type OpenRequest } from '../ports.ts';
import { bundleFileName, retryFieldsOf } from './http-bundle-source.ts';

export function ociBundleSource(client: HttpClient, access: RegistryAccess): BundleSource {
  return {
    links: /^oci:/i,
    open: async (link, { resume, signal }) => {
      signal.throwIfAborted();
      const reference = parseOciReference(link.reveal());
      if (reference === null) throw notAReference(link);
      const registry = new RegistryClient(client, reference, access);
      const layer = await readManifest(registry, reference, signal);
      const { response, offset } = await openLayer(registry, layer, resume, signal);
      return {
        stream: response.stream(),
        offset,
        totalBytes: layer.sizeBytes,
        endIsCertain: true,
        etag: etagOf(layer),
        sha256: layer.digest.slice('sha256:'.length),
        fileName: fileNameOf(layer, reference),
        close: () => response.close(),
      };
    },
  };
}

async function readManifest(registry: RegistryClient, reference: OciReference, signal: AbortSignal): Promise<OciLayer> {
  const target = `manifests/${reference.digest ?? reference.tag}`;
  const response = await registry.get(target, { accept: MANIFEST_TYPES.join(', ') }, signal);
  const manifest = await collect(response.stream(), MANIFEST_BYTES_MAX);
  if (manifest === null) throw wrongContent(reference, 'its manifest is larger than the format allows');
  const found = `sha256:${hash('sha256', manifest)}`;
  if (reference.digest !== null && found !== reference.digest) {
    throw new DocshelfError(
      'wrong_digest',
      `Cannot use "${referenceText(reference)}": its manifest has digest ${found}`,
      {
        next: 'Check the registry and any proxy in front of it. The content that arrived is not the content of this digest.',
        fields: { expected: reference.digest, found, retryable: false },
      },
    );
  }
  return readBundleLayer(manifest.toString('utf8'), reference);
}

async function openLayer(
  registry: RegistryClient,
  layer: OciLayer,
  resume: OpenRequest['resume'],
  signal: AbortSignal,
): Promise<{ readonly response: HttpResponse; readonly offset: number }> {
  const target = `blobs/${layer.digest}`;
  if (resume !== null && resume.etag === etagOf(layer) && resume.offset < layer.sizeBytes) {
    const response = await registry.get(target, { range: `bytes=${resume.offset}-` }, signal);
    const range = `bytes ${resume.offset}-${layer.sizeBytes - 1}/${layer.sizeBytes}`;
    if (response.status === 206 && response.header('content-range') === range) {
      return { response, offset: resume.offset };
    }
    if (response.status === 200) return { response, offset: 0 };
    response.close();
  }
  return { response: await registry.get(target, {}, signal), offset: 0 };
}

const etagOf = (layer: OciLayer): string => `"${layer.digest}"`;

function fileNameOf({ title, extension }: OciLayer, { registry, repository, tag }: OciReference): string | null {
  if (title !== null) {
    const name = bundleFileName(null, [`https://${registry}/${encodeURIComponent(title)}`]);
    if (name !== null) return name;
  }
  const stem = repository.split('/').at(-1) ?? '';
  return `${tag === null ? stem : `${stem}-${tag}`}${extension}`;
}

interface OciLayer {
  readonly digest: string;
  readonly sizeBytes: number;
  readonly title: string | null;
  readonly extension: string;
}

const MANIFEST_TYPES = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
];
/** Maximum bytes of a manifest. Registries have the same limit ("Pushing Manifests" in the distribution specification). */
const MANIFEST_BYTES_MAX = 4 * 1024 ** 2;

/** Media types of archives: docshelf's own type (`application/vnd.docshelf.bundle.v1.tar+gzip`), image layers and plain archives. */
const ARCHIVE_TYPES: readonly [type: RegExp, extension: string][] = [
  [/[.+/](?:tar\+gzip|tar\.gzip|x-gtar|gzip|x-gzip)$/, '.tar.gz'],
  [/[.+/](?:tar\+zstd|zstd)$/, '.tar.zst'],
  [/[.+/](?:tar|x-tar)$/, '.tar'],
  [/[.+/](?:zip|x-zip-compressed)$/, '.zip'],
];

interface Descriptor {
  readonly mediaType?: unknown;
  readonly digest?: unknown;
  readonly size?: unknown;
  readonly annotations?: Readonly<Record<string, unknown>>;
}

/**
 * Finds the layer that contains the bundle.
 * @throws DocshelfError `source_failed` unless the manifest has exactly one layer that is an archive
 */
function readBundleLayer(text: string, reference: OciReference): OciLayer {
  const manifest = membersOf<{ readonly layers?: unknown; readonly manifests?: unknown }>(text);
  if (Object.keys(manifest).length === 0) throw wrongContent(reference, 'the registry returned no manifest');
  if (Array.isArray(manifest.manifests)) {
    throw wrongContent(reference, 'it is an image index, not an artifact of one layer');
  }
  const layers = (Array.isArray(manifest.layers) ? (manifest.layers as Descriptor[]) : []).flatMap((layer) => {
    const extension = extensionOf(layer?.mediaType);
    return extension === null ? [] : [{ layer, extension }];
  });
  const [only] = layers;
  if (only === undefined) throw wrongContent(reference, 'it has no layer that is an archive');
  if (layers.length > 1)
    throw wrongContent(reference, `it has ${layers.length} layers with archives, but must have one`);
  const { digest, size, annotations } = only.layer;
  if (typeof digest !== 'string' || !/^sha256:[0-9a-f]{64}$/.test(digest)) {
    throw wrongContent(reference, 'its layer has no SHA-256 digest');
  }
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) {
    throw wrongContent(reference, 'the size of its layer is missing');
  }
  const title = annotations?.['org.opencontainers.image.title'];
  return { digest, sizeBytes: size, title: typeof title === 'string' ? title : null, extension: only.extension };
}

function extensionOf(mediaType: unknown): string | null {
  if (typeof mediaType !== 'string') return null;
  return ARCHIVE_TYPES.find(([type]) => type.test(mediaType))?.[1] ?? null;
}

function referenceText({ registry, repository, tag, digest }: OciReference): string {
  return `oci://${registry}/${repository}${tag === null ? `@${digest}` : `:${tag}`}`;
}

function notAReference(link: Secret): DocshelfError {
  return cannotFetch(
    link,
    'source_failed',
    'it is not a link to an OCI artifact',
    `Write the link as ${LINK_SCHEMES.oci.form}.`,
  );
}

function wrongContent(reference: OciReference, state: string): DocshelfError {
  return new DocshelfError('source_failed', `Cannot use "${referenceText(reference)}": ${state}`, {
    next: 'Push the bundle as an artifact of one layer: "oras push registry/repository:tag bundle.tar.gz".',
    fields: { retryable: false },
  });
}

function registryRefusal(reference: OciReference, response: HttpResponse, hasCredentials: boolean) {
  const { status } = response;
  const passing = retryFieldsOf(response, Date.now());
  response.close();
  const shown = referenceText(reference);
  const refusal = (code: ErrorCode, state: string, next: string, more: object = {}): DocshelfError =>
    cannotFetch(shown, code, `${state} (${status})`, next, { status, ...more });
  if (status === 401 || status === 403) {
    return hasCredentials
      ? refusal(
          'link_refused',
          'the registry rejects the credentials',
          `Check the credentials in the file that network.registryAuthFile names. The user of these credentials must have the right to pull from this repository.`,
        )
      : refusal(
          'link_refused',
          'the registry requires credentials',
          `Put the credentials for "${reference.registry}" into a docker config.json, and set network.registryAuthFile to this file.`,
        );
  }
  if (status === 404) return refusal('bundle_not_found', 'the registry has no such artifact', 'Check the reference.');
  if (passing !== null) {
    return refusal('source_failed', 'the registry is unavailable', 'Try again later, or check the registry.', passing);
  }
  return refusal('source_failed', 'the registry returns an unexpected response', 'Check the reference.');
}

const TOKEN_BYTES_MAX = 256 * 1024;

interface RegistryAccess {
  /** Path of a docker config.json. Null sends no credentials. */
  readonly authFile: string | null;
  /** Hosts (`host` or `host:port`) of token services that may receive credentials, in addition to the registry. */
  readonly tokenHosts: readonly string[];
}

/**
 * Requests the parts of one bundle from a registry. Sends credentials only if the registry requires them, and reuses no token
 * for another bundle.
 */
class RegistryClient {
  readonly #client: HttpClient;
  readonly #reference: OciReference;
  readonly #access: RegistryAccess;
  #scheme: 'https' | 'http' = 'https';
  #authorization: string | null = null;
  #credentials: RegistryCredentials | null = null;

  constructor(client: HttpClient, reference: OciReference, access: RegistryAccess) {
    this.#client = client;
    this.#reference = reference;
    this.#access = access;
  }

  /**
   * @param path path in the repository, such as `manifests/v1` or `blobs/sha256:…`
   * @throws DocshelfError `link_refused`, `bundle_not_found`, `source_*`
   */
  async get(path: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<HttpResponse> {
    const ask = (): Promise<HttpResponse> => this.#ask(path, headers, signal);
    let response = await ask();
    if (response.status === 401 && this.#authorization === null) {
      this.#authorization = await this.#authorize(response, signal);
      if (this.#authorization !== null) response = await ask();
    }
    if (response.status === 200 || response.status === 206) return response;
    throw registryRefusal(this.#reference, response, this.#credentials !== null);
  }

  /** Sends one request. Uses plain HTTP for a registry on this machine that has no TLS, as docker does. */
  async #ask(path: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<HttpResponse> {
    const { registry, repository } = this.#reference;
    const own = this.#authorization === null ? {} : { authorization: this.#authorization };
    const get = (): Promise<HttpResponse> =>
      this.#client.get(`${this.#scheme}://${registry}/v2/${repository}/${path}`, {
        headers: { ...headers, ...own },
        signal,
      });
    try {
      return await get();
    } catch (error) {
      if (this.#scheme === 'http' || !isLoopback(registry) || !speaksNoTls(error)) throw error;
      this.#scheme = 'http';
      return get();
    }
  }

  /**
   * Value of the `Authorization` header for the registry's challenge. Null if no credentials match; the caller then reports
   * the rejection.
   */
  async #authorize(refusal: HttpResponse, signal: AbortSignal): Promise<string | null> {
    const challenges = parseChallenges(refusal.header('www-authenticate') ?? '');
    this.#credentials = await readCredentials(this.#access.authFile, this.#reference.registry);
    const bearer = challenges.find(({ scheme }) => scheme === 'bearer');
    if (bearer !== undefined) {
      refusal.close();
      return `Bearer ${await this.#fetchToken(bearer, signal)}`;
    }
    const asksBasic = challenges.some(({ scheme }) => scheme === 'basic');
    if (!asksBasic || this.#credentials === null) return null;
    refusal.close();
    return basic(this.#credentials);
  }

  async #fetchToken({ parameters }: Challenge, signal: AbortSignal): Promise<string> {
    const { realm = '', service } = parameters;
    const { repository, registry } = this.#reference;
    if (!URL.canParse(realm) || !mayGetSecrets(new URL(realm), registry)) {
      throw wrongContent(this.#reference, 'the registry redirects to an address that is not encrypted');
    }
    const url = new URL(realm);
    if (this.#credentials !== null && !this.#mayKnowCredentials(url)) throw strangeRealm(this.#reference, url);
    if (service !== undefined) url.searchParams.set('service', service);
    url.searchParams.set('scope', `repository:${repository}:pull`);
    const headers = this.#credentials === null ? {} : { authorization: basic(this.#credentials) };
    const response = await this.#client.get(url.href, { headers, signal });
    if (response.status !== 200) {
      throw registryRefusal(this.#reference, response, this.#credentials !== null);
    }
    const token = tokenIn(await response.text(TOKEN_BYTES_MAX));
    if (token === null) throw wrongContent(this.#reference, 'the registry returned no token');
    return token;
  }

  #mayKnowCredentials({ hostname, host }: URL): boolean {
    const { registry } = this.#reference;
    return (
      hostname === new URL(`https://${registry}`).hostname ||
      this.#access.tokenHosts.some((each) => [hostname, host].includes(each.toLowerCase()))
    );
  }
}

/** Error if the registry requests a sign-in at an unknown host, which can be an attacker's host that collects the password. */
function strangeRealm(reference: OciReference, { host }: URL): DocshelfError {
  const state = `it requests a sign-in at "${host}", which is another host`;
  const next = `If docshelf may send the registry's credentials to this host, add "${host}" to network.tokenHosts.`;
  return cannotFetch(referenceText(reference), 'link_refused', state, next);
}

function speaksNoTls(error: unknown): boolean {
  const { code } = ((error as Error).cause ?? {}) as { code?: string };
  return code === 'EPROTO' || /^ERR_SSL_(?:WRONG_VERSION|PACKET_LENGTH)/.test(code ?? '');
}

function isLoopback(registry: string): boolean {
  const host = bareHost(new URL(`http://${registry}`).hostname);
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

function mayGetSecrets({ protocol }: URL, registry: string): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(registry));
}

function basic({ user, password }: RegistryCredentials): string {
  return `Basic ${Buffer.from(`${user}:${password.reveal()}`).toString('base64')}`;
}

function tokenIn(text: string): string | null {
  const { token, access_token } = membersOf<{ token: string; access_token: string }>(text);
  const found = token ?? access_token;
  // Accept a token only if an Authorization header can carry all its characters.
  return typeof found === 'string' && /^[\x21-\x7e]{1,65536}$/.test(found) ? found : null;
}

/** Challenge in `WWW-Authenticate` (RFC 9110 section 11.6.1). The scheme and the parameter names are in lower case. */
interface Challenge {
  readonly scheme: string;
  readonly parameters: Readonly<Record<string, string>>;
}

const PIECE = /([\w!#$%&'*+.^`|~-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([\w!#$%&'*+.^`|~-]+)))?/g;
const CHARACTERS_MAX = 8192;

/** @param header value such as `Bearer realm="https://auth.example/token",service="registry", Basic realm="registry"` */
export function parseChallenges(header: string): Challenge[] {
  const challenges: { scheme: string; parameters: Record<string, string> }[] = [];
  for (const [, word = '', quoted, plain] of header.slice(0, CHARACTERS_MAX).matchAll(PIECE)) {
    const value = quoted?.replace(/\\(.)/g, '$1') ?? plain;
    const current = challenges.at(-1);
    if (value === undefined) challenges.push({ scheme: word.toLowerCase(), parameters: {} });
    else if (current !== undefined) current.parameters[word.toLowerCase()] = value;
  }
  return challenges;
}

interface RegistryCredentials {
  readonly user: string;
  readonly password: Secret;
}

/** Format of `docker login` and of a Kubernetes Secret of type kubernetes.io/dockerconfigjson. */
interface DockerConfig {
  readonly auths?: Readonly<
    Record<string, { readonly auth?: unknown; readonly username?: unknown; readonly password?: unknown }>
  >;
}

/** Reads the credentials file on each call, because an operator may rotate the credentials. @throws DocshelfError `cannot_read` */
async function readCredentials(file: string | null, registry: string): Promise<RegistryCredentials | null> {
  if (file === null) return null;
  const { auths = {} } = await readConfig(file);
  const entry = Object.entries(auths).find(([name]) => hostOf(name) === registry)?.[1];
  if (entry === undefined) return null;
  if (typeof entry.username === 'string' && typeof entry.password === 'string') {
    return { user: entry.username, password: new Secret(entry.password) };
  }
  if (typeof entry.auth !== 'string') return null;
  const [, user, password] = /^([^:]*):(.*)$/s.exec(Buffer.from(entry.auth, 'base64').toString('utf8')) ?? [];
  if (user === undefined || password === undefined) {
    throw cannotRead(file, `its entry for ${registry} is not a user and password in base64`, null);
  }
  return { user, password: new Secret(password.replace(/\0+$/, '')) };
}

/** Returns the host of an entry in a docker config.json. @param name host, or a link such as `https://registry.example/v2/` */
function hostOf(name: string): string {
  return name
    .replace(/^https?:\/\//, '')
    .replace(/\/.*$/, '')
    .toLowerCase();
}

async function readConfig(file: string): Promise<DockerConfig> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw cannotRead(file, errnoOf(error) ?? 'failed', error);
  });
  const config = jsonOf(text);
  // Omit the cause from the error, because the message of the JSON parser quotes the credentials file.
  if (config === undefined) throw cannotRead(file, 'it is not JSON', null);
  return config as DockerConfig;
}

function cannotRead(file: string, state: string, cause: unknown): DocshelfError {
  return new DocshelfError('cannot_read', `Cannot read the credentials in "${file}": ${state}`, {
    next: `Set network.registryAuthFile to a docker config.json such as {"auths": {"registry.example": {"auth": "…"}}}.`,
    fields: { retryable: false },
    ...(cause === null ? {} : { cause }),
  });
}
