import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  DaemonRegistration,
  Inbox,
  importSlots,
  openDataFolder,
  runningDaemons,
  SiteStore,
} from '../../src/deploy/index.ts';
import { onFileEnd } from '../helpers/file-end.ts';
import { newFolder } from '../helpers/new-folder.ts';
import { untilAborted } from '../helpers/until-aborted.ts';
import { runInProcess } from './processes.ts';
import { unpackHere } from './unpackers.ts';
import {
  type Bundle,
  codeOf,
  copyOf,
  FakeSource,
  importBundle,
  importOf,
  LINK,
  openDaemon,
  packBundle,
  putInto,
  type SettingsOf,
  type SharedByTest,
  seedShelf,
  settingsOf,
  until,
} from './workbench.ts';

const seed = await seedShelf();

const V1 = '2024-01-01';
const V2 = '2024-02-01';
const V3 = '2024-03-01';

const storeOf = async (dir: string, domain: string) => new SiteStore(await openDataFolder(dir), domain);
const isThere = (store: SiteStore, { digest }: Bundle) => store.has(digest);

/** A daemon with sites on one folder. Each begins when the test settles it. */
async function newDaemon(dir: string, shared: SharedByTest = {}) {
  const registration = new DaemonRegistration(await openDataFolder(dir));
  onFileEnd(() => registration.withdraw());
  await registration.announce(null);
  const all = { registration, slots: importSlots(() => 2), unpack: unpackHere, ...shared };
  const open = async (domain: string, settings: SettingsOf = {}, source = new FakeSource(), more: SharedByTest = {}) =>
    openDaemon(await storeOf(dir, domain), { domain, ...settings }, source, undefined, { ...all, ...more });
  return { registration, open };
}

/** A daemon with the sites acme and beta on a new folder. */
async function twoSites(shared: SharedByTest = {}) {
  const daemon = await newDaemon(newFolder(), shared);
  return { daemon, acme: await daemon.open('acme'), beta: await daemon.open('beta') };
}

/** An unpacker that waits for a signal, and counts concurrent calls. */
function gate() {
  const opened = Promise.withResolvers<void>();
  const names: string[] = [];
  let running = 0;
  let most = 0;
  const unpack: typeof unpackHere = async (order, onProgress, signal) => {
    names.push(order.name);
    running += 1;
    most = Math.max(most, running);
    try {
      const aborted = untilAborted(signal);
      await Promise.race([opened.promise, aborted]);
      return await unpackHere(order, onProgress, signal);
    } finally {
      running -= 1;
    }
  };
  return { unpack, names, open: () => opened.resolve(), most: () => most };
}

describe('sites of one daemon', () => {
  test('have separate version labels, inboxes and rejected archives', async () => {
    const { acme, beta } = await twoSites();
    const inboxes = [acme, beta].map(({ store, deployment }) => new Inbox({ paths: store.site, deployment }));
    for (const inbox of inboxes) inbox.start();
    await putInto(join(acme.store.paths.sites, 'acme', 'inbox'), seed.january);
    await putInto(join(beta.store.paths.sites, 'beta', 'inbox'), seed.february, {
      ...seed.march,
      file: join(import.meta.dirname, 'sites.test.ts'),
    });
    const rejected = () => readdir(join(beta.store.paths.sites, 'beta', 'rejected'));
    await until(async () => expect(await rejected()).toContain(seed.march.fileName));
    await until(() => expect([acme.site.active?.version, beta.site.active?.version]).toEqual([V1, V2]));
    for (const inbox of inboxes) await inbox.stop();
    expect([...(await acme.store.labels()).keys()]).toEqual([V1]);
    expect([...(await beta.store.labels()).keys()]).toEqual([V2]);
    expect(await readdir(acme.store.site.rejected)).toEqual([]);
    expect(beta.deployment.journal.lastError?.code).toBe('unknown_format');
    expect(acme.deployment.journal.lastError).toBe(null);
  });

  test('keep separate partial downloads, and none in the shared spool', async () => {
    const daemon = await newDaemon(newFolder());
    const source = await new FakeSource().serveBundle(LINK, seed.march);
    const sites = [
      await daemon.open('acme', { link: LINK }, source),
      await daemon.open('beta', { link: LINK }, source),
    ];
    await Promise.all(sites.map(({ deployment }) => deployment.reconcile()));
    expect(sites.map(({ site }) => site.active?.version)).toEqual([V3, V3]);
    expect(await readdir(sites[0]?.store.paths.spool ?? '')).toEqual([]);
  });

  test('take no action after a reload with unchanged settings, unless they report an error', async () => {
    const daemon = await newDaemon(newFolder());
    const source = await new FakeSource().serveBundle(LINK, seed.january);
    const { deployment, store } = await daemon.open('acme', { link: LINK }, source);
    const mustSettle = async (settings: SettingsOf) => {
      await deployment.accept(settingsOf(store, { domain: 'acme', ...settings }));
      return deployment.mustReconcile;
    };
    expect(deployment.mustReconcile).toBe(true);
    await deployment.reconcile();
    expect(await mustSettle({ link: LINK })).toBe(false);
    // Secrets are compared by their values.
    for (const other of [{ link: `${LINK}&again` }, { link: LINK, keep: 7 }, {}]) {
      expect(await mustSettle(other)).toBe(true);
      await deployment.accept(settingsOf(store, { domain: 'acme', link: LINK }));
      await deployment.reconcile();
    }
    expect(await mustSettle({ version: V2 })).toBe(true);
    await deployment.reconcile();
    expect(deployment.journal.lastError?.code).toBe('version_not_found');
    expect(await mustSettle({ version: V2 })).toBe(true);
  });

  test('open bundle sources with the settings of the last reload', async () => {
    const source = await new FakeSource().serveBundle(LINK, seed.january);
    const requests: string[] = [];
    const sources: SharedByTest['sources'] = async ({ preload }) => {
      requests.push(preload.dir);
      return [source];
    };
    const daemon = await newDaemon(newFolder(), { sources });
    const acme = await daemon.open('acme');
    await acme.reload({ domain: 'acme', link: LINK, preload: { dir: '/elsewhere', mayBeMissing: true } });
    expect(requests).toEqual(['/elsewhere']);
  });

  test('report an earlier import error again once a valid config has replaced an invalid config', async () => {
    const daemon = await newDaemon(newFolder());
    const { deployment, store } = await daemon.open('acme');
    const archive = { ...seed.march, file: join(import.meta.dirname, 'sites.test.ts') };
    await putInto(join(store.paths.dir, 'bundles', 'acme'), archive, seed.january);
    await deployment.reconcile();
    expect(deployment.journal.lastError?.code).toBe('unknown_format');
    deployment.journal.failed('reload', new Error('a refused config'));
    expect(deployment.journal.lastError?.message).toBe('a refused config');
    await deployment.accept(settingsOf(store, { domain: 'acme' }));
    expect([deployment.journal.lastError?.code, deployment.mustReconcile]).toEqual(['unknown_format', true]);
  });

  test('never use a version label, a version or a digest of another site', async () => {
    const { acme, beta } = await twoSites();
    await acme.deployment.deliver(importOf(seed.january));
    await beta.reload({ domain: 'beta', version: V1, sha256: seed.january.digest });
    expect((await beta.deployment.readStored()).versions).toEqual([]);
    expect(beta.site.active).toBe(null);
    expect(beta.deployment.journal.lastError?.code).toBe('version_not_found');
    expect(await codeOf(beta.deployment.activate(V1))).toBe('version_not_found');
    await beta.reload({ domain: 'beta' });
    await beta.deployment.deliver(importOf(seed.february));
    expect(beta.site.older).toEqual([]);
  });

  test('are removed from the heartbeat file when they stop, while the other sites stay listed', async () => {
    const { acme, beta } = await twoSites();
    await acme.deployment.deliver(importOf(seed.january));
    await beta.deployment.deliver(importOf(seed.february));
    const mark = async () => (await runningDaemons(beta.store.paths))[0];
    expect(await mark()).toMatchObject({ sites: [{ domain: 'acme' }, { domain: 'beta' }] });
    await acme.stop();
    expect(await mark()).toMatchObject({ sites: [{ domain: 'beta', serves: [seed.february.digest] }] });
  });
});

describe('a site whose folder cannot be opened', () => {
  /** A file is at the path of a folder. */
  async function brokenSite() {
    const dir = newFolder();
    const { paths } = await storeOf(dir, 'acme');
    const file = join(paths.sites, 'acme');
    await writeFile(file, 'no folder');
    const daemon = await newDaemon(dir);
    return { acme: await daemon.open('acme', {}, undefined, { mayFail: true }), mend: () => rm(file) };
  }

  test('reports the error, rejects commands, and is opened by the next command after the folder was fixed', async () => {
    const { acme, mend } = await brokenSite();
    await acme.deployment.reconcile();
    expect(acme.deployment.state).toBe('waiting');
    expect(await acme.deployment.readStored()).toEqual({ versions: [], notices: [] });
    expect(acme.deployment.journal.lastError).not.toBe(null);
    await expect(acme.deployment.deliver(importOf(seed.march))).rejects.toThrow();
    await expect(acme.deployment.rollback()).rejects.toThrow();
    await mend();
    await acme.deployment.deliver(importOf(seed.march));
    expect(acme.site.active?.version).toBe(V3);
    expect(acme.deployment.journal.lastError).toBe(null);
  });

  test('is opened again some seconds after the folder was fixed', async () => {
    const { acme, mend } = await brokenSite();
    await putInto(join(acme.store.paths.dir, 'bundles', 'acme'), seed.march);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    onTestFinished(() => void vi.useRealTimers());
    await acme.deployment.reconcile();
    await mend();
    await vi.advanceTimersByTimeAsync(11_000);
    await until(() => expect(acme.site.active?.version).toBe(V3));
  });
});

describe('deploy.parallel', () => {
  test('limits the number of concurrent unpackings over all sites', async () => {
    const gated = gate();
    const daemon = await newDaemon(newFolder(), { slots: importSlots(() => 2), unpack: gated.unpack });
    const bundles = await Promise.all([1, 2, 3, 4, 5].map((at) => packBundle(`v${at}.0.0.tar.gz`, `page ${at}`)));
    const sites = await Promise.all(bundles.map((_, at) => daemon.open(`site-${at}`)));
    const delivered = sites.map(({ deployment }, at) => deployment.deliver(importOf(bundles[at] as Bundle)));
    await until(() => expect(gated.names).toHaveLength(2));
    gated.open();
    await Promise.all(delivered);
    expect(gated.names).toHaveLength(5);
    expect(gated.most()).toBe(2);
  });

  test('limits concurrent fetches to four times its value', async () => {
    const daemon = await newDaemon(newFolder(), { slots: importSlots(() => 1) });
    const never = new Promise<Buffer>(() => undefined);
    const source = new FakeSource().serve(LINK, never);
    const sites = await Promise.all([0, 1, 2, 3, 4, 5].map((at) => daemon.open(`site-${at}`, { link: LINK }, source)));
    for (const { deployment } of sites) void deployment.reconcile();
    await until(() => expect(source.opened).toHaveLength(4));
    await until(() =>
      expect(sites.map(({ deployment }) => deployment.journal.activity?.split(' ')[0]).sort()).toEqual([
        'fetching',
        'fetching',
        'fetching',
        'fetching',
        'waiting',
        'waiting',
      ]),
    );
  });

  test('does not block commands of a site that waits to import, and removes a stopped site from the queue', async () => {
    const gated = gate();
    const dir = (await copyOf(seed)).paths.dir;
    const daemon = await newDaemon(dir, { slots: importSlots(() => 1), unpack: gated.unpack });
    const [busy, waiting, last] = [await daemon.open('busy'), await daemon.open('waiting'), await daemon.open('last')];
    await waiting.deployment.deliver(importOf(seed.january));
    await waiting.deployment.deliver(importOf(seed.february));
    const [first, second, third] = [
      await packBundle('v1.0.0.tar.gz', 'one'),
      await packBundle('v2.0.0.tar.gz', 'two'),
      await packBundle('v3.0.0.tar.gz', 'three'),
    ];
    const delivered = [busy.deployment.deliver(importOf(first))];
    await until(() => expect(gated.names).toEqual([first.fileName]));
    const leaving = codeOf(waiting.deployment.deliver(importOf(second)));
    delivered.push(last.deployment.deliver(importOf(third)));
    await waiting.deployment.activate(V1);
    await waiting.deployment.rollback();
    expect(waiting.site.active?.version).toBe(V2);
    await waiting.stop();
    expect(await leaving).toBe('stopping');
    gated.open();
    await Promise.all(delivered);
    expect(gated.names).toEqual([first.fileName, third.fileName]);
  });
});

describe('a bundle that several sites import at once', () => {
  test('is unpacked once by the sites of a daemon', async () => {
    const gated = gate();
    const daemon = await newDaemon(newFolder(), { unpack: gated.unpack });
    const sites = [await daemon.open('acme'), await daemon.open('beta'), await daemon.open('gamma')];
    const delivered = sites.map(({ deployment }) => deployment.deliver(importOf(seed.march)));
    await until(() => expect(gated.names).toHaveLength(1));
    gated.open();
    expect((await Promise.all(delivered)).map(({ activated }) => activated)).toEqual([true, true, true]);
    expect(gated.names).toHaveLength(1);
    expect(await readdir(sites[0]?.store.paths.spool ?? '')).toEqual([]);
  });

  test('is unpacked by the next site if the first site stops', async () => {
    const gated = gate();
    const { acme, beta } = await twoSites({ unpack: gated.unpack });
    const acmeDelivery = codeOf(acme.deployment.deliver(importOf(seed.march)));
    await until(() => expect(gated.names).toHaveLength(1));
    const delivery = beta.deployment.deliver(importOf(seed.march));
    await acme.stop();
    expect(await acmeDelivery).toBe('stopping');
    gated.open();
    expect(await delivery).toMatchObject({ unpacked: true, activated: true });
  });

  test('is unpacked only after another process that unpacks the same bundle has ended', async () => {
    const dir = newFolder();
    const gated = gate();
    const daemon = await newDaemon(dir, { unpack: gated.unpack });
    const acme = await daemon.open('acme');
    const other = await runInProcess(`
      const { ReleaseStore } = await deploy('releases/release-store.ts');
      const { dataPaths } = await deploy('releases/data-folder.ts');
      const store = new ReleaseStore(dataPaths(${JSON.stringify(dir)}));
      const signal = new AbortController().signal;
      await store.whileUnpacking(${JSON.stringify(seed.march.digest)}, signal, async () => {
        say('unpacking');
        await new Promise((resolve) => setTimeout(resolve, 600_000));
      });`);
    const delivery = acme.deployment.deliver(importOf(seed.march));
    gated.open();
    await until(() => expect(acme.deployment.journal.activity).toMatch(/^waiting to unpack /));
    expect(gated.names).toEqual([]);
    await other.kill();
    expect(await delivery).toMatchObject({ unpacked: true });
  });
});

describe('a release of several sites', () => {
  test('causes one import event for each of these sites', async () => {
    const { acme, beta } = await twoSites();
    for (const { deployment, events } of [acme, beta]) {
      expect(await deployment.deliver(importOf(seed.march))).toMatchObject({ unpacked: true });
      expect(await deployment.deliver(importOf(seed.march))).toMatchObject({ unpacked: false });
      expect(events.filter(({ kind }) => kind === 'taken-in')).toHaveLength(1);
    }
  });

  test('has a separate creation date for each site if the bundle contains no date', async () => {
    const { acme, beta } = await twoSites();
    await acme.deployment.deliver(importOf(seed.january));
    await beta.deployment.deliver({ ...importOf(seed.january), fileName: seed.march.fileName });
    const dates = async ({ deployment, site }: typeof acme) => [
      (await deployment.readStored()).versions[0]?.createdAt.slice(0, 10),
      site.active?.createdAt.slice(0, 10),
    ];
    expect([await dates(acme), await dates(beta)]).toEqual([
      [V1, V1],
      [V3, V3],
    ]);
    // The date of the preloaded archive is between the other dates, so it is newer for one site.
    await putInto(join(beta.store.paths.dir, 'bundles', 'acme'), seed.february);
    await putInto(join(beta.store.paths.dir, 'bundles', 'beta'), seed.february);
    for (const { deployment } of [acme, beta]) await deployment.reconcile();
    expect([acme.site.active?.version, beta.site.active?.version]).toEqual([V2, V3]);
  });

  test('is not a rollback target for a site that has removed the release', async () => {
    const daemon = await newDaemon(newFolder());
    const [acme, beta] = [await daemon.open('acme', { keep: 0 }), await daemon.open('beta')];
    await beta.deployment.deliver(importOf(seed.january));
    await acme.deployment.deliver(importOf(seed.january));
    await acme.deployment.deliver(importOf(seed.february));
    await acme.deployment.remove(V1);
    expect(await isThere(beta.store, seed.january)).toBe(true);
    expect(await codeOf(acme.deployment.rollback())).toBe('no_version');
  });

  test('can be removed from one site while a daemon serves the release for another site', async () => {
    const dir = newFolder();
    const [acme, beta] = [await (await newDaemon(dir)).open('acme'), await (await newDaemon(dir)).open('beta')];
    await beta.deployment.deliver(importOf(seed.january));
    for (const bundle of [seed.january, seed.february]) await acme.deployment.deliver(importOf(bundle));
    await acme.deployment.remove(V1);
    expect([...(await acme.store.labels()).keys()]).toEqual([V2]);
    expect([await isThere(beta.store, seed.january), beta.site.active?.version]).toEqual([true, V1]);
  });

  test('is imported from the preload folder by each site, and unpacked once', async () => {
    const gated = gate();
    gated.open();
    const daemon = await newDaemon(newFolder(), { unpack: gated.unpack });
    const sites = [await daemon.open('acme'), await daemon.open('beta')];
    for (const { store, deployment, site } of sites) {
      await putInto(join(store.paths.dir, 'bundles', store.domain), seed.march);
      await deployment.reconcile();
      expect(site.active?.version).toBe(V3);
    }
    expect(gated.names).toHaveLength(1);
  });
});

describe('pruning on a folder of several sites', () => {
  test('applies staticExport.keep to each site separately, and removes releases that no site references', async () => {
    const daemon = await newDaemon(newFolder());
    const [acme, beta] = [await daemon.open('acme', { keep: 0 }), await daemon.open('beta', { keep: 9 })];
    await beta.deployment.deliver(importOf(seed.january));
    for (const bundle of [seed.january, seed.february, seed.march])
      await importBundle(acme.store, bundle, {}, { domain: 'acme' });
    await beta.deployment.deliver(importOf(seed.march));
    await acme.deployment.activate(V2);
    await until(async () => expect([...(await acme.store.labels()).keys()]).toEqual([V2]));
    expect([...(await beta.store.labels()).keys()].sort()).toEqual([V1, V3]);
    expect(await isThere(beta.store, seed.january)).toBe(true);
    await beta.deployment.remove(V1);
    expect(await isThere(beta.store, seed.january)).toBe(false);
  });

  /** A store of the site beta that runs a function once before an action. */
  async function betaWhere(
    dir: string,
    act: 'setLabel' | 'markOwned',
    before: () => Promise<unknown>,
  ): Promise<SiteStore> {
    const store = await storeOf(dir, 'beta');
    const original = store[act].bind(store) as (...args: unknown[]) => Promise<void>;
    Object.assign(store, {
      [act]: async (...args: unknown[]) => {
        Object.assign(store, { [act]: original });
        await before();
        return original(...args);
      },
    });
    return store;
  }

  /** The site acme, which has the release and removes it on request. */
  async function acmeWith(dir: string, bundle: Bundle) {
    const acme = await storeOf(dir, 'acme');
    await importBundle(acme, bundle, {}, { domain: 'acme' });
    return { acme, giveUp: () => acme.removeReleases(async () => [bundle.digest]) };
  }

  test('keeps a stored release that another site is importing again but has not labeled yet', async () => {
    const dir = newFolder();
    const { giveUp } = await acmeWith(dir, seed.march);
    const beta = await betaWhere(dir, 'setLabel', giveUp);
    await importBundle(beta, seed.march, {}, { domain: 'beta' });
    expect((await beta.label(V3))?.digest).toBe(seed.march.digest);
  });

  test('keeps a release that another site has just unpacked but not labeled yet', async () => {
    const dir = newFolder();
    const { acme } = await acmeWith(dir, seed.january);
    const beta = await betaWhere(dir, 'setLabel', () => acme.removeReleases(async () => [seed.march.digest]));
    await importBundle(beta, seed.march, {}, { domain: 'beta' });
    expect((await beta.label(V3))?.digest).toBe(seed.march.digest);
  });

  test('blocks an import of the removed release on another site, which then unpacks this release again', async () => {
    const dir = newFolder();
    const { acme } = await acmeWith(dir, seed.march);
    const beta = await storeOf(dir, 'beta');
    const isChosen = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const removed = acme.removeReleases(async () => {
      isChosen.resolve();
      await goOn.promise;
      return [seed.march.digest];
    });
    await isChosen.promise;
    const delivery = importBundle(beta, seed.march, {}, { domain: 'beta' });
    goOn.resolve();
    await removed;
    expect(await delivery).toMatchObject({ unpacked: true });
    expect((await beta.label(V3))?.digest).toBe(seed.march.digest);
  });

  test('waits for another process that is about to reference the release, and then keeps the release', async () => {
    const dir = newFolder();
    const { giveUp } = await acmeWith(dir, seed.march);
    const other = await runInProcess(`
      const { SiteStore } = await deploy('releases/site-store.ts');
      const { dataPaths } = await deploy('releases/data-folder.ts');
      const store = new SiteStore(dataPaths(${JSON.stringify(dir)}), 'beta');
      await store.whileStored('shared', async () => {
        say('looks');
        await new Promise((resolve) => setTimeout(resolve, 500));
        await store.markOwned(${JSON.stringify(seed.march.digest)});
      });
      setTimeout(() => undefined, 600_000);`);
    await giveUp();
    expect(await isThere(await storeOf(dir, 'beta'), seed.march)).toBe(true);
    await other.kill();
  });

  test('makes a concurrent activation of the removed release fail with release_damaged, and the served release stays active', async () => {
    const dir = newFolder();
    const daemon = await newDaemon(dir);
    const acme = await daemon.open('acme');
    for (const bundle of [seed.january, seed.february]) await importBundle(acme.store, bundle, {}, { domain: 'acme' });
    await acme.deployment.activate(V1);
    const other = await storeOf(dir, 'acme');
    const original = acme.store.whileStored.bind(acme.store);
    acme.store.whileStored = async (mode, act) => {
      acme.store.whileStored = original;
      await other.removeReleases(async () => [seed.february.digest]);
      return original(mode, act);
    };
    expect(await codeOf(acme.deployment.activate(V2))).toBe('release_damaged');
    expect(acme.site.active?.version).toBe(V1);
  });
});

describe('whileStored() (runs a function under a lock on the stored releases)', () => {
  test('continues without the lock if the lock cannot be created', async () => {
    const store = await storeOf(newFolder(), 'acme');
    await rm(join(store.paths.dir, 'lock'), { force: true });
    await mkdir(join(store.paths.dir, 'lock'));
    // With a lock, the inner call would wait for the outer call.
    const inner = () => store.whileStored('exclusive', async () => 'done');
    expect(await store.whileStored('exclusive', inner)).toBe('done');
  });

  test('allows several shared locks at once, and delays an exclusive lock until they are released', async () => {
    const store = await storeOf(newFolder(), 'acme');
    const seen: string[] = [];
    const [both, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const look = (name: string) =>
      store.whileStored('shared', async () => {
        seen.push(name);
        if (seen.length === 2) both.resolve();
        await release.promise;
      });
    const looks = [look('one'), look('two')];
    await both.promise;
    const removal = store.whileStored('exclusive', async () => seen.push('removed'));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(seen).toEqual(['one', 'two']);
    release.resolve();
    await Promise.all([...looks, removal]);
    expect(seen).toEqual(['one', 'two', 'removed']);
  });
});

test('a stopped site keeps its state when it is opened again, while other sites continue', async () => {
  const { daemon, acme, beta } = await twoSites();
  await acme.deployment.deliver(importOf(seed.january));
  await acme.deployment.deliver(importOf(seed.february));
  await acme.deployment.activate(V1);
  await acme.stop();
  expect(await codeOf(acme.deployment.deliver(importOf(seed.march)))).toBe('stopping');
  await beta.deployment.deliver(importOf(seed.february));
  expect(beta.site.active?.version).toBe(V2);
  const again = await daemon.open('acme');
  await again.deployment.reconcile();
  expect(again.site.active?.version).toBe(V1);
  await again.deployment.rollback();
  expect(again.site.active?.version).toBe(V2);
  expect((await again.deployment.readStored()).versions.map(({ version }) => version)).toEqual([V2, V1]);
});
