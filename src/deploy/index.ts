/**
 * The deploy room: fetch -> verify -> inspect -> unpack -> seal -> activate -> prune.
 *
 * `Deployment` is what a process holds; `settle.ts` decides and carries out (`plan.ts` is the pure decision), `intake.ts`
 * and `take-in.ts` bring a bundle onto the shelf, `activation.ts` swaps what is served, `release-store.ts` is the shelf.
 */
export type { PrepareSwap } from './activation.ts';
export { type DaemonSocket, openDaemonSocket } from './daemon-socket.ts';
export { type DaemonMark, runningDaemons } from './daemons.ts';
export { type Delivered, type Delivery, Deployment, type DeploymentOptions } from './deployment.ts';
export { fetchBundle } from './fetch/fetch.ts';
export type { ReleaseRef } from './plan.ts';
export { type DataPaths, dataPaths, openDataFolder } from './releases/data-folder.ts';
export { expectedDomain } from './releases/domain-of-folder.ts';
export { ReleaseStore } from './releases/release-store.ts';
export { type ReleaseVerdict, verifyRelease } from './releases/verify-release.ts';
export type { DeploySettings, RenewSettings } from './settings.ts';
export {
  type DeployEvent,
  type DeployState,
  type DeployStatus,
  type LastError,
  type StoredVersion,
  storedVersions,
} from './status.ts';
export { Inbox } from './take-in/inbox.ts';
export { checkSignature, SIGNATURE_EXTENSION, type Signer } from './take-in/signature.ts';
export { spoolStream } from './take-in/spool-stream.ts';
export type { BeforeSeal } from './take-in/take-in.ts';
export { unpackInThread } from './take-in/unpack-thread.ts';
