import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDataFolder, SiteStore } from '../../src/deploy/index.ts';
import { SeededRandom, seedOfEnvironment } from '../helpers/random.ts';
import { runs } from '../helpers/runs.ts';
import {
  type Bundle,
  FakeSource,
  fault,
  openDaemon,
  type Seed,
  type SettingsOf,
  seedShelf,
  type TestDaemon,
} from './workbench.ts';

/**
 * Random sequences of config changes, deliveries, commands, faults and restarts, held against what contract section 2 says
 * of each. DOCSHELF_MODEL_SEQUENCES says how many: 2,000 in .ci/run, ten times as many in the soak. With 1, and the seed that
 * a failure names as DOCSHELF_SEED, that sequence is repeated.
 */
const SEQUENCES = runs(Number(process.env.DOCSHELF_MODEL_SEQUENCES ?? 300));
/** Side by side: a sequence waits for the disk half of its time. */
const LANES = 4;
const STEPS = 8;
const VERSIONS = ['2024-01-01', '2024-02-01', '2024-03-01', 'v9'] as const;
const LINKS = ['https://bundles.test/a.tar.gz?signature=1', 'https://bundles.test/b.tar.gz?signature=1'] as const;

let seed: Seed;
let root: string;
beforeAll(async () => {
  seed = await seedShelf();
  // In memory where that is to be had: thousands of flushes are not what is tested here.
  const base = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  root = await mkdtemp(join(base, 'docshelf-model-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** One data folder, the daemon on it, and what must hold of it. */
class World {
  readonly dir: string;
  readonly random: SeededRandom;
  store!: SiteStore;
  daemon!: TestDaemon;
  settings: SettingsOf = { keep: 2 };
  readonly source = new FakeSource();
  readonly log: string[] = [];
  /** What each link gave for a pinned version. */
  readonly gave = new Map<string, string>();
  linkGives: (Bundle | null)[] = [];

  constructor(dir: string, random: SeededRandom) {
    this.dir = dir;
    this.random = random;
  }

  get bundles(): readonly Bundle[] {
    return [seed.january, seed.february, seed.march];
  }

  async start(): Promise<void> {
    this.store = new SiteStore(await openDataFolder(this.dir));
    this.daemon = await openDaemon(this.store, this.settings, this.source);
    await this.daemon.deployment.settle();
  }

  async setLink(at: number, bundle: Bundle | null): Promise<void> {
    this.linkGives[at] = bundle;
    const link = LINKS[at] ?? '';
    if (bundle === null) this.source.gives(link, fault('link_expired'));
    else await this.source.givesBundle(link, bundle);
  }

  async pointers(): Promise<string> {
    const { active, wanted } = this.store.site;
    const read = (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '');
    return (await read(active)) + (await read(wanted));
  }

  async step(): Promise<void> {
    const { random } = this;
    const { deployment, site } = this.daemon;
    const pin = this.settings.version ?? null;
    const served = site.active?.digest ?? null;
    const pointers = await this.pointers();
    const act = random.pick([
      'reload',
      'reload',
      'link',
      'deliver',
      'deliver',
      'activate',
      'rollback',
      'remove',
      'restart',
    ]);
    const version = random.pick(VERSIONS);
    const bundle = random.pick(this.bundles);
    this.log.push(`${act} ${version} ${bundle.fileName}`);
    let isRestart = false;
    switch (act) {
      case 'reload':
        this.settings = {
          keep: random.pick([1, 2, 9]),
          enabled: random.pick([true, true, true, false]),
          version: random.pick([null, null, ...VERSIONS]),
          link: random.pick([null, ...LINKS]),
        };
        this.log.push(JSON.stringify(this.settings));
        await this.daemon.reload(this.settings);
        break;
      case 'link':
        await this.setLink(random.pick([0, 1]), random.pick([null, ...this.bundles]));
        break;
      case 'deliver': {
        const activate = random.pick([true, true, false]);
        const label = random.pick([null, version]);
        const delivery = { ...bundle, version: label, source: 'import', activate } as const;
        const taken = await deployment.deliver(delivery).catch(() => null);
        if (taken === null) expect(pin, 'only a pin refuses a sound archive').not.toBeNull();
        if (taken !== null && pin === null && this.settings.enabled !== false) {
          if (activate) expect(site.active?.digest, 'a delivery is served').toBe(bundle.digest);
          else expect(site.active?.digest ?? null, '--no-activate activates nothing').toBe(served);
        }
        break;
      }
      case 'activate': {
        const known = await this.store.label(version);
        const done = await deployment.activate(version).catch((error: { code: string }) => error.code);
        if (pin !== null && pin !== version) expect(done).toBe('pinned');
        else if (known === null) expect(done).toBe('version_not_found');
        else if (this.settings.enabled !== false) expect(site.active?.digest).toBe(known.digest);
        if (pin === null && known !== null && this.settings.link == null) {
          // It holds over a restart.
          await this.restart();
          if (this.settings.enabled !== false) expect(this.daemon.site.active?.version).toBe(version);
          isRestart = true;
        }
        break;
      }
      case 'rollback': {
        const before = await this.store.active();
        const done = await deployment.rollback().catch((error: { code: string }) => error.code);
        const former = before?.history[0];
        if (pin !== null) expect(done).toBe('pinned');
        else if (former !== undefined && (await this.store.has(former.digest)) && former.digest !== before?.digest)
          expect(done).toMatchObject({ digest: former.digest });
        break;
      }
      case 'remove':
        await deployment.remove(version).catch(() => undefined);
        break;
      default:
        await this.restart();
        isRestart = true;
    }
    await this.check(isRestart, act === 'reload' && this.settings.enabled === false, served);
    const mayWrite = pin === null || (act === 'reload' && this.settings.version == null);
    if (!mayWrite) expect(await this.pointers(), 'a pinned daemon writes neither wanted nor active').toBe(pointers);
  }

  async restart(): Promise<void> {
    await this.daemon.stop();
    await this.start();
  }

  async check(isRestart: boolean, isTurnedOff: boolean, before: string | null): Promise<void> {
    const { daemon, store, settings } = this;
    const { active } = daemon.site;
    const { state } = daemon.deployment;
    const isOff = settings.enabled === false;
    expect(state === 'off').toBe(isOff);
    if (!isOff) expect(state === 'waiting', 'waiting where nothing is served').toBe(active === null);
    if (before !== null && !isRestart && !isTurnedOff && !isOff) expect(active, 'what is served stays').not.toBeNull();
    if (active !== null) await store.view(active.digest, active.version);
    const pin = settings.version ?? null;
    if (pin !== null && !isOff) {
      const label = await store.label(pin);
      if (state === 'ready')
        expect({ version: active?.version, digest: active?.digest }).toEqual({ version: pin, digest: label?.digest });
      else expect(label, 'a stored pin is served').toBeNull();
      if (isRestart && label === null) expect(active, 'a pinned start serves its pin or nothing').toBeNull();
    }
    const pointer = await store.active();
    if (pin === null && !isOff && state === 'ready') expect(active?.digest).toBe(pointer?.digest);
    const pinned = new Map<string, Set<string>>();
    for (const { link, digest, version } of await store.links()) {
      const key = `${link} ${digest}`;
      pinned.set(key, (pinned.get(key) ?? new Set()).add(version));
    }
    for (const versions of pinned.values())
      expect(versions.size, 'a link gives a digest for one pinned version').toBe(1);
  }
}

async function runSequence(sequenceSeed: number): Promise<void> {
  const random = new SeededRandom(sequenceSeed);
  const dir = join(root, String(sequenceSeed));
  const isSeeded = random.pick([true, false]);
  if (isSeeded) await cp(seed.dir, dir, { recursive: true });
  const world = new World(dir, random);
  try {
    for (const link of [0, 1]) await world.setLink(link, random.pick([null, ...world.bundles]));
    await world.start();
    for (let step = 0; step < STEPS; step += 1) await world.step();
  } catch (error) {
    throw new Error(`seed ${sequenceSeed}: ${world.log.join('; ')}`, { cause: error });
  } finally {
    await world.daemon.stop();
    await rm(dir, { recursive: true, force: true });
  }
}

test(`${SEQUENCES} random sequences keep to the contract`, { timeout: 1_800_000 }, async () => {
  const first = seedOfEnvironment() ?? new SeededRandom().seed;
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < SEQUENCES) await runSequence(first + next++);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
});
