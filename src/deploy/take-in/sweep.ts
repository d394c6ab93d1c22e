import { sweepTemporaries } from '../../files/index.ts';
import type { DataPaths } from '../releases/data-folder.ts';
import { ReleaseStore } from '../releases/release-store.ts';
import { sweepStaging } from './staging.ts';

/** Removes what killed processes left in the part of a data folder that its sites share. */
export async function sweepDataFolder(paths: DataPaths): Promise<void> {
  const now = Date.now();
  await sweepStaging(paths, now);
  await sweepTemporaries([paths.dir, paths.daemons], now);
  await new ReleaseStore(paths).sweepIncomplete();
}
