import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { serviceAddress } from '../../../src/cli/export/service.ts';
import type { Config } from '../../../src/config/index.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { newFolder } from '../../helpers/new-folder.ts';

const folder = newFolder();

const configOf = (renew: object) => ({ staticExport: { renew } }) as unknown as Config;
const CONFIGURED = configOf({ apiUrl: 'https://config.test', keyFile: { text: new Secret('svc_config') } });
const NOTHING = configOf({ apiUrl: null, keyFile: null });

async function keyFile(content: string): Promise<string> {
  const file = join(folder, 'key');
  await writeFile(file, content);
  await chmod(file, 0o600);
  return file;
}

test('serviceAddress() uses the key of --key-file, else of the environment, else of the config', async () => {
  const file = await keyFile('svc_file\n');
  const environment = { DOCSHELF_API_KEY: ' svc_environment ' };
  const keyWith = async (options: object, env: NodeJS.ProcessEnv) =>
    (await serviceAddress(options, CONFIGURED, env)).key.reveal();
  expect(await keyWith({ keyFile: file }, environment)).toBe('svc_file');
  expect(await keyWith({}, environment)).toBe('svc_environment');
  expect(await keyWith({}, {})).toBe('svc_config');
});

test('serviceAddress() does not use the key of the config for a service that the config does not name', async () => {
  const pending = serviceAddress({ apiUrl: 'https://other.test' }, CONFIGURED, {});
  await expect(pending).rejects.toMatchObject({ code: 'unauthorized' });
});

test('serviceAddress() throws an error with a specific code if the address or the key is missing or invalid', async () => {
  const apiUrl = 'https://api.test';
  await expect(serviceAddress({}, NOTHING, {})).rejects.toMatchObject({ code: 'usage' });
  await expect(serviceAddress({ apiUrl: 'ftp://x' }, NOTHING, {})).rejects.toMatchObject({ code: 'usage' });
  const missing = serviceAddress({ apiUrl, keyFile: join(folder, 'none') }, NOTHING, {});
  await expect(missing).rejects.toMatchObject({ code: 'cannot_read' });
  for (const content of ['', 'two words', 'two\nlines', 'ü']) {
    const pending = serviceAddress({ apiUrl, keyFile: await keyFile(content) }, NOTHING, {});
    await expect(pending).rejects.toMatchObject({ code: 'unauthorized' });
  }
});
