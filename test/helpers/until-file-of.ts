import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { waitFor } from './wait-for.ts';

/** For servers that break off: before what they sent is on the disk, less of it is resumed, or nothing. */
export function untilFileOf(bytes: number, folder: string): Promise<true> {
  return waitFor(
    async () => {
      const names = await readdir(folder);
      // One may be renamed meanwhile.
      const sizes = await Promise.all(
        names.map((name) =>
          stat(join(folder, name)).then(
            ({ size }) => size,
            () => null,
          ),
        ),
      );
      return sizes.includes(bytes) || null;
    },
    () => `no file of ${bytes} bytes in ${folder}`,
  );
}
