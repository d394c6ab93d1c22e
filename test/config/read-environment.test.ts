import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/index.ts';
import { CONFIG_KEYS, configSchema, environmentName } from '../../src/config/schema-node.ts';
import { briefsOf, errorOf, faultsOf, folderWith, load } from './folder.ts';

describe('environment variables', () => {
  it.each([
    'DOCSHELF__STATIC_EXPORT__MIN_VERSION',
    'DOCSHELF__STATICEXPORT__MINVERSION',
    'docshelf__static_export__minVersion',
  ])('select their key regardless of case and single underscores: %s', async (name) => {
    const { config } = await load('', { env: { [name]: 'v1' } });
    expect(config.staticExport.minVersion).toBe('v1');
  });

  it('override the file, are overridden by flags, and appear as the origin of a value only if they set the value', async () => {
    const yaml = 'server: { port: 1, host: a }\nlog: { level: warn }';
    const env = { DOCSHELF__SERVER__PORT: '2', DOCSHELF__SERVER__HOST: 'b' };
    const { config, origins } = await load(yaml, { env, flags: { 'server.port': 3 } });
    expect(config.server).toMatchObject({ port: 3, host: 'b' });
    expect(origins.get('server.port')).toBe('flag');
    expect(origins.get('server.host')).toBe('environment DOCSHELF__SERVER__HOST');
    expect(origins.get('log.level')).toBe('config.yaml:2:8');
    expect(origins.has('log.format')).toBe(false);
  });

  it('are converted to the type of their key', async () => {
    const env = {
      DOCSHELF__SERVER__PORT: '8443',
      DOCSHELF__SERVER__CACHE_BYTES: '1MiB',
      DOCSHELF__STATIC_EXPORT__LIMITS__BUNDLE_BYTES: '4096',
      DOCSHELF__STATIC_EXPORT__ENABLED: 'true',
      DOCSHELF__STATIC_EXPORT__VERSION: '3.10',
      DOCSHELF__DEPLOYMENT__DOMAIN: '42',
      DOCSHELF__SERVER__TRUSTED_PROXIES: '["10.0.0.0/8", "::1"]',
      DOCSHELF__FEATURES__SEARCH: 'true',
      DOCSHELF__FEATURES__ASSISTANT: '{"enabled": false}',
      DOCSHELF__FEATURES__ANALYTICS__ENABLED: 'true',
      DOCSHELF_CONFIG: '',
      DOCSHELF_SERVICE_HOST: 'set by Kubernetes, and none of ours',
      PATH: '/bin',
    };
    const { config } = await load('', { env });
    expect(config.server).toMatchObject({ port: 8443, cacheBytes: 1024 ** 2, trustedProxies: ['10.0.0.0/8', '::1'] });
    expect(config.staticExport).toMatchObject({ enabled: true, version: '3.10', limits: { bundleBytesMax: 4096 } });
    expect(config.deployment.domain).toBe('42');
    expect(config.features).toMatchObject({
      search: { enabled: true },
      assistant: { enabled: false },
      analytics: { enabled: true },
    });
  });

  it('are reported as invalid JSON if the list or object in them cannot be parsed', async () => {
    const env = { DOCSHELF__SERVER__HEADERS: '{"X-Frame-Options": ', DOCSHELF__SITES: "[{'domain': 'acme'}]" };
    const faults = await faultsOf('', { env });
    expect(faults.map(({ message }) => message).sort()).toEqual([
      'server.headers is not valid JSON',
      'sites is not valid JSON',
    ]);
  });

  it('set a whole section as JSON, key by key, and are overridden by a variable for a single key', async () => {
    const env = { DOCSHELF__SERVER__PORT: '2', DOCSHELF__SERVER: '{"port": 1, "host": "b"}' };
    const { config } = await load('server: { cacheBytes: 5 }', { env });
    expect(config.server).toMatchObject({ port: 2, host: 'b', cacheBytes: 5 });
  });

  it.each([
    ['DOCSHELF__SERVER__PORT', '80x', 'server.port'],
    ['DOCSHELF__SERVER__PORT', '', 'server.port'],
    ['DOCSHELF__SERVER__PORT', '1.5', 'server.port'],
    ['DOCSHELF__STATIC_EXPORT__ENABLED', 'yes', 'staticExport.enabled'],
    ['DOCSHELF__SERVER__TRUSTED_PROXIES', '10.0.0.0/8', 'server.trustedProxies'],
    ['DOCSHELF__SERVER__TRUSTED_PROXIES', '["10.0.0.0/8"', 'server.trustedProxies'],
    ['DOCSHELF__SERVER__TRUSTED_PROXIES', '["10.0.0.0/33"]', 'server.trustedProxies[0]'],
    ['DOCSHELF__SERVER', '5', 'server'],
    ['DOCSHELF__SERVER', '{"prot": 5}', 'server.prot'],
    ['DOCSHELF__STATIC_EXPORT__VERSION', '', 'staticExport.version'],
  ])('are rejected with an invalid value: %s=%s', async (name, value, key) => {
    expect(await briefsOf('', { env: { [name]: value } })).toEqual([`config_invalid ${key} environment ${name}`]);
  });

  it('cause an error that suggests the nearest known name if their name is unknown', async () => {
    const [fault, ...others] = await faultsOf('', { env: { DOCSHELF__STATIC_EXPROT__BUNDLE_ULR: 'canary' } });
    expect(others).toEqual([]);
    expect(fault).toMatchObject({ code: 'config_invalid', where: 'environment DOCSHELF__STATIC_EXPROT__BUNDLE_ULR' });
    expect(fault?.message).toContain('did you mean "DOCSHELF__STATIC_EXPORT__BUNDLE_URL"?');
    expect(fault?.message).not.toContain('canary');
  });

  it('cause an error if two variables set the same key', async () => {
    const env = { DOCSHELF__LOG__LEVEL: 'info', docshelf__log__level: 'warn' };
    expect(await briefsOf('', { env })).toEqual(['config_invalid log.level environment docshelf__log__level']);
  });
});

describe('environment variables whose name ends in __FILE', () => {
  it('set a key to the text of a file without its trailing newline, and the file is watched', async () => {
    const cwd = await folderWith({ token: 't0ken-t0ken-t0ken\n', proxies: '["::1"]\r\n' });
    const env = {
      DOCSHELF__ADMIN__TOKEN__FILE: 'token',
      DOCSHELF__SERVER__TRUSTED_PROXIES__FILE: join(cwd, 'proxies'),
    };
    const { config, origins, watchedFiles } = await loadConfig({ file: null, env, cwd });
    expect(config.admin.token?.reveal()).toBe('t0ken-t0ken-t0ken');
    expect(config.server.trustedProxies).toEqual(['::1']);
    expect(origins.get('admin.token')).toBe('file token (DOCSHELF__ADMIN__TOKEN__FILE)');
    expect(watchedFiles).toEqual([join(cwd, 'token'), join(cwd, 'proxies')]);
  });

  it('remove only one trailing newline', async () => {
    const env = { DOCSHELF__ADMIN__TOKEN__FILE: 'token' };
    const error = await errorOf(load('', { env, files: { token: 't0ken-t0ken-t0ken\n\n' } }));
    expect(error.faults).toMatchObject([{ key: 'admin.token', where: 'file token (DOCSHELF__ADMIN__TOKEN__FILE)' }]);
    expect(error.message).not.toContain('t0ken');
  });

  it('cause an error if the file is missing', async () => {
    expect(await briefsOf('', { env: { DOCSHELF__ADMIN__TOKEN__FILE: 'missing' } })).toEqual([
      'config_invalid admin.token environment DOCSHELF__ADMIN__TOKEN__FILE',
    ]);
  });

  it('cause an error if the plain variable is set too', async () => {
    const env = { DOCSHELF__ADMIN__TOKEN: 'a-long-random-text', DOCSHELF__ADMIN__TOKEN__FILE: 'token' };
    expect(await briefsOf('', { env, files: { token: 'another-random-text' } })).toEqual([
      'config_invalid admin.token environment DOCSHELF__ADMIN__TOKEN__FILE',
    ]);
  });

  it('can set a key that is itself named file, such as staticExport.signature.file', async () => {
    expect(await briefsOf('', { env: { DOCSHELF__STATIC_EXPORT__SIGNATURE__FILE: 'bundle.sig' } })).toContain(
      'config_invalid staticExport.signature.file environment DOCSHELF__STATIC_EXPORT__SIGNATURE__FILE',
    );
  });
});

describe('flags that set config keys', () => {
  it('are rejected if the config key does not exist', async () => {
    expect(await briefsOf('', { flags: { 'server.prot': 81, nothing: 1 } })).toEqual([
      'config_invalid server.prot flag',
      'config_invalid nothing flag',
    ]);
  });
});

it('environmentName() returns a distinct name for every key', () => {
  const names = CONFIG_KEYS.map(({ path }) => environmentName(path));
  expect(new Set(names).size).toBe(names.length);
  expect(names).toContain('DOCSHELF__STATIC_EXPORT__BUNDLE_URL');
  expect(Object.keys(configSchema.properties ?? {})).toHaveLength(19);
});
