import { readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type CommandResult, codesOf, openBench } from '../helpers/daemon.ts';
import { CERTIFICATE, HAS_REGISTRY, PASSWORD, Registry, type RegistryOptions, USER } from '../helpers/registry.ts';
import { bundle, largeBundle } from './bundles.ts';

const bench = openBench(afterEach);
const MEDIA_TYPE = 'application/vnd.docshelf.bundle.v1.tar+gzip';
const OPEN: RegistryOptions = { tls: false, auth: 'none' };

async function startRegistry(options: RegistryOptions): Promise<Registry> {
  const registry = await Registry.start(options);
  bench.onEnd(() => registry.stop());
  return registry;
}

async function pull(
  link: string,
  network: object = {},
  prepare?: (folder: string) => Promise<unknown>,
): Promise<CommandResult> {
  const folder = await bench.folder();
  await prepare?.(folder);
  await bench.writeConfig(folder, { network: { proxy: 'off', retries: 0, ...network } });
  return bench.run(['bundle', 'import', link, '--json'], { cwd: folder });
}

/** File that `docker login` writes. */
const dockerConfig =
  (host: string, password = PASSWORD) =>
  (folder: string) =>
    writeFile(
      join(folder, 'docker.json'),
      JSON.stringify({ auths: { [host]: { auth: Buffer.from(`${USER}:${password}`).toString('base64') } } }),
    );

describe.skipIf(!HAS_REGISTRY)('a bundle in a registry', () => {
  test('is imported by its digest, and the title of its layer provides the version', async () => {
    const registry = await startRegistry(OPEN);
    const title = 'acme-export-2024-07-01.tar.gz';
    const { digest } = await registry.push('acme', 'latest', [
      { bytes: bundle('one'), mediaType: 'application/gzip', title },
    ]);
    const result = await pull(`oci://${registry.host}/acme@${digest}`);
    expect({ code: result.code, ...result.json() }).toMatchObject({ code: 0, version: '2024-07-01' });
  });

  test('is served if bundleUrl names its tag, and replaced if bundleUrl names another tag', async () => {
    const registry = await startRegistry(OPEN);
    for (const version of ['2024-06-01', '2024-07-01']) {
      await registry.push('acme', version, [{ bytes: bundle(version), mediaType: MEDIA_TYPE }]);
    }
    const network = { proxy: 'off', allowedHosts: [registry.host] };
    const bundleUrl = `oci://${registry.host}/acme:2024-06-01`;
    const daemon = await bench.start({ deployment: { type: 'air-gapped' }, staticExport: { bundleUrl }, network });
    await daemon.untilServing('2024-06-01');
    await daemon.rewriteConfig({ staticExport: { bundleUrl: `oci://${registry.host}/acme:2024-07-01` } });
    await daemon.untilServing('2024-07-01');
    expect(await (await fetch(`${daemon.site}/`)).text()).toContain('2024-07-01');
    const doctor = await bench.run(['doctor', '--json'], { cwd: daemon.folder });
    expect(doctor.code).toBe(0);
    expect(doctor.json<{ checks: object[] }>().checks).toContainEqual(
      expect.objectContaining({ check: 'reach', state: 'ok' }),
    );
  });

  test('is requested by an air-gapped deployment only if network.allowedHosts lists the registry', async () => {
    const registry = await startRegistry(OPEN);
    await registry.push('acme', 'v1.0.0', [{ bytes: bundle('one'), mediaType: MEDIA_TYPE }]);
    const folder = await bench.folder();
    await bench.writeConfig(folder, { deployment: { type: 'air-gapped' }, network: { proxy: 'off', retries: 0 } });
    const result = await bench.run(['bundle', 'import', `oci://${registry.host}/acme:v1.0.0`, '--json'], {
      cwd: folder,
    });
    expect(codesOf(result)).toEqual([69, 'host_not_allowed']);
  });

  test('is accepted over TLS only if network.caFile contains the authority that signed the certificate of the registry', async () => {
    const registry = await startRegistry({ tls: true, auth: 'none' });
    await registry.push('acme', 'v1.0.0', [{ bytes: bundle('one'), mediaType: MEDIA_TYPE }]);
    const link = `oci://${registry.host}/acme:v1.0.0`;
    expect((await pull(link, { caFile: CERTIFICATE })).json()).toMatchObject({ version: 'v1.0.0' });
    expect(codesOf(await pull(link))).toEqual([69, 'source_unreachable']);
  });

  test.each(['basic', 'token'] as const)('is pulled with credentials of a docker config.json: %s', async (auth) => {
    const registry = await startRegistry({ tls: auth === 'basic', auth });
    await registry.push('docs/acme', 'v1.0.0', [{ bytes: bundle('one'), mediaType: MEDIA_TYPE }]);
    const link = `oci://${registry.host}/docs/acme:v1.0.0`;
    const network = { caFile: CERTIFICATE };
    const registryAuthFile = './docker.json';
    const pulled = await pull(link, { ...network, registryAuthFile }, dockerConfig(registry.host));
    expect({ code: pulled.code, ...pulled.json() }).toMatchObject({ code: 0, version: 'v1.0.0' });

    const none = await pull(link, network);
    expect({ fault: none.json().code, next: none.json().next }).toEqual({
      fault: 'link_refused',
      next: expect.stringContaining('network.registryAuthFile'),
    });
    const wrong = await pull(link, { ...network, registryAuthFile }, dockerConfig(registry.host, 'wrong'));
    expect(wrong.json().code).toBe('link_refused');
    const foreign = await pull(link, { ...network, registryAuthFile }, dockerConfig('registry.example'));
    expect(foreign.json().code).toBe('link_refused');
    for (const { stdout, stderr } of [pulled, none, wrong]) expect(stdout + stderr).not.toContain(PASSWORD);
  });

  test('is rejected if its bytes do not match its digest', async () => {
    const registry = await startRegistry(OPEN);
    const bytes = bundle('one');
    const { layerDigest } = await registry.push('acme', 'v1.0.0', [{ bytes, mediaType: MEDIA_TYPE }]);
    const changed = Buffer.from(await readFile(registry.blobFile(layerDigest)));
    changed[20] = (changed[20] ?? 0) ^ 1;
    await writeFile(registry.blobFile(layerDigest), changed);
    expect(codesOf(await pull(`oci://${registry.host}/acme:v1.0.0`))).toEqual([65, 'wrong_digest']);
  });

  test('is rejected if the transfer is cut off', async () => {
    const registry = await startRegistry(OPEN);
    const bytes = largeBundle('one', 1024 * 1024);
    const { layerDigest } = await registry.push('acme', 'v1.0.0', [{ bytes, mediaType: 'application/x-tar' }]);
    await truncate(registry.blobFile(layerDigest), bytes.length - 512);
    const result = await pull(`oci://${registry.host}/acme:v1.0.0`);
    expect(result.code).not.toBe(0);
  });

  test.each([
    ['a missing tag', 'v9.9.9', [], 'bundle_not_found'],
    ['an artifact with two archives', 'v2.0.0', [MEDIA_TYPE, 'application/zip'], 'source_failed'],
    ['an artifact without an archive', 'v3.0.0', ['text/plain'], 'source_failed'],
  ])(
    'is rejected if its tag is missing or its artifact does not contain exactly one archive: %s',
    async (_, tag, mediaTypes, code) => {
      const registry = await startRegistry(OPEN);
      if (mediaTypes.length > 0) {
        await registry.push(
          'acme',
          tag,
          mediaTypes.map((mediaType) => ({ bytes: bundle(mediaType), mediaType })),
        );
      }
      expect(codesOf(await pull(`oci://${registry.host}/acme:${tag}`))).toEqual([69, code]);
    },
  );
});

describe('an oci link in the config', () => {
  test('causes an error that names the key if the link has no tag or digest', async () => {
    const folder = await bench.folder();
    await bench.writeConfig(folder, { staticExport: { bundleUrl: 'oci://registry.example/acme' } });
    const result = await bench.run(['config', 'check', '--json'], { cwd: folder });
    expect(result.code).toBe(78);
    expect(result.json()).toMatchObject({ faults: [{ key: 'staticExport.bundleUrl' }] });
  });
});
