import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../config/index.ts';
import { writeOnce } from '../../files/index.ts';

const KEY_BYTES = 32;

/** Of readers' sessions and previews: the first seals. Made once, for all daemons on the folder. @throws DocshelfError `cannot_read`, `cannot_write` */
export async function sessionKeys({ server, storage }: Config): Promise<readonly string[]> {
  const given = server.auth.sessionKeyFile?.text.reveal();
  if (given !== undefined)
    return given
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => !/^(?:#|$)/.test(line));
  const file = join(storage.dir, 'session.key');
  await writeOnce(file, `${randomBytes(KEY_BYTES).toString('base64url')}\n`, 0o600);
  return [(await readFile(file, 'utf8')).trim()];
}
