/**
 * The deploy room: fetch -> verify -> inspect -> unpack -> seal -> activate -> prune.
 *
 * `Deployment` is what a process holds; `settle.ts` decides and carries out (`plan.ts` is the pure decision), `intake.ts`
 * and `take-in.ts` bring a bundle onto the shelf, `activation.ts` swaps what is served, `release-store.ts` is the shelf.
 */
export type { PrepareSwap } from './activation.ts';
export { type DaemonMark, runningDaemons } from './daemons.ts';
export { type DataPaths, dataPaths, openDataFolder } from './data-folder.ts';
export { type Delivered, type Delivery, Deployment, type DeploymentOptions } from './deployment.ts';
export { expectedDomain } from './domain-of-folder.ts';
export { fetchBundle } from './fetch.ts';
export { Inbox } from './inbox.ts';
export type { ReleaseRef } from './plan.ts';
export { ReleaseStore } from './release-store.ts';
export { type DaemonRequest, draftRequest } from './requests.ts';
export type { DeploySettings, RenewSettings } from './settings.ts';
export { checkSignature, SIGNATURE_EXTENSION, type Signer } from './signature.ts';
export { spoolStream } from './spool-stream.ts';
export {
  type DeployEvent,
  type DeployState,
  type DeployStatus,
  type LastError,
  type StoredVersion,
  storedVersions,
} from './status.ts';
export type { BeforeSeal } from './take-in.ts';
export type { SpawnUnpacker } from './unpack-in-worker.ts';
export { type ReleaseVerdict, verifyRelease } from './verify-release.ts';
