/**
 * Fetch, verify, inspect, unpack, seal, activate, prune, for one site. `reconcile.ts` loops, `plan.ts` decides, purely.
 */

export { SIGNATURE_EXTENSION } from '../domain/file-name.ts';
export { type DaemonSocket, openDaemonSocket } from './daemon-socket.ts';
export { type DaemonMark, DaemonRegistration, runningDaemons } from './daemons.ts';
export { type Delivered, type Delivery, Deployment } from './deployment.ts';
export { fetchBundle } from './fetch/fetch.ts';
export type { ReleaseRef } from './plan.ts';
export {
  type DataPaths,
  dataPaths,
  folderName,
  identityOf,
  openDataFolder,
  refuseOldLayout,
} from './releases/data-folder.ts';
export { type KeptVersion, keptVersion, keptVersions, mayBeRead, newestFirst } from './releases/kept-versions.ts';
export { adoptDefaultDomain, expectedDomain, settleListedDomains } from './releases/site-domain.ts';
export { SiteStore } from './releases/site-store.ts';
export { listSites, removeSite, type StoredSite } from './releases/stored-sites.ts';
export { type ReleaseVerdict, verifyRelease } from './releases/verify-release.ts';
export type { DeploySettings, RenewSettings } from './settings.ts';
export { type DeploymentOptions, type IntakeSlots, intakeSlots, type PrepareSwap } from './site-context.ts';
export {
  type DeployEvent,
  type DeployStatus,
  storedVersions,
} from './status.ts';
export { Inbox } from './take-in/inbox.ts';
export { checkSignature, type Signer } from './take-in/signature.ts';
export { spoolStream } from './take-in/spool-stream.ts';
export { sweepDataFolder } from './take-in/sweep.ts';
export type { BeforeSeal } from './take-in/take-in.ts';
export { type Unpack, unpackInThreads } from './take-in/unpack-thread.ts';
