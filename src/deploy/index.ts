/** Deploys one site: `plan.ts` chooses the next step without side effects, and `site-loop.ts` runs the step. */

export { SIGNATURE_EXTENSION } from '../domain/file-name.ts';
export { type DaemonMark, DaemonRegistration, type DaemonSocket, openDaemonSocket, runningDaemons } from './daemons.ts';
export { type Delivered, Deployment } from './deployment.ts';
export { fetchBundle } from './fetch/fetch.ts';
export { Inbox } from './import/inbox.ts';
export { checkSignature, type Signer } from './import/signature.ts';
export { sweepDataFolder } from './import/staging.ts';
export { type Unpack, unpackInThreads } from './import/unpack-thread.ts';
export type { ReleaseRef } from './plan.ts';
export {
  adoptDefaultDomain,
  asFolderUser,
  type DataPaths,
  dataPaths,
  expectedDomain,
  folderName,
  identityOf,
  openDataFolder,
  refuseOldLayout,
  settleListedDomains,
} from './releases/data-folder.ts';
export { verifyRelease } from './releases/release-store.ts';
export { SiteStore } from './releases/site-store.ts';
export { listSites, removeSite, type StoredSite } from './releases/stored-sites.ts';
export {
  type KeptVersion,
  keptVersion,
  keptVersions,
  mayBeRead,
  newestFirst,
  storedVersions,
} from './releases/stored-versions.ts';
export type { DeploySettings, RenewSettings } from './settings.ts';
export {
  type BeforeSeal,
  type DeploymentOptions,
  type ImportSlots,
  importSlots,
  ServedRecord,
  type Serving,
} from './site-context.ts';
export type { DeployEvent, DeployStatus } from './status.ts';
