import { readdir, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { settleFolderDomain } from '../../src/deploy/releases/data-folder.ts';
import {
  type Bundle,
  codeOf,
  FakeSource,
  importOf,
  LINK,
  newStore,
  openDaemon,
  packBundle,
  settingsOf,
  startDaemon,
} from './workbench.ts';

/** Bundle of domain acme. */
const bundle = await packBundle('bundle.tar.gz', 'named', { domain: 'acme' });

const manifest = (manifestDomain: string | null) => ({ manifestDomain });

describe('settleFolderDomain() (domain of a data folder)', () => {
  test('uses the domain of the config, else of the data folder, else of the first manifest, else "docs"', async () => {
    const { paths } = await newStore();
    expect(await settleFolderDomain(paths, null, null)).toBe('docs');
    expect(await settleFolderDomain(paths, null, manifest('acme'))).toBe('acme');
    expect(await settleFolderDomain(paths, null, manifest('globex'))).toBe('acme');
    expect(await settleFolderDomain(paths, null, null)).toBe('acme');
    expect(await settleFolderDomain(paths, 'acme', null)).toBe('acme');
  });

  test('lets the config rename the default domain', async () => {
    const { paths } = await newStore();
    expect(await settleFolderDomain(paths, null, manifest(null))).toBe('docs');
    expect(await settleFolderDomain(paths, 'acme', null)).toBe('acme');
    expect(await codeOf(settleFolderDomain(paths, 'globex', null))).toBe('config_invalid');
  });

  test('ignores a domain file that cannot be parsed', async () => {
    const { paths } = await newStore();
    await writeFile(paths.domain, '{"domain":"../acme"}');
    expect(await settleFolderDomain(paths, null, null)).toBe('docs');
  });
});

describe('a deployment', () => {
  test('reports the domain of the first fetched bundle at once, and stores that domain for the next start', async () => {
    const store = await newStore();
    const { deployment } = await startDaemon(store, { link: LINK }, await new FakeSource().serveBundle(LINK, bundle));
    expect(deployment.domain).toBe('acme');
    await deployment.stop();
    expect((await openDaemon(store)).deployment.domain).toBe('acme');
  });

  test('keeps its releases if the config sets a domain for a data folder with the default domain', async () => {
    const store = await newStore();
    const plain = await packBundle('acme-export-2024-06-01.tar.gz', 'plain');
    const first = await startDaemon(store);
    await first.deployment.deliver(importOf(plain));
    expect(first.deployment.domain).toBe('docs');
    await first.stop();
    const second = await startDaemon(store, { domain: 'acme' });
    expect(second.site.active?.version).toBe('2024-06-01');
    expect(await readdir(store.paths.sites)).toEqual(['acme']);
  });

  test('accepts a bundle of another domain if deployment.domain names that domain and the folder has the default domain', async () => {
    const store = await newStore();
    const { deployment, site } = await startDaemon(store);
    const plain = await packBundle('hand-v1.0.0.tar.gz', 'plain');
    const deliver = (each: Bundle) => deployment.deliver(importOf(each));
    await deliver(plain);
    const error = await deliver(bundle).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: 'domain_mismatch',
      next: expect.stringMatching(/^Set deployment.domain to acme,/),
    });
    await deployment.accept(settingsOf(store, { domain: 'acme' }));
    await deliver(bundle);
    expect(site.active?.digest).toBe(bundle.digest);
    expect((await deployment.readStored()).versions.map(({ version }) => version)).toContain('v1.0.0');
  });

  test.each([
    ['the config has set the domain of the data folder', 'docs', 'plain'],
    ['a manifest has set the domain of the data folder', null, 'globex'],
  ])('suggests another data folder for a bundle of another domain if %s', async (_, domain, first) => {
    const store = await newStore();
    const { deployment } = await startDaemon(store, { domain });
    const deliver = (each: Bundle) => deployment.deliver(importOf(each));
    await deliver(await packBundle('first.tar.gz', first, first === 'plain' ? undefined : { domain: first }));
    const error = await deliver(bundle).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: 'domain_mismatch',
      next: expect.stringContaining('storage.dir to another folder'),
    });
  });

  test('does not open a data folder that belongs to another domain', async () => {
    const store = await newStore();
    await (await openDaemon(store, { domain: 'acme' })).stop();
    expect(await codeOf(openDaemon(store, { domain: 'globex' }))).toBe('config_invalid');
  });

  test('rejects a reload that changes the domain, and keeps all previous settings', async () => {
    const store = await newStore();
    const { deployment } = await openDaemon(store, { domain: 'acme' });
    const accepting = deployment.accept(settingsOf(store, { domain: 'globex', version: 'v9' }));
    expect(await codeOf(accepting)).toBe('config_invalid');
    expect([deployment.domain, deployment.pinned]).toEqual(['acme', null]);
  });
});
