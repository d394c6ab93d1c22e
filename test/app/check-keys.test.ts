import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkKeys } from '../../src/app/doctor/check-files.ts';
import type { Config } from '../../src/config/index.ts';
import { newFolder } from '../helpers/new-folder.ts';

it('checkKeys() reports a damaged key file, but no problem in a folder without keys', async () => {
  const dir = newFolder();
  const config = { storage: { dir }, database: { urlFile: null } } as Config;
  expect(await checkKeys(config)).toEqual([]);
  await writeFile(join(dir, 'keys.json'), '{"format":1,"keys":[]');
  expect(await checkKeys(config)).toMatchObject([
    { check: 'keys', state: 'fault', code: 'cannot_read', message: expect.stringContaining('damaged') },
  ]);
});
