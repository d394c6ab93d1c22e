import type { ReleaseView } from '../domain/release.ts';
import type { DaemonRegistration } from './daemons.ts';
import type { Journal } from './journal.ts';
import type { BundleSource, LinkSource } from './ports.ts';
import type { SiteStore } from './releases/site-store.ts';
import type { DeploySettings, RenewSettings } from './settings.ts';
import type { DeployEvent } from './status.ts';
import type { BeforeSeal } from './take-in/take-in.ts';
import type { Unpack } from './take-in/unpack-thread.ts';

/** Builds the serving side's new state whole, and gives the one act that puts it in place. */
export type PrepareSwap = (active: ReleaseView, older: readonly ReleaseView[]) => () => void;

/** Everything that the deployment of one site takes from outside; nothing of it is global. */
export interface DeploymentOptions {
  /** The shared releases, and the site's own part of the data folder. */
  readonly store: SiteStore;
  readonly settings: DeploySettings;
  readonly sources: () => Promise<readonly BundleSource[]>;
  /** Opens the service that the settings name for fresh links. */
  readonly openLinks: (renew: RenewSettings) => Promise<LinkSource>;
  readonly unpack: Unpack;
  readonly beforeSeal: readonly BeforeSeal[];
  readonly prepareSwap: PrepareSwap;
  /** Serving is turned off: nothing is active any more. */
  readonly onOff: () => void;
  readonly onEvent: (event: DeployEvent) => void;
}

/** The options as the parts of a deployment share them, the settings as they are now. */
export interface SiteContext extends Omit<DeploymentOptions, 'settings' | 'onEvent'> {
  readonly settings: () => DeploySettings;
  readonly journal: Journal;
  readonly registration: DaemonRegistration;
  /** Aborts when the deployment stops. */
  readonly stopping: AbortSignal;
}
