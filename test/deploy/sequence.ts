/** Random sequences of actions, the results of the model, and the comparison with observations. */
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { openDataFolder, SiteStore } from '../../src/deploy/index.ts';
import type { ErrorCode } from '../../src/domain/errors.ts';
import { sha256Of } from '../acceptance/bundles.ts';
import { newFolder } from '../helpers/new-folder.ts';
import { SeededRandom, seedOfEnvironment } from '../helpers/random.ts';
import { sideBySide } from '../helpers/side-by-side.ts';
import {
  DOMAIN,
  type LinkResult,
  type ModelBundle,
  type ModelConfig,
  type Observation,
  successors,
  World,
} from './model.ts';
import { importBundle, packBundle } from './workbench.ts';

/** A bundle of the sequences: its file, and the text of its page. */
export interface DrawnBundle extends ModelBundle {
  readonly name: string;
  readonly file: string;
  readonly page: string;
}

const VERSIONS = ['2024-01-01', '2024-02-01', '2024-03-01', '2024-04-01', 'v9'] as const;
const LINK_FAULTS = ['bundle_not_found', 'link_expired'] as const;

/** Bundles of all sequences, and a data folder with the valid ones without a manifest. */
export class Stock {
  readonly bundles: readonly DrawnBundle[];
  /** Data folder to copy. */
  readonly seed: string;

  private constructor(bundles: readonly DrawnBundle[], seed: string) {
    this.bundles = bundles;
    this.seed = seed;
  }

  static async open(): Promise<Stock> {
    const plain = ['2024-01-01', '2024-02-01', '2024-03-01'].map((date) =>
      pack(`acme-export-${date}.tar.gz`, date, null),
    );
    const createdAt = '2024-04-01T00:00:00.000Z';
    const labelled = { domain: DOMAIN, version: '2024-04-01', createdAt };
    const foreign = { domain: 'other', version: '2024-05-01', createdAt };
    const bundles = await Promise.all([
      ...plain,
      pack('april.tar.gz', 'april', labelled),
      pack('foreign.tar.gz', 'foreign', foreign),
      broken(),
    ]);
    const seed = newFolder();
    const store = new SiteStore(await openDataFolder(seed));
    await store.settleDomain(DOMAIN, null);
    for (const bundle of bundles.slice(0, plain.length)) await importBundle(store, bundle, {}, { domain: DOMAIN });
    return new Stock(bundles, seed);
  }

  get(name: string): DrawnBundle {
    const bundle = this.bundles.find((each) => each.name === name);
    if (bundle === undefined) throw new Error(`no bundle "${name}"`);
    return bundle;
  }

  linkResult(name: string): LinkResult {
    const fault = LINK_FAULTS.find((each) => each === name);
    return fault ?? this.get(name);
  }

  pageOf(digest: string): string {
    return this.bundles.find((each) => each.digest === digest)?.page ?? '';
  }

  /** Prepares a data folder and the world that describes it. The seed contains only the site of `DOMAIN`. */
  async begin(start: Beginning, dir: string, domain = DOMAIN): Promise<World> {
    const config = this.config(start.config);
    const world = World.empty(
      { ...config, version: null },
      start.linkResults.map((name) => this.linkResult(name)),
      domain,
    );
    if (start.isSeeded && domain === DOMAIN) {
      await cp(this.seed, dir, { recursive: true });
      for (const bundle of this.bundles) if (bundle.manifest === null && bundle.fault === null) world.store(bundle);
    }
    world.config = config;
    return world;
  }

  config({ sha256, ...config }: DrawnConfig): ModelConfig {
    return { ...config, sha256: sha256 === null ? null : sha256 === 'none' ? 'f'.repeat(64) : this.get(sha256).digest };
  }
}

async function pack(fileName: string, page: string, manifest: ModelBundle['manifest']): Promise<DrawnBundle> {
  const { file, digest } = await packBundle(fileName, page, manifest ?? undefined);
  return { name: page, file, fileName, digest, page, manifest, fault: null };
}

/** A sign-in page instead of an archive. */
async function broken(): Promise<DrawnBundle> {
  const fileName = 'acme-export-2024-06-01.tar.gz';
  const folder = newFolder();
  await mkdir(folder, { recursive: true });
  const file = join(folder, fileName);
  const bytes = '<!doctype html><title>Sign in</title>';
  await writeFile(file, bytes);
  return { name: 'broken', file, fileName, digest: sha256Of(bytes), page: '', manifest: null, fault: 'unknown_format' };
}

type DrawnConfig = Omit<ModelConfig, 'sha256'> & { readonly sha256: string | null };

interface Beginning {
  readonly isSeeded: boolean;
  readonly config: DrawnConfig;
  readonly linkResults: readonly string[];
}

/** A command. A daemon runs it, or the command line if none runs. */
export type Command =
  | { readonly do: 'deliver'; readonly bundle: string; readonly version: string | null; readonly activate: boolean }
  | { readonly do: 'activate'; readonly version: string }
  | { readonly do: 'rollback' }
  | { readonly do: 'remove'; readonly version: string };

/** One step of a sequence. Plain data: the whole sequence is drawn from the seed, and printed after a failure. */
export type Act =
  | Command
  | { readonly do: 'reload'; readonly config: DrawnConfig; readonly by: ReloadWay }
  /** The config becomes invalid, and is fixed. */
  | { readonly do: 'spoil' }
  /** New response of a link. `slow`: in two parts, with a pause. */
  | { readonly do: 'link'; readonly at: number; readonly linkResult: string; readonly slow: boolean }
  | { readonly do: 'preload'; readonly bundle: string }
  | { readonly do: 'drop'; readonly bundle: string }
  | { readonly do: 'restart' }
  /** A command while no daemon runs. */
  | { readonly do: 'alone'; readonly command: Command }
  /** The daemon is killed during the action, and started again. */
  | { readonly do: 'kill'; readonly during: Act | null; readonly afterMs: number }
  /** Another daemon shares the folder. */
  | { readonly do: 'join' }
  /** The other daemon ends. */
  | { readonly do: 'leave'; readonly isKilled: boolean };

/** Ways to notify a daemon of a changed config. */
const RELOAD_WAYS = ['watch', 'signal', 'command'] as const;
type ReloadWay = (typeof RELOAD_WAYS)[number];

export interface Sequence {
  readonly beginning: Beginning;
  readonly acts: readonly Act[];
}

/** Kinds of actions. `beside`: commands while another daemon shares the folder. */
type Kind = Exclude<Act['do'], 'join' | 'leave'> | 'beside';

/** Relative frequency of each kind of action. */
export type Weights = Partial<Record<Kind, number>>;

/** `restart`: killed while idle, and again while it starts. */
const KILLED_DURING = [
  'reload',
  'reload',
  'deliver',
  'deliver',
  'activate',
  'rollback',
  'remove',
  'drop',
  'restart',
] as const;
/** Most actions have ended by then. */
const KILL_MS_MAX = 600;

export class SequenceDraw {
  readonly #random: SeededRandom;
  readonly #stock: Stock;
  readonly #kinds: readonly Kind[];

  constructor(random: SeededRandom, stock: Stock, weights: Weights) {
    this.#random = random;
    this.#stock = stock;
    this.#kinds = Object.entries(weights).flatMap(([kind, weight]) => Array<Kind>(weight).fill(kind as Kind));
  }

  sequence(steps: number): Sequence {
    const beginning = {
      isSeeded: this.#random.pick([true, false]),
      config: this.#config(),
      linkResults: [this.#linkResult(), this.#linkResult()],
    };
    return { beginning, acts: Array.from({ length: steps }, () => this.#acts(this.#random.pick(this.#kinds))).flat() };
  }

  #acts(kind: Kind): readonly Act[] {
    if (kind !== 'beside') return [this.#act(kind)];
    const commands = this.#random.pick([1, 2]) === 1 ? [this.#command()] : [this.#command(), this.#command()];
    return [{ do: 'join' }, ...commands, { do: 'leave', isKilled: this.#random.pick([true, false]) }];
  }

  #act(kind: Exclude<Kind, 'beside'>): Act {
    const random = this.#random;
    switch (kind) {
      case 'reload':
        return { do: kind, config: this.#config(), by: random.pick(RELOAD_WAYS) };
      case 'link':
        return { do: kind, at: random.pick([0, 1]), linkResult: this.#linkResult(), slow: random.pick([true, false]) };
      case 'preload':
      case 'drop':
        return { do: kind, bundle: this.#bundle() };
      case 'alone':
        return { do: kind, command: this.#command() };
      case 'kill': {
        const during = random.pick(KILLED_DURING);
        const act = during === 'restart' ? null : this.#act(during);
        return { do: kind, during: act, afterMs: Math.floor(random.next() * KILL_MS_MAX) };
      }
      case 'deliver':
        return {
          do: kind,
          bundle: this.#bundle(),
          version: random.pick([null, random.pick(VERSIONS)]),
          activate: random.pick([true, true, false]),
        };
      case 'activate':
      case 'remove':
        return { do: kind, version: random.pick(VERSIONS) };
      case 'rollback':
      case 'restart':
      case 'spoil':
        return { do: kind };
    }
  }

  #command(): Command {
    return this.#act(this.#random.pick(['deliver', 'deliver', 'activate', 'rollback', 'remove'])) as Command;
  }

  #config(): DrawnConfig {
    const random = this.#random;
    return {
      enabled: random.pick([true, true, true, true, true, false]),
      version: random.pick([null, null, null, ...VERSIONS]),
      link: random.pick([null, 0, 1]),
      sha256: random.pick([null, null, null, null, null, this.#bundle(), 'none']),
      keep: random.pick([1, 2, 9]),
    };
  }

  /** Name of a bundle, usually of a valid one. */
  #bundle(): string {
    const names = this.#stock.bundles.map(({ name }) => name);
    return this.#random.pick([...names, ...names.slice(0, 4)]);
  }

  #linkResult(): string {
    return this.#random.pick([this.#bundle(), this.#bundle(), this.#bundle(), ...LINK_FAULTS]);
  }
}

/**
 * Runs `count` sequences from the seed in DOCSHELF_SEED. Default: always the same seeds, in the soak new ones. Stops after a
 * failure.
 */
export async function forEachSeed(count: number, lanes: number, run: (seed: number) => Promise<void>): Promise<void> {
  const first = seedOfEnvironment() ?? (process.env.DOCSHELF_SOAK === undefined ? 1 : new SeededRandom().seed);
  const failures: unknown[] = [];
  const seeds = Array.from({ length: count }, (_, at) => first + at);
  await sideBySide(seeds, lanes, async (seed) => {
    if (failures.length === 0) await run(seed).catch((error: unknown) => failures.push(error));
  });
  if (failures.length > 0) throw failures[0];
}

/** Target of the actions: a deployment in this process, or the built program. */
export interface ShelfUnderTest {
  /** Resolves when the action has ended, with the code of a rejection. */
  carryOut(act: Act): Promise<ErrorCode | null>;
  /** Current state of each daemon. Null while something is still running. */
  observe(): Promise<readonly Observation[] | null>;
  /** More checks for a world that matches the observation. */
  check(world: World): Promise<void>;
  /** Maximum time until the observation matches the model. */
  readonly settleMsMax: number;
}

const POLL_MS = 25;

/** Runs a sequence and compares it with the model. The first action is the start. */
export async function carryOut(shelf: ShelfUnderTest, stock: Stock, beginning: World, acts: readonly Act[]) {
  const actsOfSite = acts.map((act) => ({ site: 0, act }));
  await carryOutOnSites([shelf], stock, [beginning], actsOfSite);
}

/** An action on one of several sites. */
export interface SiteAct {
  readonly site: number;
  readonly act: Act;
}

/** Runs a sequence on sites that share a folder. An action on one site must not change the others. */
export async function carryOutOnSites(
  shelves: readonly ShelfUnderTest[],
  stock: Stock,
  beginnings: readonly World[],
  acts: readonly SiteAct[],
): Promise<void> {
  const done: string[] = [];
  let folders = [beginnings];
  for (const { site, act } of acts) {
    done.push(`${shelves.length > 1 ? `site ${site}: ` : ''}${JSON.stringify(act)}`);
    try {
      folders = await carryOutOne(shelves, stock, folders, { site, act });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw new Error(`after\n  ${done.join('\n  ')}\n${message}`);
    }
  }
}

/** Sites of one folder in the model. */
type Folder = readonly World[];

async function carryOutOne(
  shelves: readonly ShelfUnderTest[],
  stock: Stock,
  folders: readonly Folder[],
  { site, act }: SiteAct,
): Promise<Folder[]> {
  const outcomes = folders.flatMap((folder) =>
    outcomesOf(folder[site] as World, stock, act).map((outcome) => ({ ...outcome, folder, world: outcome.world })),
  );
  const shelf = shelves[site] as ShelfUnderTest;
  const code = await shelf.carryOut(act);
  const fitting = outcomes.filter((outcome) => outcome.isKilled || outcome.code === code);
  if (fitting.length === 0) {
    throw new Error(`it ended with ${code}, and not with ${outcomes.map((outcome) => outcome.code).join(' or ')}`);
  }
  let after = fitting.map(({ folder, world }) => withSite(folder, site, world));
  for (const at of shelves.keys()) after = after.flatMap((folder) => [folder, ...laterFolders(folder, at)]);
  const endMs = Date.now() + shelf.settleMsMax;
  for (;;) {
    const seen = await Promise.all(shelves.map((each) => each.observe()));
    const left = after.filter((folder) => folder.every((world, at) => isDeepStrictEqual(world.observe(), seen[at])));
    const first = left[0];
    if (first !== undefined) {
      for (const [at, each] of shelves.entries()) await each.check(first[at] as World);
      return [...new Map(left.map((folder) => [folder.map(({ key }) => key).join(), folder])).values()];
    }
    if (Date.now() > endMs) {
      const shown = (observed: unknown): string => JSON.stringify(observed, null, 1);
      const expected = [...new Set(after.map((folder) => shown(folder.map((world) => world.observe()))))];
      throw new Error(`expected ${expected.join('\nor ')}\nseen ${shown(seen)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function withSite(folder: Folder, site: number, world: World): Folder {
  return folder.map((each, at) => (at === site ? world : each.withReleasesOf(world)));
}

/** Possible next states of a site without an action. */
function laterFolders(folder: Folder, site: number): Folder[] {
  const world = folder[site] as World;
  return world.mayGoOn
    ? successors(world, (each) => each.goOn()).map((outcome) => withSite(folder, site, outcome.world))
    : [];
}

/** Outcomes of an action that the contract allows. */
function outcomesOf(world: World, stock: Stock, act: Act): ReturnType<typeof successors> {
  switch (act.do) {
    case 'kill': {
      const { during } = act;
      const cut = successors(world, (each) => (during === null ? each.start() : perform(each, stock, during)), true);
      return cut.flatMap(({ world: left }) => {
        const isWaiting = during?.do === 'drop';
        return startsOf(left, stock, isWaiting ? during.bundle : null);
      });
    }
    default:
      return successors(world, (each) => perform(each, stock, act));
  }
}

/** Start after a kill. An archive in the inbox is usually imported after the daemon is idle. */
function startsOf(world: World, stock: Stock, dropped: string | null): ReturnType<typeof successors> {
  const start = (each: World): void => each.start();
  const starts = successors(world, start);
  if (dropped !== null) {
    const drop = (each: World): void => void each.drop(stock.get(dropped));
    starts.push(...starts.flatMap((outcome) => successors(outcome.world, drop)));
    const early = successors(world, (each) => {
      each.first = null;
      drop(each);
    });
    starts.push(...early.flatMap((outcome) => successors(outcome.world, start)));
  }
  return starts.map((outcome) => ({ ...outcome, isKilled: true }));
}

function perform(world: World, stock: Stock, act: Act): void {
  switch (act.do) {
    case 'reload':
      world.reload(stock.config(act.config), act.by !== 'watch');
      break;
    case 'spoil':
      world.spoil();
      world.reload(world.config, false);
      break;
    case 'link':
      world.linkResults[act.at] = stock.linkResult(act.linkResult);
      break;
    case 'preload':
      world.putPreload(stock.get(act.bundle));
      break;
    case 'drop':
      world.drop(stock.get(act.bundle));
      break;
    case 'restart':
      world.start();
      break;
    case 'alone':
      world.first = null;
      try {
        perform(world, stock, act.command);
      } finally {
        world.start();
      }
      break;
    case 'join':
      world.startSecond();
      break;
    case 'leave':
      world.second = null;
      break;
    case 'deliver':
      world.deliver({ bundle: stock.get(act.bundle), version: act.version, activate: act.activate });
      break;
    case 'activate':
      world.activate(act.version);
      break;
    case 'rollback':
      world.rollback();
      break;
    case 'remove':
      world.remove(act.version);
      break;
    case 'kill':
      throw new Error('a kill is not performed, it cuts another act');
  }
}
