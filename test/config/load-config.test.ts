import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { archiveLimits, bundleLink, s3Slice } from '../../src/app/slices.ts';
import { isReduced, loadConfig } from '../../src/config/index.ts';
import { exitCodeOf } from '../../src/domain/errors.ts';
import { ARCHIVE_LIMITS } from '../../src/domain/limits.ts';
import { Secret } from '../../src/domain/secret.ts';
import { briefsOf, errorOf, faultsOf, folderWith, load } from './folder.ts';

const LINK = 'https://bundles.example.com/a.tar.gz?signature=canary';

/** The config without the settings that are null or empty. */
function setIn(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const set = Object.entries(value).map(([key, each]) => [key, setIn(each)]);
  const isSet = (each: unknown) => each !== null && !isDeepStrictEqual(each, []);
  return Object.fromEntries(set.filter(([, each]) => isSet(each) && !isDeepStrictEqual(each, {})));
}

describe('loadConfig() without a config file', () => {
  it('returns the documented defaults', async () => {
    const cwd = await folderWith();
    const { config, file, origins, watchedFiles } = await loadConfig({ file: null, env: {}, cwd });
    expect(file).toBeNull();
    expect(watchedFiles).toEqual([]);
    expect(origins.size).toBe(0);
    expect(archiveLimits(config)).toEqual(ARCHIVE_LIMITS);
    expect(config.staticExport.limits.bundleBytesMax).toBe(8 * 1024 ** 3);
    expect(bundleLink(config)).toBeNull();
    expect(s3Slice(config)).toBeNull();
    const tls = { http2: true };
    expect(setIn(config)).toEqual({
      deployment: { type: 'client-hosted' },
      staticExport: {
        enabled: false,
        preload: { dir: join(cwd, 'bundles'), mayBeMissing: true },
        keep: 3,
        serveVersions: 'pinned',
        from: 'link',
        limits: expect.anything(),
      },
      server: {
        host: '0.0.0.0',
        port: 8080,
        basePath: '/',
        trailingSlash: 'auto',
        spaFallback: false,
        headers: { preset: 'recommended' },
        auth: { kind: 'none', groupsClaim: 'groups', sessionTtlMs: 43_200_000 },
        cacheBytes: 134_217_728,
        shutdownTimeoutMs: 20_000,
        readyAfterMs: 300_000,
        shelf: true,
        markdown: true,
        versionSwitcher: false,
        tls,
      },
      admin: { host: '127.0.0.1', port: 9090, tls },
      api: { host: '127.0.0.1', port: 8081, tls },
      storage: { dir: join(cwd, 'data') },
      deploy: { parallel: 2 },
      network: {
        allowPrivate: true,
        proxy: 'env',
        s3: { pathStyle: false },
        connectTimeoutMs: 10_000,
        idleTimeoutMs: 30_000,
        totalTimeoutMs: 1_800_000,
        retries: 4,
        redirectsMax: 5,
      },
      search: { enabled: true, widget: false, mcp: false, memory: 402_653_184, model: 'builtin' },
      exportApi: {
        enabled: false,
        role: 'both',
        concurrency: 1,
        queuedMax: 100,
        deadlineMs: 3_600_000,
        linkTtlMs: 3_600_000,
        retentionMs: 'none',
        browser: { sandbox: 'auto', tabs: 4, pageTimeoutMs: 30_000, verify: 'auto' },
        store: { kind: 'disk', pathStyle: false, encryption: 'bucket' },
        queue: { leaseMs: 15_000 },
      },
      rateLimits: { onFault: 'open' },
      metrics: { sites: 200 },
      log: { level: 'info', format: 'auto', access: true, queries: false },
    });
  });

  it('returns the same defaults as for an empty file, for comments only, and for empty sections', async () => {
    const empty = await folderWith();
    const { config: defaults } = await loadConfig({ file: null, env: {}, cwd: empty });
    for (const yaml of ['', '# nothing\n', '---\n', 'staticExport:\nfeatures:\n  search:\n']) {
      const { config, cwd } = await load(yaml);
      expect(JSON.stringify(config).replaceAll(cwd, empty)).toBe(JSON.stringify(defaults));
    }
  });
});

describe('loadConfig()', () => {
  it('reads the file of --config, else of DOCSHELF_CONFIG, else ./config.yaml', async () => {
    const cwd = await folderWith({
      'config.yaml': 'server: { port: 1 }',
      'other/b.yaml': 'server: { port: 2 }',
      'c.yaml': 'server: { port: 3 }',
    });
    const env = { DOCSHELF_CONFIG: 'other/b.yaml' };
    const byDefault = await loadConfig({ file: null, env: {}, cwd });
    const byEnvironment = await loadConfig({ file: null, env, cwd });
    const byFlag = await loadConfig({ file: 'c.yaml', env, cwd });
    expect([byDefault, byEnvironment, byFlag].map(({ config }) => config.server.port)).toEqual([1, 2, 3]);
    expect(byEnvironment.file).toBe(join(cwd, 'other/b.yaml'));
    expect(byEnvironment.watchedFiles).toEqual([join(cwd, 'other/b.yaml')]);
    expect(byEnvironment.origins.get('server.port')).toBe('other/b.yaml:1:11');
  });

  it('rejects a named file that is missing, a folder, too large or not UTF-8', async () => {
    const cwd = await folderWith({
      'large.yaml': `#${'x'.repeat(1024 ** 2)}`,
      'latin.yaml': new Uint8Array([0x61, 0x3a, 0x20, 0xe9]),
    });
    for (const file of ['missing.yaml', '.', 'large.yaml', 'latin.yaml']) {
      const error = await errorOf(loadConfig({ file, env: {}, cwd }));
      expect(error.code).toBe('config_invalid');
      expect(exitCodeOf(error.code)).toBe(78);
      expect(error.faults).toHaveLength(1);
      // The file may be created later, so the watch needs its path.
      expect(error.watchedFiles).toEqual([join(cwd, file)]);
    }
  });
});

describe('loadConfig(), building the Config', () => {
  it('converts sizes, durations and digests', async () => {
    const { config } = await load(`
server: { cacheBytes: 64KiB, shutdownTimeout: 2m }
staticExport: { sha256: ${'AB'.repeat(32)}, limits: { totalBytes: 1GiB, bundleBytes: 1000, entries: 7, ratio: 9 } }
network: { totalTimeout: 1d, connectTimeout: 1s, idleTimeout: 1h }
`);
    expect(config.server).toMatchObject({ cacheBytes: 65_536, shutdownTimeoutMs: 120_000 });
    expect(config.staticExport).toMatchObject({ sha256: 'ab'.repeat(32), limits: { bundleBytesMax: 1000 } });
    expect(archiveLimits(config)).toEqual({
      ...ARCHIVE_LIMITS,
      totalBytesMax: 1024 ** 3,
      entriesMax: 7,
      ratioMax: 9,
    });
    expect(config.network).toMatchObject({
      totalTimeoutMs: 86_400_000,
      connectTimeoutMs: 1000,
      idleTimeoutMs: 3_600_000,
    });
  });

  it.each([
    ['none', 'none'],
    ['90d', 90 * 24 * 3_600_000],
    ['{ completed: 5 }', { completed: 5 }],
  ])('reads exportApi.retention as an age or a number of jobs: %s', async (written, retentionMs) => {
    const { config } = await load(`exportApi: { retention: ${written} }`);
    expect(config.exportApi).toMatchObject({ retentionMs });
  });

  it('resolves relative paths of every source from the folder of the config file', async () => {
    const cwd = await folderWith({ 'conf/config.yaml': 'storage: { dir: ./here }', 'conf/in/x': '' });
    const env = { DOCSHELF__STATIC_EXPORT__PRELOAD: 'in' };
    const { config } = await loadConfig({ file: 'conf/config.yaml', env, cwd });
    expect(config.storage.dir).toBe(join(cwd, 'conf/here'));
    expect(config.staticExport.preload).toEqual({ dir: join(cwd, 'conf/in'), mayBeMissing: false });
    const byFlag = await loadConfig({ file: 'conf/config.yaml', env: {}, cwd, flags: { 'storage.dir': '/abs' } });
    expect(byFlag.config.storage.dir).toBe('/abs');
  });

  it('accepts true, false and a map for a feature', async () => {
    const { config } = await load('features: { search: true, assistant: false, analytics: { enabled: true } }');
    expect(config.features).toMatchObject({
      search: { enabled: true, discoveryUrl: null, keyFile: null },
      assistant: { enabled: false },
      analytics: { enabled: true },
      apiPlayground: { enabled: null },
    });
  });

  it('wraps credentials in a Secret', async () => {
    const { config } = await load(`
staticExport: { bundleUrl: "${LINK}" }
admin: { token: t0ken-t0ken-t0ken }
network: { proxy: "http://user:pass@proxy.example.com:3128" }
`);
    expect(config.staticExport.bundleUrl?.reveal()).toBe(LINK);
    expect(config.admin.token?.reveal()).toBe('t0ken-t0ken-t0ken');
    expect(config.network.proxy).toBeInstanceOf(Secret);
    expect(JSON.stringify(config)).not.toMatch(/canary|t0ken|pass/);
  });

  it('freezes the config deeply', async () => {
    const { config } = await load('server: { trustedProxies: [10.0.0.0/8] }');
    const open: string[] = [];
    const visit = (value: unknown, path: string): void => {
      if (typeof value !== 'object' || value === null) return;
      if (!Object.isFrozen(value)) open.push(path);
      for (const [key, child] of Object.entries(value)) visit(child, `${path}.${key}`);
    };
    visit(config, 'config');
    expect(open).toEqual([]);
  });
});

describe('loadConfig(), reporting errors', () => {
  it('reports the errors of all sources together, ordered by line, under the single code config_invalid', async () => {
    const source = '{ kind: folder, path: /srv, timeout: 9 }';
    const yaml = `organizations: [{ id: a, domains: { d: { source: ${source} } } }]\n\nserver:\n  port: 70000\nadmni: 1\n`;
    const env = { DOCSHELF__LOG__LEVEL: 'loud', DOCSHELF__NOTHING: '1' };
    const flags = { 'api.port': -1 };
    const error = await errorOf(load(yaml, { env, flags }));
    expect(error.code).toBe('config_invalid');
    expect(error.fields.faults).toBe(error.faults);
    expect(error.faults.map(({ code, key, where }) => `${code} ${key} ${where}`)).toEqual([
      'config_invalid organizations[0].domains.d.source.timeout config.yaml:1:78',
      'config_invalid server.port config.yaml:4:3',
      'config_invalid admni config.yaml:5:1',
      'config_invalid null environment DOCSHELF__NOTHING',
      'config_invalid log.level environment DOCSHELF__LOG__LEVEL',
      'config_invalid api.port flag',
    ]);
    for (const { message } of error.faults) expect(error.message).toContain(message);
  });

  it('reports up to a hundred errors', async () => {
    const faults = await faultsOf(Array.from({ length: 5000 }, (_, index) => `k${index}: 1`).join('\n'));
    expect(faults).toHaveLength(100);
  });

  it('never prints the value of a setting', async () => {
    const yaml = `
staticExport: { version: "${LINK}", bundleUrl: "gopher://canary", sha256: canary }
admin: { token: "can ary\\u00e9" }
server: { port: canary }
network: { proxy: "ftp://canary", allowedHosts: ["ca na/ry"] }
"https://x?signature=canary": 1
`;
    const error = await errorOf(load(yaml, { env: { DOCSHELF__LOG__LEVEL: 'canary' } }));
    expect(error.faults).toHaveLength(9);
    expect(JSON.stringify([error.message, error.next, error.fields, error.faults])).not.toMatch(/can ?a|ca na/);
  });
});

describe('config rules that compare several keys', () => {
  it('reject bundleUrl together with bundleUrlFile, whatever their sources', async () => {
    const yaml = 'staticExport:\n  bundleUrlFile: link\n';
    const env = { DOCSHELF__STATIC_EXPORT__BUNDLE_URL: LINK };
    expect(await briefsOf(yaml, { env, files: { link: LINK } })).toEqual([
      'config_invalid staticExport.bundleUrlFile config.yaml:2:3',
    ]);
  });

  it('reject the same port for the site and the admin listener on one address', async () => {
    expect(await briefsOf('admin: { port: 8080 }')).toEqual(['config_invalid admin.port config.yaml:1:10']);
    expect(await briefsOf('server: { port: 9090 }')).toEqual(['config_invalid server.port config.yaml:1:11']);
    await load('server: { host: 127.0.0.2, port: 9090 }');
    await load('server: { port: 0 }\nadmin: { port: 0 }');
  });

  it('reject one port for the API and another listener if the API is enabled', async () => {
    expect(await briefsOf('server: { port: 8081 }')).toEqual(['config_invalid server.port config.yaml:1:11']);
    expect(await briefsOf('api: { port: 9090 }')).toEqual(['config_invalid api.port config.yaml:1:8']);
    await load('server: { port: 8081 }\nsearch: { enabled: false }');
  });

  it('skip a key that already has an error', async () => {
    expect(await briefsOf('server: { port: 9090 }\nadmin: { port: x }')).toEqual([
      'config_invalid admin.port config.yaml:2:10',
    ]);
  });
});

describe('files that the config names', () => {
  it('include bundleUrlFile, which is read, trimmed and watched', async () => {
    const files = { 'run/link': ` ${LINK}\n\n` };
    const { config, watchedFiles, cwd } = await load('staticExport: { bundleUrlFile: run/link }', { files });
    expect(bundleLink(config)?.reveal()).toBe(LINK);
    expect(watchedFiles).toEqual([join(cwd, 'config.yaml'), join(cwd, 'run/link')]);
  });

  it('cause an error if bundleUrlFile is missing, empty or contains no link, and are watched in any case', async () => {
    for (const content of [null, ' \n', 'canary', 'x'.repeat(65 * 1024)]) {
      const cwd = await folderWith({ 'config.yaml': 'staticExport: { bundleUrlFile: link }' });
      if (content !== null) await writeFile(join(cwd, 'link'), content);
      const error = await errorOf(loadConfig({ file: null, env: {}, cwd }));
      expect(error.faults).toMatchObject([{ key: 'staticExport.bundleUrlFile', where: 'config.yaml:1:17' }]);
      expect(error.message).toContain(join(cwd, 'link'));
      expect(error.message).not.toContain('canary');
      expect(error.watchedFiles).toEqual([join(cwd, 'config.yaml'), join(cwd, 'link')]);
    }
  });

  it('include the preload folder, which must exist if it is configured', async () => {
    const cwd = await folderWith({ 'config.yaml': 'staticExport: { preload: in }' });
    const loading = () => loadConfig({ file: null, env: {}, cwd });
    expect((await errorOf(loading())).faults).toMatchObject([{ key: 'staticExport.preload' }]);
    await writeFile(join(cwd, 'in'), '');
    expect((await errorOf(loading())).faults).toMatchObject([{ key: 'staticExport.preload' }]);
    await rm(join(cwd, 'in'));
    await mkdir(join(cwd, 'in'));
    expect((await loading()).config.staticExport).toMatchObject({
      preload: { dir: join(cwd, 'in'), mayBeMissing: false },
    });
  });

  it('include caFile, which must exist and is watched', async () => {
    const cwd = await folderWith({ 'config.yaml': 'network: { caFile: ca.pem }' });
    const loading = () => loadConfig({ file: null, env: {}, cwd });
    expect((await errorOf(loading())).faults).toMatchObject([{ key: 'network.caFile', where: 'config.yaml:1:12' }]);
    await writeFile(join(cwd, 'ca.pem'), '');
    expect((await loading()).watchedFiles).toContain(join(cwd, 'ca.pem'));
  });
});

describe('loadConfig() with an invalid file', () => {
  it.each([
    ['an unclosed bracket before storage.dir', 'features: [\nstorage:\n  # where\n  dir: ./shelf\nlog: {}\n'],
    ['an unclosed bracket after storage.dir', 'storage: { dir: ./shelf }\nfeatures: [\n'],
    ['a tab after storage.dir', 'storage:\n  dir: "./shelf"\nlog:\n\tlevel: warn\n'],
    ['an unknown key next to storage.dir', 'storage: { dir: ./shelf, folder: x }\n'],
    ['a second document after storage.dir', 'storage: { dir: ./shelf }\n---\nlog: {}\n'],
  ])('still reads storage.dir, which a command needs to find the daemon: %s', async (_what, yaml) => {
    const cwd = await folderWith({ 'config.yaml': yaml });
    const error = await errorOf(loadConfig({ file: null, env: {}, cwd }));
    expect([error.storageDir, error.faults.length]).toEqual([join(cwd, 'shelf'), 1]);
    const env = { DOCSHELF__STORAGE__DIR: '/elsewhere' };
    expect((await errorOf(loadConfig({ file: null, env, cwd }))).storageDir).toBe('/elsewhere');
  });

  it.each([
    ['no storage', 'features: [\n'],
    ['a storage without a folder', 'features: [\nstorage: { dir: [a] }\n'],
  ])('uses the default of storage.dir if the file contains no valid folder: %s', async (_what, yaml) => {
    const cwd = await folderWith({ 'config.yaml': yaml });
    expect((await errorOf(loadConfig({ file: null, env: {}, cwd }))).storageDir).toBe(join(cwd, 'data'));
  });

  it('uses the last valid config (lastGood) instead of the file, even if a file that lastGood names is missing', async () => {
    const lastGood = 'server: { port: 1 }\nstaticExport: { bundleUrlFile: ./missing }';
    const { config } = await load('features: [', { lastGood, flags: { 'storage.dir': '/data' } });
    expect([config.server.port, config.storage.dir]).toEqual([1, '/data']);
  });
});

describe('isReduced() (whether a new config removes settings)', () => {
  const list = (...domains: string[]) =>
    `sites:\n${domains.map((domain) => `  - { domain: ${domain}, basePath: /${domain}/ }\n`).join('')}`;
  it.each([
    ['the same', 'staticExport: { enabled: true }', 'staticExport: { enabled: true }', false],
    ['more settings', 'log: { level: warn }', 'log: { level: warn, access: false }', false],
    ['another value', 'staticExport: { version: v1 }', 'staticExport: { version: v2 }', false],
    ['one setting fewer', 'staticExport: { version: v1, enabled: true }', 'staticExport: { enabled: true }', true],
    ['no settings', 'log: { level: warn }', '# nothing', true],
    ['serving turned off', 'staticExport: { enabled: true }', 'staticExport: { enabled: false }', true],
    ['serving turned on', 'staticExport: { enabled: false }', 'staticExport: { enabled: true }', false],
    ['one site fewer', list('acme', 'beta'), list('acme'), true],
    ['one site more', list('acme'), list('acme', 'beta'), false],
  ])(
    'returns whether the new config has fewer settings or sites, or turns serving off: %s',
    async (_what, before, after, expected) => {
      expect(isReduced(await load(before), await load(after))).toBe(expected);
    },
  );

  it('returns true if organizationsFile contains fewer organizations than before', async () => {
    const of = (...ids: string[]) => `organizations: [${ids.map((id) => `{ id: ${id} }`).join(', ')}]`;
    const loadWith = (organizations: string) =>
      load('organizationsFile: o.yaml', { files: { 'o.yaml': organizations } });
    expect(isReduced(await loadWith(of('a', 'b')), await loadWith(of('a')))).toBe(true);
  });
});
