import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash, createPrivateKey, sign, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { stringify } from 'yaml';
import { freePort } from './free-ports.ts';
import { httpServer, type LocalServer } from './local-server.ts';

/** Real registry (Debian's docker-registry) with each kind of authentication. */

const TLS = join(import.meta.dirname, '../fixtures/tls');
export const CERTIFICATE = join(TLS, 'certificate.pem');
export const USER = 'reader';
export const PASSWORD = 'hidden-word';
/** bcrypt hash of that password. */
const HTPASSWD = `${USER}:$2b$05$abcdefghijklmnopqrstuubffnHHWEefL.V5LI.1Ci2pzO69f1oq6\n`;
const SERVICE = 'registry.test';
const ISSUER = 'auth.test';

export const HAS_REGISTRY = spawnSync('docker-registry', ['--version']).error === undefined;

export interface RegistryOptions {
  readonly tls: boolean;
  readonly auth: 'none' | 'basic' | 'token';
}

export interface Pushed {
  /** Digest of the manifest, `sha256:…`. */
  readonly digest: string;
  readonly layerDigest: string;
}

export interface LayerSpec {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
  readonly title?: string;
}

export class Registry {
  /** `127.0.0.1:port` */
  readonly host: string;
  readonly folder: string;
  readonly #options: RegistryOptions;
  readonly #child: ChildProcess;
  readonly #tokens: LocalServer | null;
  // Pushing is only preparation, so any certificate is accepted.
  readonly #agent = new Agent({ connect: { rejectUnauthorized: false } });

  private constructor(
    host: string,
    folder: string,
    options: RegistryOptions,
    child: ChildProcess,
    tokens: LocalServer | null,
  ) {
    this.host = host;
    this.folder = folder;
    this.#options = options;
    this.#child = child;
    this.#tokens = tokens;
  }

  static async start(options: RegistryOptions): Promise<Registry> {
    const folder = await mkdtemp(join(tmpdir(), 'docshelf-registry-'));
    const host = `127.0.0.1:${await freePort()}`;
    const tokens = options.auth === 'token' ? await tokenServer() : null;
    await writeFile(join(folder, 'htpasswd'), HTPASSWD);
    const auth = {
      none: {},
      basic: { auth: { htpasswd: { realm: 'docs', path: join(folder, 'htpasswd') } } },
      token: {
        auth: {
          token: { realm: `${tokens?.origin}/token`, service: SERVICE, issuer: ISSUER, rootcertbundle: CERTIFICATE },
        },
      },
    }[options.auth];
    const http = {
      addr: host,
      ...(options.tls ? { tls: { certificate: CERTIFICATE, key: join(TLS, 'key.pem') } } : {}),
    };
    const storage = { filesystem: { rootdirectory: join(folder, 'storage') } };
    await writeFile(
      join(folder, 'config.yml'),
      stringify({ version: 0.1, log: { level: 'error' }, storage, http, ...auth }),
    );
    const child = spawn('docker-registry', ['serve', join(folder, 'config.yml')], { stdio: 'ignore' });
    const registry = new Registry(host, folder, options, child, tokens);
    await registry.#listening();
    return registry;
  }

  /** Pushes layers as one artifact, like `oras push`. */
  async push(repository: string, tag: string, layers: readonly LayerSpec[]): Promise<Pushed> {
    const config = await this.#pushBlob(repository, Buffer.from('{}'));
    const pushed = [];
    for (const { bytes, mediaType, title } of layers) {
      const annotations = title === undefined ? {} : { annotations: { 'org.opencontainers.image.title': title } };
      pushed.push({ mediaType, ...(await this.#pushBlob(repository, bytes)), ...annotations });
    }
    const mediaType = 'application/vnd.oci.image.manifest.v1+json';
    const manifest = JSON.stringify({
      schemaVersion: 2,
      mediaType,
      config: { mediaType: 'application/vnd.oci.empty.v1+json', ...config },
      layers: pushed,
    });
    await this.#call('PUT', `/v2/${repository}/manifests/${tag}`, repository, Buffer.from(manifest), {
      'content-type': mediaType,
    });
    return { digest: digestOf(manifest), layerDigest: pushed[0]?.digest ?? '' };
  }

  /** File in which the registry stores a blob. */
  blobFile(digest: string): string {
    const hex = digest.slice('sha256:'.length);
    return join(this.folder, 'storage/docker/registry/v2/blobs/sha256', hex.slice(0, 2), hex, 'data');
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('close', resolve));
    this.#child.kill('SIGKILL');
    await ended;
    await Promise.all([this.#agent.close(), this.#tokens?.close(), rm(this.folder, { recursive: true, force: true })]);
  }

  async #pushBlob(repository: string, bytes: Uint8Array): Promise<{ digest: string; size: number }> {
    const digest = digestOf(bytes);
    const { headers } = await this.#call('POST', `/v2/${repository}/blobs/uploads/`, repository, null, {});
    const upload = new URL(String(headers.location), this.#origin);
    upload.searchParams.set('digest', digest);
    await this.#call('PUT', upload.pathname + upload.search, repository, bytes, {
      'content-type': 'application/octet-stream',
    });
    return { digest, size: bytes.length };
  }

  async #call(
    method: 'POST' | 'PUT',
    path: string,
    repository: string,
    body: Uint8Array | null,
    headers: Record<string, string>,
  ) {
    const authorization = {
      none: {},
      basic: { authorization: `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString('base64')}` },
      token: { authorization: `Bearer ${tokenFor(repository, ['pull', 'push'])}` },
    }[this.#options.auth];
    const answer = await request(this.#origin + path, {
      method,
      body,
      headers: { ...headers, ...authorization },
      dispatcher: this.#agent,
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`);
    return answer;
  }

  get #origin(): string {
    return `${this.#options.tls ? 'https' : 'http'}://${this.host}`;
  }

  async #listening(): Promise<void> {
    for (let tries = 0; tries < 300; tries += 1) {
      const answer = await request(`${this.#origin}/v2/`, { dispatcher: this.#agent }).catch(() => null);
      await answer?.body.dump();
      if (answer !== null) return;
      await sleep(50);
    }
    throw new Error('the registry does not listen');
  }
}

/** Server that returns tokens for requests with the correct password (`Authorization: Basic`). */
async function tokenServer(): Promise<LocalServer> {
  return httpServer((incoming, response) => {
    const expected = `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString('base64')}`;
    const query = new URL(incoming.url ?? '', 'http://localhost').searchParams;
    const repository = /^repository:(.+):pull$/.exec(query.get('scope') ?? '')?.[1];
    if (incoming.headers.authorization !== expected || repository === undefined || query.get('service') !== SERVICE) {
      response.writeHead(401).end();
      return;
    }
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ token: tokenFor(repository, ['pull']) }));
  });
}

/** JSON Web Token for the registry's token authentication, signed with the key of its certificate. */
function tokenFor(repository: string, actions: readonly string[]): string {
  const nowSeconds = Math.floor(Date.now() / 1000);
  const certificate = new X509Certificate(readFileSync(CERTIFICATE));
  const header = { typ: 'JWT', alg: 'ES256', x5c: [certificate.raw.toString('base64')] };
  const claims = {
    iss: ISSUER,
    sub: USER,
    aud: SERVICE,
    iat: nowSeconds,
    nbf: nowSeconds - 60,
    exp: nowSeconds + 300,
    jti: '1',
    access: [{ type: 'repository', name: repository, actions }],
  };
  const message = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  const key = createPrivateKey(readFileSync(join(TLS, 'key.pem')));
  return `${message}.${sign('sha256', Buffer.from(message), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}

function digestOf(bytes: Uint8Array | string): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}
