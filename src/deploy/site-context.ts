import type { KeptRelease, ReleaseInfo, ReleaseView } from '../domain/release.ts';
import { Scheduler } from '../threads/scheduler.ts';
import type { Tracer } from '../traces/tracer.ts';
import type { DaemonRegistration, SiteRegistration } from './daemons.ts';
import type { Unpack } from './import/unpack-thread.ts';
import type { Wanted } from './plan.ts';
import type { BundleSource, LinkSource } from './ports.ts';
import type { SiteStore } from './releases/site-store.ts';
import type { DeploySettings, RenewSettings } from './settings.ts';
import type { DeployEvent, Journal } from './status.ts';

interface ServedRelease {
  readonly release: ReleaseView;
  readonly retained: readonly KeptRelease[];
  /** Time at which the release was activated, RFC 3339, UTC. */
  readonly activatedAt: string;
}

/** Interface of the code that serves the site. The state of this code is the only record of the served release. */
export interface Serving {
  readonly served: ServedRelease | null;
  prepare(
    release: ReleaseView,
    retained: readonly KeptRelease[],
  ): Promise<(activatedAt: string) => unknown> | ((activatedAt: string) => unknown);
  updateRetained(retained: readonly KeptRelease[]): unknown;
  turnOff(): unknown;
}

export class ServedRecord implements Serving {
  served: ServedRelease | null = null;

  prepare(release: ReleaseView, retained: readonly KeptRelease[]) {
    return (activatedAt: string): void => {
      this.served = { release, retained, activatedAt };
    };
  }

  updateRetained(retained: readonly KeptRelease[]): void {
    this.served &&= { ...this.served, retained };
  }

  turnOff(): void {
    this.served = null;
  }
}

export type ReportPhase = (phase: string, page: string | null) => void;

/** Runs on an unpacked bundle before docshelf marks the release as complete. Search builds its index here. */
export type BeforeSeal = (
  releaseDir: string,
  info: ReleaseInfo,
  signal: AbortSignal,
  reportPhase: ReportPhase,
) => Promise<void>;

/**
 * Number of parallel fetches per unpacking slot. Fetches use little memory, and with several slots, a slow link does not delay
 * other sites.
 */
const FETCHES_PER_UNPACKING = 4;

export function importSlots(parallel: () => number): ImportSlots {
  return {
    fetching: new Scheduler({ max: () => FETCHES_PER_UNPACKING * parallel() }),
    unpacking: new Scheduler({ max: parallel }),
  };
}

export interface DeploymentOptions {
  readonly store: SiteStore;
  readonly registration: DaemonRegistration;
  readonly slots: ImportSlots;
  readonly settings: DeploySettings;
  /** Creates the bundle sources for the given settings, because a `file:` link can point into the configured preload folder. */
  readonly sources: (settings: DeploySettings) => Promise<readonly BundleSource[]>;
  readonly openLinks: (renew: RenewSettings) => Promise<LinkSource>;
  readonly ownExports: Pick<LinkSource, 'freshLink'> | null;
  readonly unpack: Unpack;
  readonly tracer: Tracer;
  readonly beforeSeal: readonly BeforeSeal[];
  readonly serving: Serving;
  readonly onEvent: (event: DeployEvent) => void;
}

/** Slots that limit parallel fetches and unpackings to `deploy.parallel`. All sites of a daemon share these slots. */
export interface ImportSlots {
  readonly fetching: Scheduler;
  readonly unpacking: Scheduler;
}

export interface SiteContext extends Omit<DeploymentOptions, 'settings' | 'sources' | 'onEvent' | 'registration'> {
  readonly sources: () => Promise<readonly BundleSource[]>;
  /** Current settings, which a reload replaces. Read them again after each `await`. */
  readonly settings: DeploySettings;
  /** Returns the parts of the current settings that the plan needs. */
  readonly wanted: () => Wanted;
  readonly journal: Journal;
  readonly registration: SiteRegistration;
  readonly stopping: AbortSignal;
  readonly opened: () => Promise<void>;
}
