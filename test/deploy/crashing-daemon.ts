/**
 * A daemon that kills itself with SIGKILL at one step of an import and swap. crash.test.ts runs it: `node crashing-daemon.ts
 * <data folder> <archive> <step>`.
 */

import { unpackInThreads } from '../../src/deploy/import/unpack-thread.ts';
import {
  DaemonRegistration,
  Deployment,
  importSlots,
  openDataFolder,
  SiteStore,
  sweepDataFolder,
} from '../../src/deploy/index.ts';
import { ARCHIVE_LIMITS } from '../../src/domain/limits.ts';
import { NO_TRACES } from '../../src/traces/tracer.ts';
import { unpackHere } from './unpackers.ts';

const [dir = '', archive = '', crashAt = ''] = process.argv.slice(2);

function step(name: string): void {
  if (name === crashAt) process.kill(process.pid, 'SIGKILL');
}

class CrashingStore extends SiteStore {
  override async adopt(...args: Parameters<SiteStore['adopt']>): Promise<void> {
    step('before the release is in its folder');
    await super.adopt(...args);
    step('before the version label is written');
  }

  override async setLabel(...args: Parameters<SiteStore['setLabel']>): Promise<void> {
    await super.setLabel(...args);
    step('after the version label is written');
  }

  override async setActive(...args: Parameters<SiteStore['setActive']>): Promise<void> {
    step('before the active pointer is written');
    await super.setActive(...args);
    step('after the active pointer is written');
  }

  override async removeLabel(...args: Parameters<SiteStore['removeLabel']>): Promise<void> {
    step('before an old version label is removed');
    await super.removeLabel(...args);
    step('before an old release is removed');
  }
}

const store = new CrashingStore(await openDataFolder(dir));
const registration = new DaemonRegistration(store.paths);
const deployment = new Deployment({
  tracer: NO_TRACES,
  store,
  registration,
  slots: importSlots(() => 2),
  settings: {
    enabled: true,
    link: null,
    version: null,
    sha256: null,
    minVersion: null,
    preload: { dir: `${dir}/bundles`, mayBeMissing: true },
    keep: 1,
    domain: null,
    limits: ARCHIVE_LIMITS,
    bundleBytesMax: 1e9,
    fetchRetriesMax: 0,
    renew: null,
    fromExports: false,
    signature: { required: false, publicKeys: [], text: null, link: null },
  },
  openLinks: () => Promise.reject(new Error('nothing is renewed here')),
  ownExports: null,
  sources: async () => [],
  // A thread starts slowly, and matters only for a kill during unpacking.
  unpack: crashAt === 'during unpacking' ? unpackInThreads() : unpackHere,
  beforeSeal: [async () => step('before the release is sealed')],
  serving: {
    served: null,
    prepare: () => () => step('during the swap'),
    updateRetained: () => undefined,
    turnOff: () => undefined,
  },
  onEvent: (event) => {
    if (event.kind === 'progress' && event.phase === 'unpacking') step('during unpacking');
  },
});
await sweepDataFolder(store.paths);
await deployment.open();
await registration.announce(null);
const fileName = 'acme-export-2024-06-01.tar.gz';
await deployment.deliver({ file: archive, fileName, version: null, source: 'import', activate: true });
