/**
 * The model of a deployment: the content of a data folder, its daemons, and the effects of each action. Pure: the tests
 * draw actions (sequence.ts), run them, and compare the results with the model.
 */
import type { ErrorCode } from '../../src/domain/errors.ts';
import type { DeployState } from '../../src/domain/status.ts';
import { dateOfVersion, versionFromDigest, versionFromFileName } from '../../src/domain/version.ts';

export const DOMAIN = 'acme';

/** An archive in the model. */
export interface ModelBundle {
  readonly fileName: string;
  readonly digest: string;
  readonly manifest: { readonly domain: string; readonly version: string; readonly createdAt: string } | null;
  /** Code of the error during unpacking. Null for a valid archive. */
  readonly fault: ErrorCode | null;
}

/** Response of a link. */
export type LinkResult = ModelBundle | ErrorCode;

/** The `staticExport` settings that sequences change. */
export interface ModelConfig {
  readonly enabled: boolean;
  readonly version: string | null;
  /** Index of the link. */
  readonly link: number | null;
  readonly sha256: string | null;
  readonly keep: number;
}

/** State that an idle daemon reports. */
export interface Observation {
  readonly state: DeployState;
  readonly active: Ref | null;
  readonly pinned: string | null;
  /** Sorted list of `version digest`. */
  readonly versions: readonly string[];
  readonly error: string | null;
}

interface Ref {
  readonly version: string;
  readonly digest: string;
}

interface Release {
  /** Domains that have the release. */
  readonly sites: readonly string[];
  readonly createdAt: string;
  readonly fetchedAt: number;
  readonly manifestVersion: string | null;
  /** True if its manifest contains a date. */
  readonly isDated: boolean;
}

interface Archive {
  readonly bundle: ModelBundle;
  /** Changes with each write of the file. */
  readonly stamp: number;
}

interface Disk {
  releases: Map<string, Release>;
  labels: Map<string, string>;
  /** Creation date of the bundle by label, on this site. */
  dates: Map<string, string>;
  /** Time of the last activation by digest. */
  served: Map<string, number>;
  active: (Ref & { lastFetched: string | null; history: Ref[] }) | null;
  choice: (Ref & { config: string }) | null;
  /** Bundles that links returned for pinned versions. */
  links: { link: number; digest: string; version: string }[];
  preload: Map<string, Archive>;
  /** Archives of the preload folder at the last check. */
  seen: Map<string, { stamp: number; digest: string; imported: (Ref & { createdAt: string }) | null }>;
}

interface DaemonState {
  served: Ref | null;
  previous: string | null;
  isReconciled: boolean;
  error: string | null;
  /** True while a config is rejected. This hides the earlier error. */
  isRefused: boolean;
  refusalIsLast: boolean;
  fetchedFor: string | null;
  choiceHasEnded: boolean;
  mustPrune: boolean;
  /** True if the release of the pin is stored, but was rejected. */
  pinIsRefused: boolean;
  /** True if the error may be temporary, so that the daemon retries at an unknown time. */
  mayTryAgain: boolean;
}

/** Rejection of an action, with its code. */
class Refusal extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode) {
    super(code);
    this.code = code;
  }
}

/** Ends a run of the model at a kill. */
class Killed extends Error {}

const noDaemon = (): DaemonState => ({
  served: null,
  previous: null,
  isReconciled: true,
  error: null,
  isRefused: false,
  refusalIsLast: false,
  fetchedFor: null,
  choiceHasEnded: false,
  mustPrune: false,
  pinIsRefused: false,
  mayTryAgain: false,
});

const HISTORY_MAX = 10;

type Reason = { by: 'operator' | 'delivery' | 'settings'; fetched?: string; isRollback?: boolean };
type Target = { do: 'serve'; ref: Ref; fetched?: string } | { do: 'fetch' } | { do: 'missing' };

/** An archive that is delivered. */
export interface ModelDelivery {
  readonly bundle: ModelBundle;
  readonly version: string | null;
  readonly activate: boolean;
}

interface Intake {
  readonly bundle: ModelBundle;
  readonly fileName: string;
  readonly version: string | null;
  /** Link from which it was fetched for a pin. */
  readonly pinnedFrom: number | null;
}

/** One site of a folder with its daemons, its config, and the responses of links. */
interface Data {
  readonly domain: string;
  readonly config: ModelConfig;
  readonly linkResults: readonly LinkResult[];
  readonly disk: Disk;
  /** The daemon that commands use, and one that shares the folder with it. */
  readonly first: DaemonState | null;
  readonly second: DaemonState | null;
  readonly clock: number;
}

/** File names of the links. Only the second one contains a version. */
export const LINK_FILES = ['bundle.tar.gz', 'acme-export-2024-02-01.tar.gz'] as const;

export class World {
  readonly domain: string;
  config: ModelConfig;
  linkResults: LinkResult[];
  readonly disk: Disk;
  first: DaemonState | null;
  second: DaemonState | null;
  #clock: number;
  /** Chooses among the outcomes that the contract leaves open, in turn. See `successors`. */
  #decide: (count: number) => number = () => 0;
  #mayBeKilled = false;

  constructor(data: Data) {
    const { domain, config, linkResults, disk, first, second, clock } = structuredClone(data);
    this.domain = domain;
    this.config = config;
    this.linkResults = [...linkResults];
    this.disk = disk;
    this.first = first;
    this.second = second;
    this.#clock = clock;
  }

  static empty(config: ModelConfig, linkResults: readonly LinkResult[], domain = DOMAIN): World {
    const disk: Disk = {
      releases: new Map(),
      labels: new Map(),
      dates: new Map(),
      served: new Map(),
      active: null,
      choice: null,
      links: [],
      preload: new Map(),
      seen: new Map(),
    };
    return new World({ domain, config, linkResults, disk, first: null, second: null, clock: 0 });
  }

  copy(decide: (count: number) => number, mayBeKilled: boolean): World {
    const { domain, config, linkResults, disk, first, second } = this;
    const copy = new World({ domain, config, linkResults, disk, first, second, clock: this.#clock });
    copy.#decide = decide;
    copy.#mayBeKilled = mayBeKilled;
    return copy;
  }

  /** State of the site after an action on another site of the folder, because releases are shared. */
  withReleasesOf(other: World): World {
    const copy = this.copy(() => 0, false);
    copy.disk.releases = structuredClone(other.disk.releases);
    copy.#clock = Math.max(copy.#clock, other.#clock);
    return copy;
  }

  /** Worlds with the same key behave equally for all actions. */
  get key(): string {
    const { config, linkResults, disk, first, second } = this;
    const flat = (value: unknown): unknown => (value instanceof Map ? [...value].sort() : value);
    return JSON.stringify([config, linkResults, disk, first, second], (_, value) => flat(value));
  }

  /** State that each daemon reports. */
  observe(): Observation[] {
    return [this.first, this.second].filter((daemon) => daemon !== null).map((daemon) => this.#observe(daemon));
  }

  #observe({ served: active, isReconciled, error: ofWork, isRefused, refusalIsLast }: DaemonState): Observation {
    const { enabled, version: pinned } = this.config;
    const state = !enabled ? 'off' : active === null ? 'waiting' : isReconciled ? 'ready' : 'stale';
    const versions = [...this.disk.labels].map(([version, digest]) => `${version} ${digest}`).sort();
    const error = isRefused && (refusalIsLast || ofWork === null) ? 'config_invalid' : ofWork;
    return { state, active: active && refOf(active), pinned, versions, error };
  }

  /** True if a daemon may act at an unknown time. */
  get mayGoOn(): boolean {
    return [this.first, this.second].some((daemon) => daemon?.mayTryAgain === true) || this.#isBehind();
  }

  // Actions.

  /** Stores a bundle without activating it, like a seed. */
  store(bundle: ModelBundle): void {
    this.#importBundle({ bundle, fileName: bundle.fileName, version: null, pinnedFrom: null });
  }

  start(): void {
    this.first = noDaemon();
    this.#settle(this.first);
  }

  startSecond(): void {
    this.second = noDaemon();
    this.#settle(this.second);
  }

  /** Each daemon with a temporary error has retried or not. A woken daemon sees changes of others. */
  goOn(): void {
    for (const daemon of [this.first, this.second]) {
      if (daemon?.mayTryAgain === true && this.#decide(2) === 0) this.#settle(daemon);
    }
    if (this.first !== null && this.#isBehind() && this.#decide(2) === 0) this.#follow(this.first);
  }

  /** The config becomes invalid. */
  spoil(): void {
    if (this.first !== null) Object.assign(this.first, { isRefused: true, refusalIsLast: true });
  }

  /** @param mayComeTwice the file watch may have noticed the change before the request */
  reload(config: ModelConfig, mayComeTwice: boolean): void {
    const daemon = this.first;
    const isOther = JSON.stringify(config) !== JSON.stringify(this.config);
    this.config = config;
    if (daemon === null) return;
    daemon.isRefused = false;
    if (isOther) daemon.choiceHasEnded = true;
    this.#settle(daemon);
    if (mayComeTwice && this.#decide(2) === 1) this.#settle(daemon);
  }

  putPreload(bundle: ModelBundle): void {
    this.disk.preload.set(bundle.fileName, { bundle, stamp: this.#tick() });
  }

  /** @throws Refusal */
  deliver(delivery: ModelDelivery): void {
    const { bundle, version, activate } = delivery;
    const imported = this.#importBundle({ bundle, fileName: bundle.fileName, version, pinnedFrom: null });
    const daemon = this.#actor();
    if (this.config.version === null && activate) {
      this.#serve(daemon, imported, { by: 'delivery' });
      this.#markReconciled(daemon);
    }
    this.#afterOrder(daemon);
  }

  /** Puts an archive into the inbox. @returns false if it was rejected */
  drop(bundle: ModelBundle): boolean {
    const daemon = this.#actor();
    try {
      this.deliver({ bundle, version: null, activate: true });
      return true;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#report(daemon, error.code);
      return false;
    }
  }

  /** @throws Refusal */
  activate(version: string): void {
    const pin = this.config.version;
    if (pin !== null && pin !== version) throw new Refusal('pinned');
    const digest = this.disk.labels.get(version);
    if (digest === undefined) throw new Refusal('version_not_found');
    this.#choose({ version, digest }, false);
  }

  /** @throws Refusal */
  rollback(): void {
    if (this.config.version !== null) throw new Refusal('pinned');
    const { active } = this.disk;
    const former = active?.history.find((ref) => !isSame(ref, active) && this.#has(ref.digest));
    if (former === undefined) throw new Refusal('no_version');
    this.#choose(former, true);
  }

  /** @throws Refusal */
  remove(version: string): void {
    const { labels } = this.disk;
    const digest = labels.get(version);
    if (digest === undefined) throw new Refusal('version_not_found');
    if (version === this.config.version) throw new Refusal('pinned');
    const daemon = this.#actor();
    const isShared = [...labels].some(([label, other]) => label !== version && other === digest);
    const isServed = daemon.served?.version === version || (!isShared && this.#inUse(daemon).has(digest));
    if (isServed) throw new Refusal('in_use');
    this.#write(() => labels.delete(version));
    if (!isShared) {
      this.#write(() => this.disk.served.delete(digest));
      this.#write(() => this.#forget(digest));
    }
    this.#afterOrder(daemon);
  }

  // Effects of the settings.

  #settle(daemon: DaemonState): void {
    daemon.mayTryAgain = false;
    if (!this.config.enabled) {
      daemon.served = null;
      this.#markReconciled(daemon);
    } else if (this.config.version !== null) this.#settlePinned(daemon, this.config.version);
    else this.#settleUnpinned(daemon);
    this.#forgetEndedChoice(daemon);
    this.#prune(daemon);
    this.#missRefused(daemon);
  }

  #settlePinned(daemon: DaemonState, pin: string): void {
    // A stored pinned version is served first.
    if (this.#servePin(daemon, pin)) {
      const { failures } = this.#importPreload(daemon);
      this.#report(daemon, failures.at(-1));
      return;
    }
    const { failures } = this.#importPreload(daemon);
    if (daemon.isReconciled && isSame(daemon.served, this.#pinnedRef(pin))) {
      this.#report(daemon, failures.at(-1));
      return;
    }
    if (this.#relabelFault(pin) !== null) return;
    if (this.config.link === null) this.#failed(daemon, 'version_not_found');
    else this.#fetch(daemon, failures);
  }

  #settleUnpinned(daemon: DaemonState): void {
    const preload = this.#importPreload(daemon);
    const { failures } = preload;
    let { newest } = preload;
    for (let isSettled = false; ; isSettled = true) {
      const target = this.#unpinnedTarget(daemon, newest);
      if (target.do === 'missing') {
        this.#failed(daemon, failures.pop() ?? 'no_version');
        return;
      }
      if (target.do === 'fetch') {
        const hasFailed = !this.#fetch(daemon, failures);
        if (hasFailed) {
          this.#serveLast(daemon);
          return;
        }
      } else {
        const isNew = newest?.isNew === true && isSame(newest, target.ref);
        if (!this.#bringAbout(daemon, target, isNew ? 'delivery' : 'settings') && isSettled) return;
        if (!isSettled) {
          this.#markReconciled(daemon);
          this.#report(daemon, failures.splice(0).at(-1));
        }
      }
      newest = null;
    }
  }

  /** @returns true if an action was necessary */
  #bringAbout(daemon: DaemonState, { ref, fetched }: Target & { do: 'serve' }, by: 'delivery' | 'settings'): boolean {
    const { active } = this.disk;
    const isNoted = fetched === undefined || active?.lastFetched === fetched;
    const isThere = isSame(daemon.served, ref) && isSame(active, ref) && isNoted;
    if (!isThere) this.#serve(daemon, ref, fetched === undefined ? { by } : { by: 'delivery', fetched });
    if (this.config.link !== null) daemon.fetchedFor = this.#fetchKey;
    return !isThere;
  }

  #unpinnedTarget(daemon: DaemonState, newest: (Ref & { createdAt: string; isNew: boolean }) | null): Target {
    const { active } = this.disk;
    const { link, sha256 } = this.config;
    const validChoice = this.#validChoice(daemon);
    if (link !== null) {
      const mustFetch = daemon.fetchedFor !== this.#fetchKey;
      // A stored digest counts as fetched.
      if (mustFetch && sha256 !== null && this.#has(sha256)) {
        if (validChoice !== null && active?.lastFetched === sha256) return { do: 'serve', ref: refOf(validChoice) };
        const ref = this.#labelled(sha256);
        if (ref !== null) return { do: 'serve', ref, fetched: sha256 };
      }
      if (mustFetch || active === null) return { do: 'fetch' };
      if (validChoice !== null) return { do: 'serve', ref: refOf(validChoice) };
      if (this.disk.choice === null) return { do: 'serve', ref: refOf(active) };
      // The settings have changed since an operator's choice, so the bundle of the link is served again.
      const ref = active.lastFetched === null ? null : this.#labelled(active.lastFetched);
      return ref === null ? { do: 'fetch' } : { do: 'serve', ref };
    }
    const activeCreatedAt = this.#dateOf(active);
    const isNewer = newest !== null && (active === null || newest.createdAt > activeCreatedAt);
    if (newest !== null && isNewer && (validChoice === null || newest.isNew))
      return { do: 'serve', ref: refOf(newest) };
    if (validChoice !== null) return { do: 'serve', ref: refOf(validChoice) };
    return active === null ? { do: 'missing' } : { do: 'serve', ref: refOf(active) };
  }

  /** The active label if it names the digest, else any label that does. */
  #labelled(digest: string): Ref | null {
    const { labels, active } = this.disk;
    if (active?.digest === digest && labels.get(active.version) === digest) return refOf(active);
    const candidates = [...labels].filter(([, labelled]) => labelled === digest).map(([version]) => version);
    const version = candidates.sort()[candidates.length > 1 ? this.#decide(candidates.length) : 0];
    return version === undefined ? null : { version, digest };
  }

  #pinnedRef(pin: string): Ref | null {
    const { labels } = this.disk;
    const { sha256 } = this.config;
    const labelled = labels.get(pin);
    if (labelled !== undefined && (sha256 === null || sha256 === labelled)) return { version: pin, digest: labelled };
    return sha256 !== null && this.#has(sha256) ? { version: pin, digest: sha256 } : null;
  }

  /** A stored release whose manifest names another version cannot become the pinned version. */
  #relabelFault(pin: string): ErrorCode | null {
    const ref = this.#pinnedRef(pin);
    const own = ref === null ? null : (this.disk.releases.get(ref.digest)?.manifestVersion ?? null);
    return ref !== null && this.disk.labels.get(pin) !== ref.digest && own !== null && own !== pin
      ? 'version_mismatch'
      : null;
  }

  /** @returns true if it is served */
  #servePin(daemon: DaemonState, pin: string): boolean {
    const ref = this.#pinnedRef(pin);
    if (ref === null) return false;
    const fault = this.#relabelFault(pin);
    if (fault !== null) {
      this.#failed(daemon, fault);
      daemon.pinIsRefused = true;
      return false;
    }
    if (this.disk.labels.get(pin) !== ref.digest) this.#label(pin, ref.digest);
    this.#serve(daemon, ref, { by: 'settings' });
    this.#markReconciled(daemon);
    return true;
  }

  /** Archives of the preload folder, the pinned one first. Stored ones are not imported again. */
  #importPreload(daemon: DaemonState): {
    newest: (Ref & { createdAt: string; isNew: boolean }) | null;
    failures: string[];
  } {
    const { disk } = this;
    const { version: pin, sha256 } = this.config;
    const activeCreatedAt = this.#dateOf(disk.active);
    const seen: Disk['seen'] = new Map();
    const failures: string[] = [];
    const found: (Ref & { createdAt: string; isNew: boolean })[] = [];
    const rank = (name: string): number => {
      if (pin === null) return 1;
      const known = disk.seen.get(name);
      const version = known?.imported?.version ?? versionFromFileName(name);
      if (version === pin || (known !== undefined && known.digest === sha256)) return 0;
      return version === null ? 1 : 2;
    };
    for (const name of [...disk.preload.keys()].sort().toSorted((a, b) => rank(a) - rank(b))) {
      // Old releases are removed while the folder is read.
      if (daemon.mustPrune && this.#decide(2) === 0) this.#prune(daemon);
      const { bundle, stamp } = disk.preload.get(name) as Archive;
      const before = disk.seen.get(name);
      const former = before?.stamp === stamp ? before.imported : null;
      seen.set(name, { stamp, digest: bundle.digest, imported: former });
      const isStored = this.#has(bundle.digest);
      if (former !== null && isStored && disk.labels.has(former.version)) {
        found.push({ ...former, isNew: false });
        continue;
      }
      const isWanted =
        former === null ||
        isStored ||
        (pin === null ? former.createdAt > activeCreatedAt : former.version === pin || bundle.digest === sha256);
      if (!isWanted) continue;
      try {
        const imported = this.#importBundle({ bundle, fileName: name, version: null, pinnedFrom: null });
        const createdAt = this.#dateOf(imported);
        seen.set(name, { stamp, digest: bundle.digest, imported: { ...imported, createdAt } });
        found.push({ ...imported, createdAt, isNew: !isStored });
        if (pin !== null && !isSame(daemon.served, this.#pinnedRef(pin))) this.#servePin(daemon, pin);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        failures.push(error.code);
      }
    }
    this.#write(() => {
      disk.seen = seen;
    });
    return { newest: found.toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1))[0] ?? null, failures };
  }

  /** @returns true if the bundle of the link is served */
  #fetch(daemon: DaemonState, failures: string[]): boolean {
    const { version, sha256, link } = this.config;
    const linkResult = this.linkResults[link ?? 0] as LinkResult;
    try {
      if (typeof linkResult === 'string') throw new Refusal(linkResult);
      if (sha256 !== null && sha256 !== linkResult.digest) throw new Refusal('wrong_digest');
      const fileName = LINK_FILES[link ?? 0] ?? '';
      const imported = this.#importBundle({
        bundle: linkResult,
        fileName,
        version,
        pinnedFrom: version === null ? null : link,
      });
      const validChoice = version === null ? this.#validChoice(daemon) : null;
      const keepsChoice = validChoice !== null && this.disk.active?.lastFetched === imported.digest;
      this.#serve(daemon, keepsChoice ? refOf(validChoice) : imported, {
        by: keepsChoice ? 'settings' : 'delivery',
        fetched: imported.digest,
      });
      daemon.fetchedFor = this.#fetchKey;
      this.#markReconciled(daemon);
      this.#report(daemon, failures.splice(0).at(-1));
      return true;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#failed(daemon, error.code);
      daemon.mayTryAgain = error.code === 'link_of_another_version';
      return false;
    }
  }

  // Steps.

  /** @throws Refusal */
  #importBundle({ bundle, fileName, version, pinnedFrom }: Intake): Ref {
    const { releases, labels, links } = this.disk;
    const { digest, manifest } = bundle;
    const isStored = releases.has(digest);
    if (!isStored && bundle.fault !== null) throw new Refusal(bundle.fault);
    if (manifest !== null && manifest.domain !== this.domain) throw new Refusal('domain_mismatch');
    if (version !== null && manifest !== null && manifest.version !== version) throw new Refusal('version_mismatch');
    const label = version ?? manifest?.version ?? versionFromFileName(fileName) ?? versionFromDigest(digest);
    this.#refuseToMovePin(label, digest);
    if (pinnedFrom !== null && manifest?.version !== label && this.config.sha256 !== digest) {
      const others = links.filter((each) => each.link === pinnedFrom && each.digest === digest);
      const isKnown = others.some((each) => each.version === label);
      if (!isKnown && others.length > 0) throw new Refusal('link_of_another_version');
    }
    if (!isStored) {
      const now = this.#tick();
      const createdAt = this.#creation(label, manifest?.createdAt ?? null);
      this.#write(() => {
        const sites = [this.domain];
        const manifestVersion = manifest?.version ?? null;
        releases.set(digest, { sites, createdAt, fetchedAt: now, manifestVersion, isDated: manifest !== null });
      });
    } else if (!this.#has(digest)) {
      const stored = releases.get(digest) as Release;
      this.#write(() => releases.set(digest, { ...stored, sites: [...stored.sites, this.domain].sort() }));
    }
    if (pinnedFrom !== null) this.#write(() => links.push({ link: pinnedFrom, digest, version: label }));
    if (labels.get(label) !== digest) this.#label(label, digest);
    return { version: label, digest };
  }

  #label(label: string, digest: string): void {
    const { labels, dates, releases } = this.disk;
    const release = releases.get(digest);
    const createdAt = this.#creation(label, release?.isDated === true ? release.createdAt : null);
    this.#write(() => {
      labels.set(label, digest);
      dates.set(label, createdAt);
    });
  }

  /** Contract section 2: the time in the manifest, else the date in the label, else now. */
  #creation(label: string, madeAt: string | null): string {
    return madeAt ?? dateOfVersion(label) ?? `9999-${String(this.#tick()).padStart(6, '0')}`;
  }

  #dateOf(ref: Ref | null): string {
    const { labels, dates, releases } = this.disk;
    if (ref === null) return '';
    const own = labels.get(ref.version) === ref.digest ? dates.get(ref.version) : undefined;
    return own ?? releases.get(ref.digest)?.createdAt ?? '';
  }

  /** A pinned label moves only to the digest in `sha256`. */
  #refuseToMovePin(label: string, digest: string): void {
    const { version: pin, sha256 } = this.config;
    if (pin !== label || sha256 === digest) return;
    const current = this.disk.labels.get(label);
    if (current === undefined ? sha256 !== null : current !== digest) throw new Refusal('pinned');
  }

  #serve(daemon: DaemonState, ref: Ref, reason: Reason): void {
    const { enabled, version: pin } = this.config;
    const { served } = this.disk;
    const former = daemon.served;
    const hasPointer = pin === null || reason.by === 'operator';
    if (!enabled || isSame(former, ref)) {
      if (hasPointer) this.#point(ref, reason);
      return;
    }
    if (former !== null) this.#write(() => served.set(former.digest, this.#tick()));
    this.#write(() => served.set(ref.digest, this.#tick()));
    if (hasPointer) this.#point(ref, reason);
    daemon.served = refOf(ref);
    daemon.previous = former?.digest ?? null;
    daemon.mustPrune = true;
  }

  #point(ref: Ref, { by, fetched, isRollback }: Reason): void {
    const { disk } = this;
    const former = disk.active;
    const passed = former === null || isSame(former, ref) ? [] : [refOf(former)];
    const history = former?.history ?? [];
    if (by === 'operator') {
      this.#write(() => {
        disk.choice = { ...refOf(ref), config: JSON.stringify(this.config) };
      });
    } else if (by === 'delivery' && disk.choice !== null) this.#forgetChoice();
    this.#write(() => {
      disk.active = {
        ...refOf(ref),
        lastFetched: fetched ?? former?.lastFetched ?? null,
        history: isRollback === true ? history.slice(1) : [...passed, ...history].slice(0, HISTORY_MAX),
      };
    });
  }

  #choose(ref: Ref, isRollback: boolean): void {
    const daemon = this.#actor();
    this.#serve(daemon, ref, { by: 'operator', isRollback });
    daemon.choiceHasEnded = false;
    this.#markReconciled(daemon);
    this.#afterOrder(daemon);
  }

  /** Settings may wait for this delivery, and old releases may be removed. */
  #afterOrder(daemon: DaemonState): void {
    const { enabled, version: pin, sha256, link } = this.config;
    if (daemon === this.first && enabled) {
      if (pin !== null) {
        const ref = this.#pinnedRef(pin);
        if (ref !== null && !isSame(ref, daemon.served)) this.#servePin(daemon, pin);
      } else if (link !== null && daemon.fetchedFor !== this.#fetchKey && this.#has(sha256 ?? '')) {
        this.#follow(daemon);
      }
    }
    this.#prune(daemon);
    if (daemon === this.first) this.#missRefused(daemon);
  }

  /** The rejected release has been removed, so the pinned version is missing. */
  #missRefused(daemon: DaemonState): void {
    const { version: pin, link } = this.config;
    if (!daemon.pinIsRefused || pin === null || this.#pinnedRef(pin) !== null) return;
    if (link === null) this.#failed(daemon, 'version_not_found');
    else if (this.#decide(2) === 0) this.#fetch(daemon, []);
    // The action has ended before its fetch begins.
    else daemon.mayTryAgain = true;
  }

  #follow(daemon: DaemonState): void {
    const pin = this.config.version;
    if (pin !== null) this.#servePin(daemon, pin);
    else {
      const target = this.#unpinnedTarget(daemon, null);
      if (target.do !== 'serve') this.#serveLast(daemon);
      else if (this.#bringAbout(daemon, target, 'settings')) this.#markReconciled(daemon);
    }
    this.#prune(daemon);
  }

  /** While the link gives no bundle, readers get the active version. */
  #serveLast(daemon: DaemonState): void {
    const { active } = this.disk;
    if (daemon.served === null && active !== null) this.#serve(daemon, refOf(active), { by: 'settings' });
  }

  /** True if another daemon on the folder has imported the pinned version, or has activated a version. */
  #isBehind(): boolean {
    const { enabled, version } = this.config;
    const { active } = this.disk;
    const served = this.first?.served ?? null;
    if (enabled && version !== null) {
      const pinned = this.#pinnedRef(version);
      return pinned !== null && !isSame(served, pinned) && this.#relabelFault(version) === null;
    }
    return enabled && version === null && active !== null && !isSame(served, active);
  }

  #validChoice(daemon: DaemonState): Ref | null {
    const { choice } = this.disk;
    const isValid = choice?.config === JSON.stringify(this.config) && !daemon.choiceHasEnded;
    return isValid ? choice : null;
  }

  #forgetEndedChoice(daemon: DaemonState): void {
    if (this.config.version !== null || this.disk.choice === null || this.#validChoice(daemon) !== null) return;
    this.#forgetChoice();
    daemon.choiceHasEnded = false;
  }

  #forgetChoice(): void {
    this.#write(() => {
      this.disk.choice = null;
    });
  }

  /** `keep` counts releases by their last activation. Releases in use and the former active one stay. */
  #prune(daemon: DaemonState): void {
    if (!daemon.mustPrune) return;
    daemon.mustPrune = false;
    const { keep } = this.config;
    const { releases, served, labels, active } = this.disk;
    const inUse = this.#inUse(daemon);
    const previous = [daemon.previous, active?.history.find(({ digest }) => digest !== active.digest)?.digest];
    const old = [...releases.keys()].filter((digest) => this.#has(digest) && !inUse.has(digest));
    const rollbacks = old.filter((digest) => previous.includes(digest));
    const rest = old.filter((digest) => !previous.includes(digest));
    const wereActive = newestFirst(
      rest.filter((digest) => served.has(digest)),
      (digest) => served.get(digest) ?? 0,
    );
    const staged = newestFirst(
      rest.filter((digest) => !served.has(digest)),
      (digest) => releases.get(digest)?.fetchedAt ?? 0,
    );
    for (const digest of [...wereActive.slice(Math.max(0, keep - rollbacks.length)), ...staged.slice(keep)]) {
      for (const [version, labelled] of [...labels]) {
        if (labelled === digest) this.#write(() => labels.delete(version));
      }
      this.#write(() => this.#forget(digest));
      this.#write(() => served.delete(digest));
    }
  }

  #has(digest: string): boolean {
    return this.disk.releases.get(digest)?.sites.includes(this.domain) === true;
  }

  /** A release is removed with the last site that has it. */
  #forget(digest: string): void {
    const { releases } = this.disk;
    const stored = releases.get(digest);
    const sites = (stored?.sites ?? []).filter((domain) => domain !== this.domain);
    if (stored === undefined || sites.length === 0) releases.delete(digest);
    else releases.set(digest, { ...stored, sites });
  }

  #inUse(daemon: DaemonState): Set<string> {
    const { labels, active, choice } = this.disk;
    const daemons = [daemon, this.first, this.second].map((each) => each?.served?.digest);
    const pinned = labels.get(this.config.version ?? '');
    return new Set([...daemons, pinned, active?.digest, choice?.digest].filter((digest) => digest !== undefined));
  }

  #markReconciled(daemon: DaemonState): void {
    daemon.isReconciled = true;
    daemon.pinIsRefused = false;
    daemon.error = null;
  }

  #failed(daemon: DaemonState, code: string): void {
    Object.assign(daemon, { isReconciled: false, pinIsRefused: false });
    this.#report(daemon, code);
  }

  #report(daemon: DaemonState, code: string | undefined): void {
    if (code !== undefined) Object.assign(daemon, { error: code, refusalIsLast: false });
  }

  /** The process that runs a command: the daemon, or the command itself if none runs. */
  #actor(): DaemonState {
    return this.first ?? noDaemon();
  }

  get #fetchKey(): string {
    const { link, version, sha256 } = this.config;
    return JSON.stringify([link, version, sha256]);
  }

  #tick(): number {
    this.#clock += 1;
    return this.#clock;
  }

  /** One durable write. A kill comes before a write, or after all. */
  #write(write: () => unknown): void {
    if (this.#mayBeKilled && this.#decide(2) === 1) throw new Killed();
    write();
  }
}

/** Result of an action: the next world, and the code of a rejection. */
export interface Outcome {
  readonly world: World;
  readonly code: ErrorCode | null;
  readonly isKilled: boolean;
}

/** All outcomes that the contract allows, by trying all choices that it leaves open. */
export function successors(world: World, act: (world: World) => void, mayBeKilled = false): Outcome[] {
  const outcomes = new Map<string, Outcome>();
  const queue: number[][] = [[]];
  for (let answers = queue.pop(); answers !== undefined; answers = queue.pop()) {
    const prefix = answers;
    let decisions = 0;
    const decide = (count: number): number => {
      if (decisions >= prefix.length) {
        for (let other = 1; other < count; other += 1) queue.push([...prefix, other]);
        prefix.push(0);
      }
      decisions += 1;
      return prefix[decisions - 1] ?? 0;
    };
    const copy = world.copy(decide, mayBeKilled);
    let code: ErrorCode | null = null;
    let isKilled = false;
    try {
      act(copy);
    } catch (error) {
      if (error instanceof Refusal) code = error.code;
      else if (error instanceof Killed) isKilled = true;
      else throw error;
    }
    outcomes.set(`${copy.key} ${code} ${isKilled}`, { world: copy, code, isKilled });
  }
  return [...outcomes.values()];
}

function refOf({ version, digest }: Ref): Ref {
  return { version, digest };
}

function isSame(a: Ref | null, b: Ref | null): boolean {
  return a !== null && b !== null && a.version === b.version && a.digest === b.digest;
}

function newestFirst(digests: readonly string[], timeOf: (digest: string) => number): string[] {
  return digests.toSorted((a, b) => timeOf(b) - timeOf(a));
}
