import type { ReleaseView } from '../domain/release.ts';
import type { DaemonRegistration } from './daemons.ts';
import type { Journal } from './journal.ts';
import type { BundleSource, LinkSource } from './ports.ts';
import type { SiteStore } from './releases/site-store.ts';
import type { DeploySettings, RenewSettings } from './settings.ts';
import type { DeployEvent } from './status.ts';
import type { BeforeSeal } from './take-in/take-in.ts';
import type { Unpack } from './take-in/unpack-thread.ts';

/** Builds the serving side's new state; the function that it gives puts it in place. */
export type PrepareSwap = (active: ReleaseView, older: readonly ReleaseView[]) => () => void;

export interface DeploymentOptions {
  readonly store: SiteStore;
  readonly settings: DeploySettings;
  readonly sources: () => Promise<readonly BundleSource[]>;
  readonly openLinks: (renew: RenewSettings) => Promise<LinkSource>;
  readonly unpack: Unpack;
  readonly beforeSeal: readonly BeforeSeal[];
  readonly prepareSwap: PrepareSwap;
  readonly onOff: () => void;
  readonly onEvent: (event: DeployEvent) => void;
}

export interface SiteContext extends Omit<DeploymentOptions, 'settings' | 'onEvent'> {
  readonly settings: () => DeploySettings;
  readonly journal: Journal;
  readonly registration: DaemonRegistration;
  readonly stopping: AbortSignal;
}
