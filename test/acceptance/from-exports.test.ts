import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { openBench } from '../helpers/daemon.ts';
import { writeFiles } from '../helpers/write-files.ts';
import { KEYS, SITE, startAgain, startExporter } from './export-service.ts';

const bench = openBench(afterEach);

test('a daemon with staticExport.from: exports serves and searches its own export, and later serves the next export instead', async () => {
  const service = await startExporter(bench, {
    staticExport: { enabled: true, from: 'exports' },
    search: {},
  });
  const { daemon } = service;
  const waiting = await daemon.until(({ lastError }) => lastError !== null);
  expect([waiting.state, waiting.lastError?.code]).toEqual(['waiting', 'no_bundle']);

  await service.as(KEYS.globex).export('globex');
  await service.export();
  const ready = await daemon.until(({ state, search }) => state === 'ready' && search.keyword === 'ready');
  expect(await (await fetch(`${daemon.site}/`)).text()).toBe(SITE['index.html']);
  expect(ready.lastError).toBe(null);
  const search = await fetch(`${daemon.site}/_docshelf/search?q=lantern`);
  expect(await search.text()).toContain('burns all night');

  // An export of selected pages is not a site.
  await service.export('acme', { paths: ['/guides/start'] });
  await writeFiles(join(daemon.folder, 'site'), { 'index.html': '<!doctype html><title>Next</title>' });
  await service.export();
  await daemon.until(({ active }) => active !== null && active.digest !== ready.active?.digest);
  expect(await (await fetch(`${daemon.site}/`)).text()).toBe('<!doctype html><title>Next</title>');

  await daemon.stop();
  const again = (await startAgain(bench, service)).daemon;
  await again.until(({ state }) => state === 'ready');
  expect(await (await fetch(`${again.site}/`)).text()).toBe('<!doctype html><title>Next</title>');
});
