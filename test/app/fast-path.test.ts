import { mkdirSync, writeFileSync } from 'node:fs';
import { get as getPlain } from 'node:http';
import { get as getTls } from 'node:https';
import { join } from 'node:path';
import bcrypt from 'bcryptjs';
import { afterEach, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import { startDaemon } from '../../src/app/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { SiteServer } from '../../src/site/index.ts';
import { gz, rawTar } from '../helpers/archives.ts';
import { makeCertificate } from '../helpers/certificates.ts';
import { withDefaults } from '../helpers/daemon.ts';
import { newFolder } from '../helpers/new-folder.ts';
import { waitFor } from '../helpers/wait-for.ts';
import { openHttp2, requestHttp2 } from '../http/tls/tls-client.ts';

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
  vi.restoreAllMocks();
});

const PAGE = `<!doctype html><title>Page</title><body>${'<p>all work and no play</p>'.repeat(100)}</body>`;

interface Mode {
  readonly config?: Readonly<Record<string, unknown>>;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly isHttp2?: boolean;
  readonly isList?: boolean;
}

const TLS = { tls: { certFile: 'tls.crt', keyFile: 'tls.key' } };
const MODES: Readonly<Record<string, Mode>> = {
  'one site': {},
  'one site with deployment.domain': { config: { deployment: { domain: 'acme' } } },
  'a list of sites': { isList: true },
  'a base path': { config: { server: { basePath: '/docs/' } }, path: '/docs/page.html' },
  'TLS and HTTP/1': { config: { server: TLS } },
  'TLS and HTTP/2': { config: { server: TLS }, isHttp2: true },
  'a sign-in by a header': {
    config: { server: { auth: { kind: 'header', name: 'X-User' }, trustedProxies: ['127.0.0.1'] } },
    headers: { 'X-User': 'reader' },
  },
  'the search box': { config: { search: { enabled: true, widget: true } } },
  'kept versions and their switcher': {
    config: { staticExport: { serveVersions: 'kept' }, server: { versionSwitcher: true } },
  },
  'a sign-in by passwords': {
    config: { server: { auth: { kind: 'basic', usersFile: 'users' } } },
    headers: { Authorization: `Basic ${Buffer.from('reader:secret').toString('base64')}` },
  },
  enforcement: { config: { features: { enforce: 'on' } } },
  'the access log': { config: { log: { access: true } } },
};

it.each(Object.entries(MODES))(
  'the daemon serves a cached page from memory (fastAnswer) in each configuration: %s',
  async (_, mode) => {
    const folder = newFolder();
    const bundles = mode.isList ? 'bundles/acme' : 'bundles';
    mkdirSync(join(folder, bundles), { recursive: true });
    const archive = gz(
      rawTar([
        { name: 'index.html', body: PAGE },
        { name: 'page.html', body: PAGE },
      ]),
    );
    writeFileSync(join(folder, bundles, 'docs-1.0.tar.gz'), archive);
    writeFileSync(join(folder, bundles, 'docs-0.9.tar.gz'), archive);
    const { cert, key } = makeCertificate({ names: ['127.0.0.1'] });
    writeFileSync(join(folder, 'tls.crt'), cert);
    writeFileSync(join(folder, 'tls.key'), key);
    writeFileSync(join(folder, 'users'), `reader:${bcrypt.hashSync('secret', 4)}\n`);
    const { staticExport, ...rest } = (mode.config ?? {}) as Record<string, object>;
    const config = withDefaults({
      search: { enabled: false },
      storage: { dir: './data' },
      ...rest,
      ...(mode.isList
        ? {
            staticExport: null,
            sites: [
              { domain: 'acme', hosts: ['127.0.0.1'], staticExport: { enabled: true, preload: './bundles/acme' } },
            ],
          }
        : { staticExport: { preload: './bundles', ...staticExport } }),
    });
    const file = join(folder, 'config.yaml');
    writeFileSync(file, stringify(config));
    const sources = { file, env: {}, cwd: folder };
    const { daemon } = await startDaemon({
      loaded: await loadConfig(sources),
      sources,
      onProgress: () => undefined,
      programVersion: '0',
    });
    opened.push(() => daemon.stop());

    const plain = vi.spyOn(SiteServer.prototype, 'fastAnswer');
    const url = new URL(mode.path ?? '/page.html', daemon.siteUrl);
    const client = mode.isHttp2 ? openHttp2(Number(url.port)) : null;
    opened.push(() => client?.destroy());
    const send = async (): Promise<number> => {
      if (client !== null) return (await requestHttp2(client, { path: url.pathname })).status;
      const get = url.protocol === 'https:' ? getTls : getPlain;
      return new Promise((resolve, reject) => {
        get(url, { headers: mode.headers ?? {}, rejectUnauthorized: false } as object, (answer) => {
          answer.resume().once('end', () => resolve(answer.statusCode ?? 0));
        }).on('error', reject);
      });
    };
    await waitFor(
      async () => ((await send()) === 200 ? true : null),
      () => 'the page is not served',
    );
    // Send requests first, because only later responses come from memory.
    await send();
    plain.mockClear();
    expect([await send(), await send()]).toEqual([200, 200]);
    expect(plain.mock.results.filter(({ value }) => value !== null)).toHaveLength(2);
  },
);
