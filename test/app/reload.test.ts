import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { stringify } from 'yaml';
import { loadConfig } from '../../src/config/index.ts';
import { withDefaults } from '../helpers/daemon.ts';
import { onFileEnd } from '../helpers/file-end.ts';
import { newFolder } from '../helpers/new-folder.ts';

const CONFIG = '../../src/config/index.ts';

it('a reload loads the last content of the config file, even if the file changes and changes back during the reload', async () => {
  const folder = newFolder();
  const file = join(folder, 'config.yaml');
  const put = (version: string): void => {
    const config = { search: { enabled: false }, storage: { dir: './data' }, staticExport: { enabled: true, version } };
    writeFileSync(`${file}.next`, stringify(withDefaults(config)));
    renameSync(`${file}.next`, file);
  };
  put('1.0');
  const sources = { file, env: {}, cwd: folder };
  const loaded = await loadConfig(sources);
  const loading = vi.fn(loadConfig);
  vi.resetModules();
  vi.doMock(CONFIG, async (importOriginal) => ({ ...(await importOriginal<object>()), loadConfig: loading }));
  onTestFinished(() => {
    vi.doUnmock(CONFIG);
    vi.resetModules();
  });
  const { startDaemon } = await import('../../src/app/index.ts');
  const { daemon } = await startDaemon({ loaded, sources, onProgress: () => undefined, programVersion: '0' });
  onFileEnd(() => daemon.stop());

  put('2.0');
  loading.mockImplementationOnce(async () => {
    put('1.0');
    const former = await loadConfig(sources);
    put('2.0');
    return former;
  });
  await daemon.reload();
  const status = await (await fetch(`${daemon.adminUrl}/v1/status`)).json();
  expect(status).toMatchObject({ pinned: '2.0' });
});
