import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { openBench } from '../helpers/daemon.ts';
import { bundle } from './bundles.ts';

const bench = openBench(afterEach);

test('bundleUrl can be a link to a local file (file:)', async () => {
  const folder = await bench.folder();
  const file = join(folder, 'docs-v1.2.3.tar.gz');
  await writeFile(file, bundle('one'));
  const daemon = await bench.start({
    staticExport: { bundleUrl: pathToFileURL(file).href },
    network: { fileRoots: [folder] },
  });
  await daemon.untilServing('v1.2.3');
  expect(await (await fetch(`${daemon.site}/`)).text()).toContain('one');
});

describe('a deployment in the state waiting or off', () => {
  test('responds with a 503 page for readers, and with the reason on the admin listener, if no version is stored', async () => {
    const daemon = await bench.start({});
    const { next } = await daemon.untilError('no_version');
    expect(next).toContain('bundle import');
    const page = await fetch(`${daemon.site}/guides/start`);
    expect(page.status).toBe(503);
    expect(page.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(page.headers.get('content-type')).toMatch(/^text\/html/);
    expect(await page.text()).toContain('This documentation is not ready yet');
    expect((await fetch(`${daemon.admin}/livez`)).status).toBe(200);
    expect((await fetch(`${daemon.admin}/readyz`)).status).toBe(503);
    expect(await daemon.status()).toMatchObject({ state: 'waiting', active: null, versions: [] });
    expect((await fetch(`${daemon.site}/_docshelf/features.json`)).status).toBe(200);
  });

  test('responds with a 404 page, but is ready, if staticExport.enabled is false', async () => {
    const daemon = await bench.start({ staticExport: { enabled: false } });
    await daemon.until(({ state }) => state === 'off');
    const page = await fetch(`${daemon.site}/`);
    expect(page.status).toBe(404);
    expect(await page.text()).toContain('turned off');
    expect((await fetch(`${daemon.admin}/readyz`)).status).toBe(200);
    expect((await fetch(`${daemon.site}/_docshelf/features.json`)).status).toBe(200);
  });
});
