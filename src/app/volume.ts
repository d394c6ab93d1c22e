import { statfs } from 'node:fs/promises';
import type { Config } from '../config/index.ts';
import type { VolumeSpace } from '../http/metrics/metrics.ts';

/** Of its size; under it, there is a notice, and an alert of the chart. */
const FREE_SHARE_MIN = 0.1;

/** Null where the system does not tell. */
export async function readVolume(dir: string): Promise<VolumeSpace | null> {
  const found = await statfs(dir).catch(() => null);
  return found && { freeBytes: found.bavail * found.bsize, sizeBytes: found.blocks * found.bsize };
}

/** Before the volume is full: completed exports stay, and fill it sooner or later. */
export function volumeNotices(volume: VolumeSpace | null, { exportApi }: Pick<Config, 'exportApi'>): string[] {
  if (volume === null || volume.freeBytes >= FREE_SHARE_MIN * volume.sizeBytes) return [];
  const [free, size] = [volume.freeBytes, volume.sizeBytes].map((bytes) => `${Math.floor(bytes / 1024 ** 2)} MiB`);
  const advice = exportApi.enabled
    ? 'Completed exports stay until exportApi.retention removes them: set it, or give the folder a larger volume.'
    : 'Lower staticExport.keep, or give the folder a larger volume.';
  return [`The volume of storage.dir has ${free} free of ${size}. ${advice}`];
}
