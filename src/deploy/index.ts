/** Deploys one site: `plan.ts` chooses the next step without side effects, and `site-loop.ts` runs the step. */

export { DaemonRegistration, type DaemonSocket, openDaemonSocket, runningDaemons } from './daemons.ts';
export { type Delivered, Deployment } from './deployment.ts';
export { Inbox } from './import/inbox.ts';
export { sweepDataFolder } from './import/staging.ts';
export { type Unpack, unpackInThreads } from './import/unpack-thread.ts';
export type { ReleaseRef } from './plan.ts';
export {
  adoptDefaultDomain,
  asFolderUser,
  type DataPaths,
  daemonUserOf,
  dataPaths,
  folderName,
  identityOf,
  openDataFolder,
  refuseOldLayout,
  settleListedDomains,
} from './releases/data-folder.ts';
export { verifyRelease } from './releases/release-store.ts';
export { SiteStore } from './releases/site-store.ts';
export { type KeptVersion, keptVersion, keptVersions, mayBeRead, newestFirst } from './releases/stored-versions.ts';
export type { RenewSettings } from './settings.ts';
export { type BeforeSeal, type ImportSlots, importSlots, ServedRecord, type Serving } from './site-context.ts';
export type { DeployEvent } from './status.ts';
