import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Deployment } from '../../src/deploy/deployment.ts';
import { DaemonRegistration, importSlots, openDataFolder, ServedRecord, SiteStore } from '../../src/deploy/index.ts';
import { DocshelfError, type ErrorCode } from '../../src/domain/errors.ts';
import { NO_TRACES } from '../../src/traces/tracer.ts';
import { SeededRandom } from '../helpers/random.ts';
import { runs } from '../helpers/runs.ts';
import { DOMAIN, LINK_FILES, type LinkResult, type ModelConfig, type Observation, type World } from './model.ts';
import {
  type Act,
  type Command,
  carryOut,
  carryOutOnSites,
  type DrawnBundle,
  forEachSeed,
  SequenceDraw,
  type ShelfUnderTest,
  type SiteAct,
  Stock,
  type Weights,
} from './sequence.ts';
import { unpackHere } from './unpackers.ts';
import { FakeSource, fault, type SettingsOf, settingsOf, startDaemon, type TestDaemon } from './workbench.ts';

/**
 * Random sequences of config changes, deliveries, commands, faults and restarts, compared with a model.
 * DOCSHELF_MODEL_SEQUENCES sets their number: 25 here, 10,000 in `npm run soak`. To repeat a failed sequence, set
 * it to 1 and DOCSHELF_SEED to the seed of the failure.
 */
const SEQUENCES = runs(Number(process.env.DOCSHELF_MODEL_SEQUENCES ?? 25));
/** Number of sequences with two sites. The others have one. */
const SEQUENCES_OF_TWO = Math.ceil(SEQUENCES / 8);
const SEQUENCES_OF_ONE = Math.max(1, SEQUENCES - SEQUENCES_OF_TWO);
/** Sequences run concurrently, because each waits for the disk half of its time. */
const LANES = 4;
const STEPS = 8;
const WEIGHTS: Weights = {
  reload: 4,
  link: 2,
  preload: 2,
  deliver: 4,
  activate: 2,
  rollback: 2,
  remove: 2,
  restart: 2,
  alone: 1,
  beside: 1,
};
const LINKS = LINK_FILES.map((name) => `https://bundles.test/${name}?signature=1`);

let stock: Stock;
let root: string;
beforeAll(async () => {
  stock = await Stock.open();
  // In memory if possible, because durable writes are not tested here.
  const base = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  root = await mkdtemp(join(base, 'docshelf-model-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** A data folder with a deployment in this process. */
class DeploymentUnderTest implements ShelfUnderTest {
  readonly settleMsMax = 0;
  readonly #dir: string;
  readonly #source = new FakeSource();
  #config: ModelConfig;
  #store: SiteStore | null = null;
  #daemon: TestDaemon | null = null;
  /** A daemon that shares the folder. */
  #second: TestDaemon | null = null;
  /** Pointers before the action, which a restart reads. Null if an operator activates a version, which may write them. */
  #pointers: string | null = null;

  readonly #domain: string;
  /** Registration of the daemon to which the site belongs. Null means a separate daemon. */
  readonly #registration: DaemonRegistration | null;

  constructor(dir: string, { domain, config, linkResults }: World, registration: DaemonRegistration | null = null) {
    this.#dir = dir;
    this.#domain = domain;
    this.#registration = registration;
    this.#config = config;
    for (const [at, linkResult] of linkResults.entries()) this.#setLink(at, linkResult);
  }

  async carryOut(act: Act): Promise<ErrorCode | null> {
    this.#pointers = JSON.stringify(act).includes('"do":"activate"') ? null : await this.#readPointers();
    try {
      await this.#perform(act);
      return null;
    } catch (error) {
      if (error instanceof DocshelfError) return error.code;
      throw error;
    }
  }

  async observe(): Promise<Observation[]> {
    const running = [this.#daemon, this.#second].filter((daemon) => daemon !== null);
    return Promise.all(running.map(observationOf));
  }

  async check(world: World): Promise<void> {
    if (this.#daemon === null) return;
    const { active } = this.#running.site;
    if (active !== null) await this.#running.store.view(active.digest, active.version);
    if (world.config.version !== null && this.#pointers !== null) {
      expect(await this.#readPointers(), 'a pinned daemon by itself writes neither wanted nor active').toBe(
        this.#pointers,
      );
    }
  }

  async stop(): Promise<void> {
    await this.#leave();
    await this.#daemon?.stop();
    this.#daemon = null;
  }

  async #leave(): Promise<void> {
    await this.#second?.stop();
    this.#second = null;
  }

  async #perform(act: Act): Promise<void> {
    switch (act.do) {
      case 'reload':
        this.#config = stock.config(act.config);
        return this.#running.reload(this.#settings());
      case 'link':
        return this.#setLink(act.at, stock.linkResult(act.linkResult));
      case 'preload': {
        const { file, fileName } = stock.get(act.bundle);
        const folder = this.#preload;
        await mkdir(folder, { recursive: true });
        return cp(file, join(folder, fileName));
      }
      case 'restart':
        await this.stop();
        this.#daemon = await this.#start();
        return;
      case 'join':
        this.#second = await this.#start();
        return;
      case 'leave':
        return this.#leave();
      case 'alone': {
        await this.stop();
        const alone = await this.#open();
        try {
          await alone.open();
          await command(alone, act.command);
        } finally {
          await alone.stop();
          this.#daemon = await this.#start();
        }
        return;
      }
      case 'deliver':
      case 'activate':
      case 'rollback':
      case 'remove':
        return command(this.#running.deployment, act);
      default:
        throw new Error(`no deployment in this process does "${act.do}"`);
    }
  }

  async #start(): Promise<TestDaemon> {
    const store = await this.#openStore();
    this.#store = store;
    const shared = this.#registration === null ? {} : { registration: this.#registration };
    return startDaemon(store, this.#settings(), this.#source, undefined, shared);
  }

  /** Opens a deployment like a command, which follows no settings. */
  async #open(): Promise<Deployment> {
    const store = await this.#openStore();
    return new Deployment({
      tracer: NO_TRACES,
      store,
      registration: new DaemonRegistration(store.paths),
      slots: importSlots(() => 2),
      settings: settingsOf(store, this.#settings()),
      sources: async () => [this.#source],
      openLinks: () => Promise.reject(new Error('no service is asked here')),
      ownExports: null,
      unpack: unpackHere,
      beforeSeal: [],
      serving: new ServedRecord(),
      onEvent: () => undefined,
    });
  }

  async #openStore(): Promise<SiteStore> {
    return new SiteStore(await openDataFolder(this.#dir), this.#registration === null ? null : this.#domain);
  }

  get #preload(): string {
    return join(this.#dir, 'bundles', this.#registration === null ? '' : this.#domain);
  }

  #settings(): SettingsOf {
    const { link, ...config } = this.#config;
    const preload = { dir: this.#preload, mayBeMissing: true };
    return { ...config, link: link === null ? null : (LINKS[link] ?? null), domain: this.#domain, preload };
  }

  #setLink(at: number, linkResult: LinkResult): void {
    const link = LINKS[at] ?? '';
    if (typeof linkResult === 'string') this.#source.serve(link, fault(linkResult));
    else this.#source.serve(link, readFile((linkResult as DrawnBundle).file));
  }

  async #readPointers(): Promise<string> {
    if (this.#store === null) return '';
    const { active, wanted } = this.#store.site;
    const read = (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '');
    return (await read(active)) + (await read(wanted));
  }

  get #running(): TestDaemon {
    if (this.#daemon === null) throw new Error('no daemon runs');
    return this.#daemon;
  }
}

async function observationOf({ deployment, site }: TestDaemon): Promise<Observation> {
  const { versions } = await deployment.readStored();
  const { state, active, pinned, journal } = deployment;
  const shown = active && { version: active.version, digest: active.digest };
  expect(site.active && { version: site.active.version, digest: site.active.digest }, 'served release').toEqual(shown);
  const stored = versions.map(({ version, digest }) => `${version} ${digest}`).sort();
  return { state, active: shown, pinned, versions: stored, error: journal.lastError?.code ?? null };
}

async function command(deployment: Deployment, act: Command): Promise<void> {
  switch (act.do) {
    case 'deliver':
      await deployment.deliver({
        ...stock.get(act.bundle),
        version: act.version,
        source: 'import',
        activate: act.activate,
      });
      return;
    case 'activate':
      await deployment.activate(act.version);
      return;
    case 'rollback':
      await deployment.rollback();
      return;
    case 'remove':
      await deployment.remove(act.version);
  }
}

async function runSequence(seed: number): Promise<void> {
  const dir = join(root, String(seed));
  const { beginning, acts } = new SequenceDraw(new SeededRandom(seed), stock, WEIGHTS).sequence(STEPS);
  const world = await stock.begin(beginning, dir);
  const shelf = new DeploymentUnderTest(dir, world);
  try {
    await carryOut(shelf, stock, world, [{ do: 'restart' }, ...acts]);
  } catch (error) {
    const { message } = error as Error;
    throw new Error(`seed ${seed}: ${JSON.stringify(beginning)} ${message}`);
  } finally {
    await shelf.stop();
    await rm(dir, { recursive: true, force: true });
  }
}

test(`a deployment behaves like its reference model in ${SEQUENCES_OF_ONE} random command sequences`, {
  timeout: 1_800_000,
}, async () => {
  await forEachSeed(SEQUENCES_OF_ONE, LANES, runSequence);
});

/** Bundles without a manifest suit both domains. The others name one domain. */
const DOMAINS = [DOMAIN, 'other'];
/** Number of steps per site. */
const STEPS_OF_SITE = 5;

async function runSequenceOfSites(seed: number): Promise<void> {
  const dir = join(root, `sites-${seed}`);
  const random = new SeededRandom(seed);
  const draw = new SequenceDraw(random, stock, WEIGHTS);
  const sequences = DOMAINS.map(() => draw.sequence(STEPS_OF_SITE));
  const left = sequences.map(({ acts }) => [...acts]);
  const acts: SiteAct[] = DOMAINS.map((_, site) => ({ site, act: { do: 'restart' } }));
  while (left.some((each) => each.length > 0)) {
    const site = random.pick([...left.keys()].filter((at) => (left[at]?.length ?? 0) > 0));
    const act = left[site]?.shift();
    if (act !== undefined) acts.push({ site, act });
  }
  const worlds: World[] = [];
  for (const [at, { beginning }] of sequences.entries()) {
    const world = await stock.begin(beginning, dir, DOMAINS[at]);
    worlds.push(worlds[0] === undefined ? world : world.withReleasesOf(worlds[0]));
  }
  const registration = new DaemonRegistration(await openDataFolder(dir));
  await registration.announce(null);
  const shelves = worlds.map((world) => new DeploymentUnderTest(dir, world, registration));
  try {
    await carryOutOnSites(shelves, stock, worlds, acts);
  } catch (error) {
    const { message } = error as Error;
    throw new Error(`seed ${seed}: ${JSON.stringify(sequences.map(({ beginning }) => beginning))} ${message}`);
  } finally {
    for (const shelf of shelves) await shelf.stop();
    await registration.withdraw();
    await rm(dir, { recursive: true, force: true });
  }
}

test(`two sites in one folder behave like their reference model in ${SEQUENCES_OF_TWO} random command sequences`, {
  timeout: 1_800_000,
}, async () => {
  await forEachSeed(SEQUENCES_OF_TWO, LANES, runSequenceOfSites);
});
