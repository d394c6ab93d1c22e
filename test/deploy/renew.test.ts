import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { FreshLink, LinkSource } from '../../src/deploy/ports.ts';
import type { SiteStore } from '../../src/deploy/releases/site-store.ts';
import type { RenewSettings } from '../../src/deploy/settings.ts';
import type { DocshelfError } from '../../src/domain/errors.ts';
import { Secret } from '../../src/domain/secret.ts';
import { untilAborted } from '../helpers/until-aborted.ts';
import {
  type Bundle,
  copyOf,
  FakeSource,
  fault,
  LINK,
  newStore,
  openDaemon,
  packBundle,
  type SettingsOf,
  seedShelf,
  stateOf,
  type TestDaemon,
  until,
} from './workbench.ts';

/** A service with a list of exports, each with a working link. */
class FakeLinks implements LinkSource {
  readonly calls: string[] = [];
  readonly renewals: RenewSettings[] = [];
  /** Newest completed export. */
  newest: Bundle | null = null;
  /** Bundle or error of the next export. */
  next: Bundle | DocshelfError | null = null;
  reportsDigests = true;
  /** The list of jobs is an addition of docshelf, which other services lack. */
  lists = true;
  /** Delays the response to a start. */
  startDelay: Promise<void> = Promise.resolve();
  readonly #source: FakeSource;

  constructor(source: FakeSource) {
    this.#source = source;
  }

  readonly open = async (renew: RenewSettings): Promise<LinkSource> => {
    this.renewals.push(renew);
    return this;
  };

  async freshLink(version: string | null): Promise<FreshLink | null> {
    this.calls.push(`link ${version}`);
    return this.newest === null || !this.lists ? null : this.#linkTo(this.newest);
  }

  async startExport(version: string | null, signal: AbortSignal): Promise<string> {
    this.calls.push(`start ${version}`);
    const jobId = `job-${this.calls.length}`;
    await this.startDelay;
    signal.throwIfAborted();
    return jobId;
  }

  async linkWhenDone(jobId: string, signal: AbortSignal): Promise<FreshLink> {
    this.calls.push(`wait ${jobId}`);
    if (this.next === null) {
      return untilAborted(signal);
    }
    if (!('file' in this.next)) throw this.next;
    this.newest = this.next;
    return this.#linkTo(this.next);
  }

  async #linkTo(bundle: Bundle): Promise<FreshLink> {
    const link = `https://fresh.test/${bundle.fileName}?signature=canary-${this.calls.length}`;
    await this.#source.serveBundle(link, bundle);
    return {
      jobId: 'se_1',
      link: new Secret(link),
      sha256: this.reportsDigests ? bundle.digest : null,
      signature: null,
    };
  }
}

const DAY_MS = 86_400_000;
const RENEW: RenewSettings = {
  apiUrl: 'https://api.test',
  key: new Secret('svc_canary'),
  domain: 'acme',
  jobId: null,
  everyMs: null,
};

const seed = await seedShelf();
const april = await packBundle('acme-export-2024-04-01.tar.gz', 'april');

let store: SiteStore;
let source: FakeSource;
let links: FakeLinks;
let startedMs: number;
beforeEach(async () => {
  startedMs = Date.now();
  store = await newStore();
  source = new FakeSource();
  links = new FakeLinks(source);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

async function start(settings: SettingsOf): Promise<TestDaemon> {
  const daemon = await openDaemon(store, { renew: RENEW, ...settings }, source, links.open);
  await daemon.deployment.reconcile();
  return daemon;
}

const kindsOf = ({ events }: TestDaemon) => events.map(({ kind }) => kind).filter((kind) => kind !== 'progress');

describe('an invalid bundle link with staticExport.renew', () => {
  test.each(['link_expired', 'link_refused', 'bundle_not_found'] as const)(
    'is renewed after the error %s',
    async (code) => {
      source.serve(LINK, fault(code));
      links.newest = seed.march;
      const daemon = await start({ link: LINK });
      expect(stateOf(daemon)).toEqual({ state: 'ready', version: '2024-03-01', error: null });
      expect(links.calls).toEqual(['link null']);
      expect(kindsOf(daemon)).toEqual([
        'fetch-started',
        'link-renewed',
        'fetch-started',
        'fetched',
        'taken-in',
        'activated',
      ]);
      expect(JSON.stringify(daemon.events)).not.toContain('canary');
    },
  );

  test('is not renewed if its host is not allowed, and causes the error host_not_allowed', async () => {
    source.serve(LINK, fault('host_not_allowed'));
    const daemon = await start({ link: LINK });
    expect(stateOf(daemon)).toEqual({ state: 'waiting', version: null, error: 'host_not_allowed' });
    expect(links.calls).toEqual([]);
  });

  test('is renewed with an export of the pinned version if the service has no bundle of that version', async () => {
    source.serve(LINK, fault('link_expired'));
    links.next = april;
    const daemon = await start({ link: LINK, version: 'v4' });
    expect(stateOf(daemon)).toEqual({ state: 'ready', version: 'v4', error: null });
    expect(links.calls).toEqual(['link v4', 'start v4', 'wait job-2']);
    // The fresh link replaced the configured one, so there is no notice.
    expect((await daemon.deployment.readStored()).notices).toEqual([]);
  });

  test('is not used if the pinned version is stored', async () => {
    store = await copyOf(seed);
    const daemon = await start({ link: LINK, version: '2024-02-01' });
    expect(stateOf(daemon)).toEqual({ state: 'ready', version: '2024-02-01', error: null });
    expect([links.calls, source.opened]).toEqual([[], []]);
  });

  test('causes no export while a version is served', async () => {
    source.serve(LINK, fault('link_expired'));
    links.newest = seed.march;
    await (await start({ link: LINK })).stop();
    links.newest = null;
    const second = await start({ link: LINK });
    expect(stateOf(second)).toEqual({ state: 'stale', version: '2024-03-01', error: 'link_expired' });
    expect(links.calls).toEqual(['link null', 'link null']);
  });

  test('causes no download if the bundle of the renewed link is already stored', async () => {
    store = await copyOf(seed);
    source.serve(LINK, fault('link_expired'));
    links.newest = seed.february;
    const daemon = await start({ link: LINK });
    expect(stateOf(daemon)).toEqual({ state: 'ready', version: '2024-02-01', error: null });
    expect(source.opened).toEqual([LINK]);
  });

  test('causes a download from the renewed link, although its bundle is stored, if this bundle is older than a formerly active version', async () => {
    store = await copyOf(seed);
    await store.noteActive({ version: '2024-03-01', createdAt: '2024-03-01T00:00:00.000Z' });
    source.serve(LINK, fault('link_expired'));
    links.newest = seed.february;
    await start({ link: LINK });
    expect(source.opened.length).toBeGreaterThan(1);
  });

  test('causes the error wrong_digest if the renewed bundle does not match sha256', async () => {
    source.serve(LINK, fault('link_expired'));
    links.newest = april;
    const daemon = await start({ link: LINK, sha256: seed.march.digest });
    expect(stateOf(daemon)).toEqual({ state: 'waiting', version: null, error: 'wrong_digest' });
    expect(source.opened).toEqual([LINK]);
    links.reportsDigests = false;
    await daemon.deployment.reconcile();
    expect(stateOf(daemon).error).toBe('wrong_digest');
    expect(source.opened).toHaveLength(3);
  });
});

test('a daemon without bundleUrl requests a link from the export service, and starts an export if the service has no bundle', async () => {
  links.next = april;
  const daemon = await start({});
  expect(stateOf(daemon)).toEqual({ state: 'ready', version: '2024-04-01', error: null });
  expect(links.calls).toEqual(['link null', 'start null', 'wait job-2']);
  await daemon.stop();
  // A restart uses the newest export.
  expect(stateOf(await start({}))).toEqual({ state: 'ready', version: '2024-04-01', error: null });
  expect(links.calls.slice(3)).toEqual(['link null']);
});

test('a daemon that lost the connection to the export service waits for the running export again, and starts no further export', async () => {
  links.next = fault('source_unreachable', true);
  const daemon = await start({});
  expect(stateOf(daemon)).toEqual({ state: 'waiting', version: null, error: 'source_unreachable' });
  links.next = april;
  await daemon.deployment.reconcile();
  expect(stateOf(daemon)).toEqual({ state: 'ready', version: '2024-04-01', error: null });
  expect(links.calls).toEqual(['link null', 'start null', 'wait job-2', 'link null', 'wait job-2']);
});

test('a daemon whose settings change while an export starts waits for that export instead of starting another export', async () => {
  const answer = Promise.withResolvers<void>();
  links.startDelay = answer.promise;
  const { deployment } = await openDaemon(store, { renew: { ...RENEW, everyMs: DAY_MS } }, source, links.open);
  const first = deployment.reconcile();
  await until(() => expect(links.calls).toContain('start null'));
  links.next = april;
  const second = deployment.reconcile();
  answer.resolve();
  await Promise.all([first, second]);
  expect(deployment.active?.version).toBe('2024-04-01');
  expect(links.calls.filter((call) => call.startsWith('start'))).toEqual(['start null']);
});

test('a daemon requests the link of an export again if the fetch of its bundle failed, instead of starting another export', async () => {
  links.lists = false;
  links.next = april;
  const given = vi.spyOn(source, 'serveBundle').mockImplementationOnce(async (link) => {
    return source.serve(link, fault('source_unreachable', true));
  });
  const daemon = await start({});
  expect(stateOf(daemon)).toEqual({ state: 'waiting', version: null, error: 'source_unreachable' });
  await daemon.deployment.reconcile();
  expect(stateOf(daemon)).toEqual({ state: 'ready', version: '2024-04-01', error: null });
  expect(links.calls.filter((call) => call.startsWith('start'))).toHaveLength(1);
  expect(given).toHaveBeenCalledTimes(2);
});

test('a daemon starts a new export after an export has failed', async () => {
  links.next = fault('job_failed');
  const daemon = await start({});
  links.next = april;
  await daemon.deployment.reconcile();
  expect(links.calls.filter((word) => word.startsWith('start'))).toHaveLength(2);
  expect(stateOf(daemon).state).toBe('ready');
});

describe('staticExport.renew.every', () => {
  const every: SettingsOf = { renew: { ...RENEW, everyMs: DAY_MS } };

  async function startServingMarch(everyMs = DAY_MS): Promise<TestDaemon> {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    links.newest = seed.march;
    const daemon = await start({ renew: { ...RENEW, everyMs } });
    expect(stateOf(daemon)).toEqual({ state: 'ready', version: '2024-03-01', error: null });
    links.calls.length = 0;
    return daemon;
  }

  /** Advances to the next round. A running round sets the timer only at its end, which takes real time. */
  async function nextRound(everyMs = DAY_MS): Promise<void> {
    const callsBefore = links.calls.length;
    await until(async () => {
      await vi.advanceTimersByTimeAsync(1.1 * everyMs);
      expect(links.calls.length).toBeGreaterThan(callsBefore);
    });
  }

  test('exports the site once per interval, and activates the new bundle', async () => {
    const daemon = await startServingMarch();
    links.next = april;
    await vi.advanceTimersByTimeAsync(DAY_MS - 1);
    expect(links.calls).toEqual([]);
    await vi.advanceTimersByTimeAsync(DAY_MS / 10 + 1);
    await until(() => expect(daemon.deployment.active?.version).toBe('2024-04-01'));
    // Not again while the loop checks the result.
    await daemon.deployment.stop();
    expect(links.calls).toEqual(['start null', 'wait job-1']);
    expect(daemon.deployment.journal.lastError).toBeNull();
  });

  test('keeps the active release if an export creates the same bundle', async () => {
    const daemon = await startServingMarch();
    const before = { active: daemon.deployment.active, opened: source.opened.length };
    links.next = seed.march;
    await nextRound();
    await until(() => expect(links.calls).toHaveLength(2));
    await until(() => expect(kindsOf(daemon).filter((kind) => kind === 'link-renewed')).toHaveLength(2));
    expect({ active: daemon.deployment.active, opened: source.opened.length }).toEqual(before);
  });

  test('keeps the served version if an export fails, reports the error, and exports again after the interval', async () => {
    const daemon = await startServingMarch();
    links.next = fault('job_failed');
    await nextRound();
    await until(() => expect(stateOf(daemon)).toEqual({ state: 'ready', version: '2024-03-01', error: 'job_failed' }));
    links.next = april;
    await nextRound();
    await until(() => expect(stateOf(daemon)).toEqual({ state: 'ready', version: '2024-04-01', error: null }));
  });

  test('keeps the version that an operator activated until an export creates a different bundle', async () => {
    store = await copyOf(seed);
    const daemon = await startServingMarch();
    await daemon.deployment.activate('2024-01-01');
    links.next = seed.march;
    await nextRound();
    await until(() => expect(kindsOf(daemon).filter((kind) => kind === 'link-renewed')).toHaveLength(2));
    expect(daemon.deployment.active?.version).toBe('2024-01-01');
    links.next = april;
    await nextRound();
    await until(() => expect(daemon.deployment.active?.version).toBe('2024-04-01'));
  });

  test('serves the newest export instead of the bundle of bundleUrl', async () => {
    links.newest = april;
    await source.serveBundle(LINK, seed.march);
    const daemon = await start({ ...every, link: LINK });
    expect(daemon.deployment.active?.version).toBe('2024-04-01');
    expect(source.opened).not.toContain(LINK);
  });

  test('serves the bundle of bundleUrl if the service has no export yet', async () => {
    await source.serveBundle(LINK, seed.march);
    const daemon = await start({ ...every, link: LINK });
    expect(daemon.deployment.active?.version).toBe('2024-03-01');
    expect(links.calls).toEqual(['link null']);
  });

  test('aborts the current export, and starts no further export, if a reload removes the setting', async () => {
    const daemon = await startServingMarch();
    links.next = null;
    await nextRound();
    await until(() => expect(daemon.deployment.journal.activity).toContain('waiting for the export'));
    await daemon.reload({ version: '2024-03-01' });
    expect(stateOf(daemon)).toEqual({ state: 'ready', version: '2024-03-01', error: null });
    links.calls.length = 0;
    await vi.advanceTimersByTimeAsync(5 * DAY_MS);
    expect(links.calls).toEqual([]);
  });

  test('starts no export after the daemon has stopped', async () => {
    const daemon = await startServingMarch();
    links.next = null;
    await nextRound();
    await until(() => expect(links.calls).toEqual(['start null', 'wait job-1']));
    await daemon.stop();
    await vi.advanceTimersByTimeAsync(5 * DAY_MS);
    expect(links.calls).toHaveLength(2);
    expect(daemon.deployment.journal.lastError).toBeNull();
  });

  test.each([
    ['one interval after the start', 0, DAY_MS],
    ['up to a tenth of the interval later, so that daemons do not send requests at the same time', 1, 1.1 * DAY_MS],
  ])('starts an export after the interval and a random delay: %s', async (_, random, waitMs) => {
    vi.spyOn(Math, 'random').mockReturnValue(random);
    await startServingMarch();
    links.next = april;
    await vi.advanceTimersByTimeAsync(waitMs - 10_000);
    expect(links.calls).toEqual([]);
    await vi.advanceTimersByTimeAsync(10_000);
    await until(() => expect(links.calls).toContain('start null'));
  });

  test('supports intervals longer than the maximum of setTimeout()', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    links.newest = seed.march;
    await start({ renew: { ...RENEW, everyMs: 30 * DAY_MS } });
    links.calls.length = 0;
    links.next = april;
    // Each pass of the loop takes real time before it sets the next timer.
    await until(async () => {
      await vi.advanceTimersByTimeAsync(DAY_MS);
      expect(links.calls).toContain('start null');
    });
    expect(Date.now() - startedMs).toBeGreaterThan(30 * DAY_MS);
  });

  test('retries after ten minutes if the service could not be reached', async () => {
    // A long interval, because a busy machine can need hundreds of steps of the clock until the retry has ended.
    const everyMs = 20 * DAY_MS;
    const daemon = await startServingMarch(everyMs);
    links.next = fault('source_unreachable', true);
    await nextRound(everyMs);
    await until(() => expect(stateOf(daemon).error).toBe('source_unreachable'));
    links.next = april;
    const failedMs = Date.now();
    await until(async () => {
      await vi.advanceTimersByTimeAsync(660_000);
      expect(daemon.deployment.active?.version).toBe('2024-04-01');
    });
    expect(Date.now() - failedMs).toBeLessThan(everyMs);
  });

  test('restarts the timer only if a reload changes the interval', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const daemon = await startServingMarch();
    links.next = april;
    await vi.advanceTimersByTimeAsync(0.5 * DAY_MS);
    await daemon.reload({ renew: { ...RENEW, everyMs: DAY_MS } });
    await vi.advanceTimersByTimeAsync(0.4 * DAY_MS);
    await daemon.reload({ renew: { ...RENEW, everyMs: 2 * DAY_MS } });
    expect(links.calls.filter((call) => call.startsWith('start'))).toEqual([]);
    await vi.advanceTimersByTimeAsync(1.9 * DAY_MS);
    expect(links.calls.filter((call) => call.startsWith('start'))).toEqual([]);
    await vi.advanceTimersByTimeAsync(0.2 * DAY_MS);
    await until(() => expect(links.calls.filter((call) => call.startsWith('start'))).toHaveLength(1));
  });
});
