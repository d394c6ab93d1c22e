import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  adoptDefaultDomain,
  DaemonRegistration,
  openDataFolder,
  SiteStore,
  settleListedDomains,
} from '../../src/deploy/index.ts';
import { listSites, removeSite } from '../../src/deploy/releases/stored-sites.ts';
import { newFolder } from '../helpers/new-folder.ts';
import {
  type Bundle,
  codeOf,
  copyOf,
  importBundle,
  importOf,
  openDaemon,
  packBundle,
  seedShelf,
  startDaemon,
} from './workbench.ts';

const seed = await seedShelf();

const V1 = '2024-01-01';

/** A folder with a site acme with two releases, and a site beta that shares one of them. */
async function twoSites() {
  const paths = await openDataFolder(newFolder());
  const [acme, beta] = [new SiteStore(paths, 'acme'), new SiteStore(paths, 'beta')];
  for (const bundle of [seed.january, seed.february]) await importBundle(acme, bundle, {}, { domain: 'acme' });
  await importBundle(beta, seed.february, {}, { domain: 'beta' });
  return { paths, acme, beta };
}

describe('listSites()', () => {
  test('returns the sites that have a folder, with version labels, active version and size', async () => {
    const { paths, acme } = await twoSites();
    const daemon = await startDaemon(acme, { domain: 'acme' });
    await daemon.deployment.activate(V1);
    const bytesOf = async ({ digest }: Bundle) => (await acme.info(digest))?.bytes ?? 0;
    const [one, two] = [await bytesOf(seed.january), await bytesOf(seed.february)];
    expect(await listSites(paths)).toEqual([
      {
        domain: 'acme',
        labels: [V1, '2024-02-01'],
        active: { version: V1, digest: seed.january.digest },
        bytes: one + two,
      },
      { domain: 'beta', labels: ['2024-02-01'], active: null, bytes: two },
    ]);
  });

  test('returns no site for a new folder', async () => {
    expect(await listSites(await openDataFolder(newFolder()))).toEqual([]);
  });
});

describe('removeSite()', () => {
  test('removes the folder of the site and releases that no other site references', async () => {
    const { paths, acme, beta } = await twoSites();
    await removeSite(paths, 'acme');
    expect((await listSites(paths)).map(({ domain }) => domain)).toEqual(['beta']);
    expect(existsSync(acme.site.dir)).toBe(false);
    expect(await beta.has(seed.january.digest)).toBe(false);
    expect(await beta.has(seed.february.digest)).toBe(true);
    expect((await beta.label('2024-02-01'))?.digest).toBe(seed.february.digest);
  });

  test('is rejected while a daemon on the folder runs the site', async () => {
    const { paths } = await twoSites();
    const registration = new DaemonRegistration(paths);
    await registration.announce(null);
    const open = (domain: string) =>
      openDaemon(new SiteStore(paths, domain), { domain }, undefined, undefined, { registration });
    const [acme] = [await open('acme'), await open('beta')];
    expect(await codeOf(removeSite(paths, 'acme'))).toBe('in_use');
    expect((await acme.deployment.readStored()).versions).toHaveLength(2);
    await acme.stop();
    expect(await removeSite(paths, 'acme')).toHaveLength(2);
    expect(await codeOf(removeSite(paths, 'beta'))).toBe('in_use');
    await registration.withdraw();
  });

  test('rejects a site that is not stored, and never removes a path outside the folder of sites', async () => {
    const { paths } = await twoSites();
    for (const domain of ['gamma', '..', '', '../releases']) {
      expect(await codeOf(removeSite(paths, domain))).toBe('not_found');
    }
  });

  test('removes the stored domain, so that a config with one site can use another domain in the same data folder', async () => {
    const store = await copyOf(seed);
    await store.settleDomain('acme', null);
    await removeSite(store.paths, 'acme');
    expect(await readdir(store.paths.sites)).toEqual([]);
    await store.settleDomain('beta', null);
    expect(store.domain).toBe('beta');
  });
});

describe('a change of the config from one site to a list of sites', () => {
  /** A folder of a single site that has served `V1`, from a bundle without a domain. */
  async function singleForm(domain: string | null): Promise<SiteStore> {
    const store = await copyOf(seed);
    const daemon = await startDaemon(store, { domain });
    await daemon.deployment.activate(V1);
    await daemon.stop();
    return store;
  }

  async function activeOf(single: SiteStore, domain: string): Promise<string | null> {
    const daemon = await startDaemon(new SiteStore(single.paths, domain), { domain });
    const { active } = daemon.site;
    await daemon.stop();
    return active?.version ?? null;
  }

  test('makes the stored versions available to the listed site with the same domain', async () => {
    const single = await singleForm('acme');
    await settleListedDomains(single.paths, ['beta', 'acme']);
    expect([await activeOf(single, 'acme'), await activeOf(single, 'beta')]).toEqual([V1, null]);
  });

  test('moves the versions of the default domain "docs" to the only listed site that has no folder yet', async () => {
    const single = await singleForm(null);
    expect(single.domain).toBe('docs');
    await importBundle(new SiteStore(single.paths, 'beta'), seed.march, {}, { domain: 'beta' });
    await adoptDefaultDomain(single.paths, ['beta', 'acme']);
    expect([await activeOf(single, 'acme'), await activeOf(single, 'beta')]).toEqual([V1, null]);
    expect((await listSites(single.paths)).map(({ domain }) => domain)).toEqual(['acme', 'beta']);
  });

  test.each([[['acme', 'beta']], [['docs', 'acme']]])(
    'keeps the versions of the default domain "docs" if the list contains "docs" or two new sites: %j',
    async (domains) => {
      const single = await singleForm(null);
      await adoptDefaultDomain(single.paths, domains);
      expect(await activeOf(single, 'docs')).toBe(V1);
    },
  );

  test('does not move the versions of the default domain "docs" to another site on a reload', async () => {
    const single = await singleForm(null);
    await importBundle(new SiteStore(single.paths, 'beta'), seed.march, {}, { domain: 'beta' });
    await settleListedDomains(single.paths, ['beta', 'acme']);
    expect((await listSites(single.paths)).map(({ domain }) => domain)).toEqual(['beta', 'docs']);
  });

  test('keeps the versions of the domain "docs" at that domain if the earlier config set it explicitly', async () => {
    const single = await singleForm('docs');
    await adoptDefaultDomain(single.paths, ['acme']);
    expect([await activeOf(single, 'docs'), await activeOf(single, 'acme')]).toEqual([V1, null]);
  });

  test('can be reverted, and keeps the version that an operator activated after the change', async () => {
    const single = await singleForm('acme');
    await settleListedDomains(single.paths, ['acme', 'beta']);
    const listed = await startDaemon(new SiteStore(single.paths, 'acme'), { domain: 'acme' });
    await listed.deployment.activate('2024-02-01');
    await listed.stop();
    const again = await startDaemon(new SiteStore(single.paths), { domain: 'acme' });
    // The default preload folder differs between the two forms, and is no setting of the operator.
    expect(again.site.active?.version).toBe('2024-02-01');
    expect(await again.store.choice()).toMatchObject({ version: '2024-02-01' });
    expect(await codeOf(startDaemon(new SiteStore(single.paths), { domain: 'beta' }))).toBe('config_invalid');
  });

  test('moves archives in the inbox to the inbox of the site with the same domain', async () => {
    const single = await singleForm('acme');
    const { inbox } = single.paths;
    const listed = new SiteStore(single.paths, 'acme').site.inbox;
    for (const name of ['a.tar.gz', 'a.tar.gz.minisig', 'b.tar.gz.part']) await writeFile(join(inbox, name), name);
    expect(await settleListedDomains(single.paths, ['beta'])).toEqual(['a.tar.gz']);
    expect(await settleListedDomains(single.paths, ['acme', 'beta'])).toEqual([]);
    expect([await readdir(inbox), (await readdir(listed)).sort()]).toEqual([
      ['b.tar.gz.part'],
      ['a.tar.gz', 'a.tar.gz.minisig'],
    ]);
    await (await startDaemon(new SiteStore(single.paths), { domain: 'acme' })).stop();
    expect([await readFile(join(inbox, 'a.tar.gz'), 'utf8'), await readdir(listed)]).toEqual(['a.tar.gz', []]);
  });

  test('can be reverted to a single site with any listed domain, because a list stores no domain in the data folder', async () => {
    const paths = await openDataFolder(newFolder());
    await settleListedDomains(paths, ['acme']);
    const listed = await startDaemon(new SiteStore(paths, 'acme'), { domain: 'acme' });
    await listed.deployment.deliver(importOf(seed.march));
    await listed.stop();
    expect(existsSync(paths.domain)).toBe(false);
    const single = await startDaemon(new SiteStore(paths), { domain: 'acme' });
    expect(single.site.active?.version).toBe('2024-03-01');
    expect(JSON.parse(await readFile(paths.domain, 'utf8'))).toEqual({ domain: 'acme', from: 'config' });
  });
});

test("a daemon with several sites rejects a bundle of another site's domain, and names that domain", async () => {
  const paths = await openDataFolder(newFolder());
  const bundle = await packBundle('acme.tar.gz', 'acme', { domain: 'acme', version: 'v1' });
  const importing = importBundle(new SiteStore(paths, 'beta'), bundle, {}, { domain: 'beta' });
  await expect(importing).rejects.toMatchObject({
    code: 'domain_mismatch',
    message: expect.stringContaining('this site is "beta"'),
    next: expect.stringContaining('for the site acme'),
  });
});
