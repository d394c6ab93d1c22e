import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { SiteStore } from '../../src/deploy/releases/site-store.ts';
import { versionFromDigest } from '../../src/domain/version.ts';
import {
  copyOf,
  FakeSource,
  fault,
  importBundle,
  importOf,
  LINK,
  newStore,
  openDaemon,
  packBundle,
  putInto,
  seedShelf,
  settingsOf,
  startDaemon,
  stateOf,
  until,
} from './workbench.ts';

/** LINK returns the seed's March. A test can remove it from the store. */
const seed = await seedShelf();
let store: SiteStore;
beforeEach(async () => {
  store = await copyOf(seed);
});
afterEach(() => {
  vi.useRealTimers();
});

const [V1, V2, V3] = ['2024-01-01', '2024-02-01', '2024-03-01'] as const;
const OTHER_LINK = 'https://bundles.test/acme-export-2024-02-01.tar.gz?signature=canary';
const marchAtLink = () => new FakeSource().serveBundle(LINK, seed.march);

/** Activates a version, so that an unpinned restart serves it. */
async function makeActive(version: string): Promise<void> {
  const daemon = await openDaemon(store, { keep: 9 });
  await daemon.deployment.activate(version);
  await daemon.stop();
}

test('a starting daemon deletes temporary files older than a minute from the folders of the site, and keeps newer files', async () => {
  const { dir, versions, served, spool } = store.site;
  const ago = Date.now() / 1000 - 61;
  for (const folder of [dir, versions, served, spool]) {
    await mkdir(folder, { recursive: true });
    for (const name of ['.tmp-0123456789ab', '.tmp-young']) await writeFile(join(folder, name), 'half');
    await utimes(join(folder, '.tmp-0123456789ab'), ago, ago);
  }
  await startDaemon(store, { version: V2 });
  for (const folder of [dir, versions, served, spool])
    expect((await readdir(folder)).filter((name) => name.startsWith('.tmp-'))).toEqual(['.tmp-young']);
});

describe('a pinned daemon', () => {
  test('does not fetch a changed link if the pinned version is stored, and reports the skipped fetch in a notice', async () => {
    const daemon = await startDaemon(await newStore(), { version: 'v9', link: LINK }, await marchAtLink());
    expect((await daemon.deployment.readStored()).notices).toEqual([]);
    await daemon.reload({ version: 'v9', link: OTHER_LINK });
    const { notices } = await daemon.deployment.readStored();
    expect(notices).toEqual([expect.stringContaining('docshelf did not fetch the configured bundleUrl')]);
    expect(notices.join()).not.toContain('canary');
    expect(daemon.deployment.state).toBe('ready');
    expect(daemon.source.opened).toEqual([LINK]);
  });

  test('fetches a pinned version that is not stored, and stores the bundle under that version', async () => {
    const daemon = await startDaemon(store, { version: 'v9', link: LINK }, await marchAtLink());
    expect(stateOf(daemon)).toEqual({ state: 'ready', version: 'v9', error: null });
    expect((await store.label('v9'))?.digest).toBe(seed.march.digest);
  });

  test('waits if the fetch of its pinned version fails, whatever version was active', async () => {
    await makeActive(V1);
    const source = new FakeSource().serve(LINK, fault('link_expired'));
    const daemon = await startDaemon(store, { version: 'v9', link: LINK }, source);
    expect(stateOf(daemon)).toEqual({ state: 'waiting', version: null, error: 'link_expired' });
    expect(daemon.site.active).toBeNull();
  });

  test('waits if its pinned version is not available, and lists the stored versions in the error', async () => {
    const daemon = await startDaemon(store, { version: 'v9' });
    expect(stateOf(daemon)).toEqual({ state: 'waiting', version: null, error: 'version_not_found' });
    const failed = daemon.events.find((event) => event.kind === 'failed');
    expect(failed).toMatchObject({ error: { fields: { version: 'v9', stored: [V3, V2, V1] } } });
    expect(daemon.deployment.journal.lastError?.message).toContain(`${V3}, ${V2}, ${V1}`);
  });

  test('keeps the served version if a reload pins a version that is not available', async () => {
    const daemon = await startDaemon(store, { version: V1 });
    await daemon.reload({ version: 'v9' });
    expect(stateOf(daemon)).toEqual({ state: 'stale', version: V1, error: 'version_not_found' });
    expect((await daemon.deployment.readStored()).notices).toContainEqual(
      expect.stringMatching(/pins version v9, which.*no version after a restart/),
    );
    expect(daemon.site.active?.version).toBe(V1);
    await daemon.reload({ version: V2 });
    expect(stateOf(daemon)).toEqual({ state: 'ready', version: V2, error: null });
  });

  test('leaves the stored active version unchanged until an operator activates the pinned version', async () => {
    await makeActive(V1);
    const before = await store.active();
    const daemon = await startDaemon(store, { version: V2 });
    await daemon.reload({ version: V3 });
    expect(await store.active()).toEqual(before);
    await daemon.deployment.activate(V3);
    expect(await store.active()).toMatchObject({ version: V3 });
    expect(stateOf(daemon)).toEqual({ state: 'ready', version: V3, error: null });
  });

  test('moves the label of the pinned version, without a fetch, to a stored release that staticExport.sha256 names', async () => {
    const daemon = await startDaemon(store, { version: V1, link: LINK });
    await daemon.reload({ version: V1, link: LINK, sha256: seed.february.digest });
    expect(daemon.site.active).toMatchObject({ version: V1, digest: seed.february.digest });
    expect((await store.label(V1))?.digest).toBe(seed.february.digest);
    expect(daemon.source.opened).toEqual([]);
  });

  test('moves the label of the pinned version to a fetched bundle that has the digest in sha256', async () => {
    const again = await packBundle('acme-export-2024-03-01.tar.gz', 'March, once more');
    const source = await new FakeSource().serveBundle(LINK, again);
    const daemon = await startDaemon(store, { version: V1, link: LINK }, source);
    await daemon.reload({ version: V1, link: LINK, sha256: again.digest });
    expect(daemon.site.active).toMatchObject({ version: V1, digest: again.digest });
    expect(await store.has(seed.january.digest)).toBe(true);
  });

  test('does not move the label of the pinned version if the fetched bundle has another digest than sha256', async () => {
    const daemon = await startDaemon(store, { version: V1, link: LINK }, await marchAtLink());
    await daemon.reload({ version: V1, link: LINK, sha256: 'f'.repeat(64) });
    expect(stateOf(daemon)).toEqual({ state: 'stale', version: V1, error: 'wrong_digest' });
    expect((await store.label(V1))?.digest).toBe(seed.january.digest);
  });

  test('rejects a stored bundle whose manifest contradicts the pinned version', async () => {
    const named = await packBundle('bundle.tar.gz', 'named', { version: 'v7', domain: 'docs' });
    await importBundle(store, named);
    const daemon = await startDaemon(store, { version: V1 });
    await daemon.reload({ version: V1, sha256: named.digest });
    expect(stateOf(daemon)).toEqual({ state: 'stale', version: V1, error: 'version_mismatch' });
  });

  test('fetches its pinned version again if the stored release is damaged', async () => {
    await writeFile(`${store.folderOf(seed.march.digest)}/release.json`, 'no record');
    const daemon = await startDaemon(store, { version: V3, link: LINK }, await marchAtLink());
    expect(stateOf(daemon)).toEqual({ state: 'ready', version: V3, error: null });
  });

  test('serves a delivered bundle of its pinned version, and aborts the fetch of that version', async () => {
    const source = new FakeSource().serve(LINK, new Promise<never>(() => undefined));
    const daemon = await openDaemon(store, { version: 'v9', link: LINK }, source);
    const settled = daemon.deployment.reconcile();
    await until(() => expect(source.opened).toEqual([LINK]));
    const delivered = await daemon.deployment.deliver(importOf(seed.january, { version: 'v9' }));
    await settled;
    expect(delivered.activated).toBe(true);
    expect(stateOf(daemon)).toEqual({ state: 'ready', version: 'v9', error: null });
  });

  test('does not serve a delivered bundle of another version', async () => {
    const daemon = await startDaemon(store, { version: V1 });
    const delivered = await daemon.deployment.deliver(importOf(seed.march));
    expect(delivered).toMatchObject({ version: V3, activated: false });
    expect(daemon.site.active?.version).toBe(V1);
  });
});

describe('a link whose bundle was served under one version label', () => {
  const SAME_LINK = `${LINK}-renewed`;

  test('is rejected after a reload that pins another version, so that docshelf serves the old version until the link changes', async () => {
    const source = await marchAtLink();
    await source.serveBundle(SAME_LINK, seed.march);
    const daemon = await startDaemon(await newStore(), { version: 'v1', link: LINK }, source);
    expect(stateOf(daemon)).toEqual({ state: 'ready', version: 'v1', error: null });
    // The config changes before the Secret. A renewed query is the same link.
    await daemon.reload({ version: 'v2', link: SAME_LINK });
    expect(stateOf(daemon)).toEqual({ state: 'stale', version: 'v1', error: 'link_of_another_version' });
    expect(daemon.deployment.journal.lastError?.next).toContain(`staticExport.sha256 to ${seed.march.digest}`);
    expect(JSON.stringify(daemon.events)).not.toContain('canary');
    await source.serveBundle(OTHER_LINK, seed.february);
    await daemon.reload({ version: 'v2', link: OTHER_LINK });
    expect(stateOf(daemon)).toEqual({ state: 'ready', version: 'v2', error: null });
    expect(daemon.site.active?.digest).toBe(seed.february.digest);
  });

  test('is retried after a reload that pins another version, and accepted once it returns a different bundle', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    const source = await marchAtLink();
    const daemon = await startDaemon(await newStore(), { version: 'v1', link: LINK }, source);
    await daemon.reload({ version: 'v2', link: LINK });
    expect(daemon.deployment.state).toBe('stale');
    await source.serveBundle(LINK, seed.february);
    vi.advanceTimersByTime(10_000);
    await until(() => expect(daemon.site.active?.digest).toBe(seed.february.digest));
  });

  test('is rejected for a newly pinned version after a restart, unless sha256 contains the digest of the bundle', async () => {
    const empty = await newStore();
    const first = await startDaemon(empty, { version: 'v1', link: LINK }, await marchAtLink());
    await first.stop();
    await empty.removeLabel('v1');
    await empty.removeRelease(seed.march.digest);
    const second = await startDaemon(empty, { version: 'v2', link: LINK }, await marchAtLink());
    expect(stateOf(second)).toEqual({ state: 'waiting', version: null, error: 'link_of_another_version' });
    expect((await empty.labels()).size).toBe(0);
    await second.reload({ version: 'v2', link: LINK, sha256: seed.march.digest });
    expect(stateOf(second)).toEqual({ state: 'ready', version: 'v2', error: null });
  });

  test('is accepted for a newly pinned version if the manifest of the bundle contains that version', async () => {
    const named = await packBundle('bundle.tar.gz', 'named', { version: 'v2', domain: 'docs' });
    const empty = await newStore();
    await empty.addLink({
      link: 'https://bundles.test/acme-export-2024-03-01.tar.gz',
      digest: named.digest,
      version: 'v1',
    });
    const daemon = await startDaemon(
      empty,
      { version: 'v2', link: LINK },
      await new FakeSource().serveBundle(LINK, named),
    );
    expect(stateOf(daemon)).toEqual({ state: 'ready', version: 'v2', error: null });
  });

  test('is accepted for a newly pinned version if no version was pinned before', async () => {
    const daemon = await startDaemon(await newStore(), { link: LINK }, await marchAtLink());
    expect(daemon.site.active?.version).toBe(V3);
    await daemon.reload({ version: 'v2', link: LINK });
    expect(stateOf(daemon)).toEqual({ state: 'ready', version: 'v2', error: null });
  });

  test('is forgotten once fifty newer pairs of a link and a version label are stored', async () => {
    const empty = await newStore();
    const link = 'https://bundles.test/docs.tar.gz';
    const [digest] = [seed.march.digest];
    for (let number = 0; number <= 50; number += 1) await empty.addLink({ link, digest, version: `v${number}` });
    await empty.addLink({ link, digest, version: 'v50' });
    expect((await empty.links()).map(({ version }) => version)).toEqual(
      Array.from({ length: 50 }, (_, at) => `v${at + 1}`),
    );
  });
});

describe('an unpinned daemon with bundleUrl', () => {
  test('does not fetch again until its link changes', async () => {
    const source = await (await marchAtLink()).serveBundle(OTHER_LINK, seed.february);
    const daemon = await startDaemon(store, { link: LINK }, source);
    await daemon.reload({ link: LINK, keep: 2 });
    expect(source.opened).toEqual([LINK]);
    await daemon.reload({ link: OTHER_LINK });
    expect(source.opened).toEqual([LINK, OTHER_LINK]);
    expect(daemon.site.active?.version).toBe(V2);
  });

  test('serves, without a fetch, the stored bundle whose digest is in sha256', async () => {
    const settings = { link: LINK, sha256: seed.february.digest };
    const daemon = await startDaemon(store, settings);
    expect([stateOf(daemon).version, daemon.source.opened]).toEqual([V2, []]);
    await daemon.deployment.deliver(importOf(seed.march));
    expect(daemon.site.active?.version).toBe(V3);
    await daemon.reload(settings);
    expect(daemon.site.active?.version).toBe(V3);
    await daemon.deployment.activate(V1);
    expect(daemon.site.active?.version).toBe(V1);
    await daemon.stop();
    const second = await startDaemon(store, settings);
    expect(stateOf(second)).toEqual({ state: 'ready', version: V1, error: null });
  });

  test('serves the last active version with the state stale if the fetch at its start fails', async () => {
    await makeActive(V1);
    const daemon = await startDaemon(store, { link: LINK }, new FakeSource().serve(LINK, fault('link_expired')));
    expect(stateOf(daemon)).toEqual({ state: 'stale', version: V1, error: 'link_expired' });
    expect(daemon.site.active?.version).toBe(V1);
  });

  test('reports the activity "fetching" only during the fetch', async () => {
    const source = new FakeSource().serve(LINK, new Promise<never>(() => undefined));
    const daemon = await openDaemon(store, { link: LINK }, source);
    void daemon.deployment.reconcile();
    await until(() => expect(source.opened).toEqual([LINK]));
    expect(daemon.deployment.journal.activity).toContain('fetching');
    await daemon.stop();
    expect(daemon.deployment.journal.activity).toBeNull();
  });

  test('does not fetch again if it is stopped during a fetch', async () => {
    let stopped: Promise<void> | undefined;
    class StoppingSource extends FakeSource {
      override open(...order: Parameters<FakeSource['open']>): ReturnType<FakeSource['open']> {
        const opening = super.open(...order);
        // The loop reads the disk when the fetch ends.
        if (stopped === undefined) void daemon.deployment.reconcile();
        stopped ??= daemon.stop();
        return opening;
      }
    }
    const source = new StoppingSource().serve(LINK, new Promise<never>(() => undefined));
    const daemon = await openDaemon(store, { link: LINK }, source);
    await daemon.deployment.reconcile();
    await stopped;
    expect(daemon.events.filter(({ kind }) => kind === 'fetch-started')).toHaveLength(1);
    expect(daemon.deployment.journal.activity).toBeNull();
  });

  test('serves the last active version after three seconds if the link is slow', async () => {
    await makeActive(V1);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    const arriving = Promise.withResolvers<Buffer>();
    const daemon = await openDaemon(store, { link: LINK }, new FakeSource().serve(LINK, arriving.promise));
    const settled = daemon.deployment.reconcile();
    await until(() => expect(daemon.source.opened).toEqual([LINK]));
    expect(daemon.deployment.state).toBe('waiting');
    vi.advanceTimersByTime(3_000);
    await until(() => expect(daemon.site.active?.version).toBe(V1));
    expect(daemon.deployment.state).toBe('stale');
    arriving.resolve(await readFile(seed.march.file));
    await settled;
    expect(stateOf(daemon)).toEqual({ state: 'ready', version: V3, error: null });
  });

  test('keeps the served version if a new link fails, and retries a temporary error', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    const source = await marchAtLink();
    const daemon = await startDaemon(store, { link: LINK }, source);
    source.serve(OTHER_LINK, fault('source_unreachable', true));
    await daemon.reload({ link: OTHER_LINK });
    expect(stateOf(daemon)).toEqual({ state: 'stale', version: V3, error: 'source_unreachable' });
    await source.serveBundle(OTHER_LINK, seed.february);
    vi.advanceTimersByTime(10_000);
    await until(() => expect(daemon.site.active?.version).toBe(V2));
    await until(async () => expect(stateOf(daemon)).toMatchObject({ state: 'ready', error: null }));
  });

  test('does not retry a permanent error', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    const daemon = await startDaemon(store, { link: LINK }, new FakeSource().serve(LINK, fault('link_expired')));
    expect(vi.getTimerCount()).toBe(0);
    expect(daemon.source.opened).toEqual([LINK]);
  });

  test('fetches the new link after a reload, even if the bundle of the old link arrives during the reload', async () => {
    const arriving = Promise.withResolvers<Buffer>();
    const source = await new FakeSource().serveBundle(OTHER_LINK, seed.february);
    const daemon = await openDaemon(store, { link: LINK }, source.serve(LINK, arriving.promise));
    const first = daemon.deployment.reconcile();
    await until(() => expect(source.opened).toEqual([LINK]));
    // The new settings are accepted, but the bundle of the old link is stored and served before they take effect.
    await daemon.deployment.accept(settingsOf(store, { link: OTHER_LINK }));
    arriving.resolve(await readFile(seed.march.file));
    await first;
    await daemon.deployment.reconcile();
    expect(source.opened).toEqual([LINK, OTHER_LINK]);
    expect(daemon.site.active?.version).toBe(V2);
  });

  test('keeps serving the bundle that it fetched for a pinned version if a reload removes the pin', async () => {
    await makeActive(V1);
    const daemon = await startDaemon(store, { version: 'v9', link: LINK }, await marchAtLink());
    await daemon.reload({ link: LINK });
    expect(daemon.site.active?.digest).toBe(seed.march.digest);
    expect((await store.active())?.digest).toBe(seed.march.digest);
  });
});

describe('a daemon with neither a pinned version nor bundleUrl', () => {
  test('serves the active version, and waits if no version is active', async () => {
    const waiting = await startDaemon(store);
    expect(stateOf(waiting)).toEqual({ state: 'waiting', version: null, error: 'no_version' });
    await waiting.stop();
    await makeActive(V2);
    expect(stateOf(await startDaemon(store))).toEqual({ state: 'ready', version: V2, error: null });
  });

  test('updates the list of older releases of the served site if another version is imported or removed', async () => {
    await makeActive(V2);
    const { deployment, site } = await startDaemon(store);
    const others = () => site.older.map(({ digest }) => digest);
    expect(others()).toContain(seed.march.digest);
    await deployment.remove(V3);
    await until(() => expect(others()).toEqual([seed.january.digest]));
    expect(await deployment.deliver(importOf(seed.march, { activate: false }))).toMatchObject({ activated: false });
    expect(site.active?.version).toBe(V2);
    expect(others().sort()).toEqual([seed.january.digest, seed.march.digest].sort());
  });

  test.each([
    ['the version that was active before', V1],
    ['a state without a version', null],
  ])('serves a bundle that is delivered during the start, and does not fall back to %s', async (_, before) => {
    const folder = before === null ? await newStore() : store;
    if (before !== null) await makeActive(before);
    const daemon = await openDaemon(folder);
    // The start has read the active version, and continues only after the import of the delivery.
    const [hasRead, delivered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const readActive = folder.active.bind(folder);
    let reads = 0;
    folder.active = async () => {
      const found = await readActive();
      reads += 1;
      if (reads === 2) {
        hasRead.resolve();
        await delivered.promise;
      }
      return found;
    };
    const settling = daemon.deployment.reconcile();
    await hasRead.promise;
    const delivering = daemon.deployment.deliver(importOf(seed.march));
    await until(() =>
      expect(daemon.events.some(({ kind }) => kind === 'taken-in') || daemon.deployment.journal.activity === null).toBe(
        true,
      ),
    );
    delivered.resolve();
    await Promise.all([settling, delivering]);
    expect(stateOf(daemon)).toEqual({ state: 'ready', version: V3, error: null });
  });

  test('accepts an upload, and leaves no file in the spool', async () => {
    const { deployment } = await startDaemon(store);
    const upload = { fileName: null, version: null, source: 'upload', activate: true } as const;
    const bytes = await readFile(seed.january.file);
    const imported = await deployment.deliverStream(streamOf(bytes), upload);
    expect(imported.version).toBe(versionFromDigest(seed.january.digest));
    expect((await readdir(store.paths.spool)).filter((name) => name !== 'lock')).toEqual([]);
  });
});

describe('a disabled daemon', () => {
  test('serves no page, and serves again when it is enabled', async () => {
    const daemon = await startDaemon(store, { version: V1 });
    await daemon.reload({ enabled: false, version: V1 });
    expect(stateOf(daemon)).toEqual({ state: 'off', version: null, error: null });
    expect(daemon.site.active).toBeNull();
    await daemon.reload({ version: V1 });
    expect(daemon.site.active?.version).toBe(V1);
  });

  test('never serves a page while its status reports that no version is active', async () => {
    await makeActive(V1);
    const daemon = await startDaemon(store);
    const reloading = daemon.reload({ enabled: false });
    while (daemon.deployment.active !== null) await new Promise(setImmediate);
    expect(daemon.site.active).toBeNull();
    await reloading;
  });

  test('serves no page if it is disabled during an activation', async () => {
    const daemon = await startDaemon(store);
    const { deployment } = daemon;
    const setActive = store.setActive.bind(store);
    let reloading: Promise<void> | null = null;
    vi.spyOn(store, 'setActive').mockImplementationOnce(async (pointer) => {
      await setActive(pointer);
      await deployment.accept(settingsOf(store, { enabled: false }));
      reloading = deployment.reconcile();
    });
    await deployment.activate(V2);
    await reloading;
    expect(stateOf(daemon)).toEqual({ state: 'off', version: null, error: null });
    expect(daemon.site.active).toBeNull();
  });

  test('imports delivered bundles, and serves them once it is enabled', async () => {
    const daemon = await startDaemon(store, { enabled: false });
    await daemon.deployment.deliver(importOf(seed.march));
    expect(daemon.site.active).toBeNull();
    await daemon.reload({});
    expect(daemon.site.active?.version).toBe(V3);
  });

  test('neither fetches nor imports a bundle by itself', async () => {
    await putInto(`${store.paths.dir}/bundles`, await packBundle('acme-export-2025-01-01.tar.gz', 'later'));
    const daemon = await startDaemon(store, { enabled: false, link: LINK }, await marchAtLink());
    expect(daemon.source.opened).toEqual([]);
    expect(await store.list()).toHaveLength(3);
  });
});

async function* streamOf(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
