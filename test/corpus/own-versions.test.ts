import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { bundleFile, corpus, whyNoCorpus } from '../helpers/corpus.ts';
import { openBench } from '../helpers/daemon.ts';
import { packTarGz } from '../helpers/pack-tar-gz.ts';
import { readArchive } from '../helpers/read-archive.ts';

const NAME = 'docusaurus-classic.tar.gz';
const OWN = 'the bundle itself contains several versions (docs/1.0/, docs/next/ and 2 more)';

describe.skipIf(corpus === undefined)(`a bundle that contains several versions${whyNoCorpus}`, () => {
  const bench = openBench(afterAll);

  it('keeps its own version switcher, and gets no switcher of docshelf if docshelf stores two versions of the bundle', async () => {
    const folder = await bench.folder();
    const daemon = await bench.start(
      {
        staticExport: { enabled: true, serveVersions: 'kept' },
        server: { versionSwitcher: true },
        search: { enabled: false },
        log: { access: false },
      },
      { folder },
    );
    const files = await readArchive(bundleFile(NAME));
    const changed = Array.from(files, ([path, bytes]) => ({
      path,
      bytes: path === 'markdown-page/index.html' ? Buffer.from(`${bytes}<!-- another -->`) : bytes,
    }));
    const second = join(folder, 'second.tar.gz');
    await packTarGz({ files: changed, to: second });
    for (const [file, version] of [
      [bundleFile(NAME), 'v1'],
      [second, 'v2'],
    ] as const)
      expect(await bench.run(['bundle', 'import', file, '--version', version], { cwd: folder })).toMatchObject({
        code: 0,
      });
    const versions = await (await fetch(`${daemon.site}/_docshelf/versions.json`)).json();
    expect((versions as { version: string }[]).map(({ version }) => version)).toEqual(['v2', 'v1']);
    for (const root of ['/', '/_docshelf/v/v1/'])
      for (const path of ['docs/intro', 'docs/1.0/intro', 'docs/next/intro', 'fr/docs/intro', 'fr/docs/next/intro']) {
        const answer = await fetch(`${daemon.site}${root}${path}`);
        const page = await answer.text();
        // The notice of an old version has a style, and no script.
        const hasSwitcher = /\/assets\/switcher-[^"]*\.js/.test(page);
        expect([path, answer.status, hasSwitcher]).toEqual([path, 200, false]);
        // The site's own switcher exists: links to the next and the old version.
        expect(page).toMatch(/href="?[^">\s]*\/docs\/(?:next|1\.0)\//);
      }
    await expect
      .poll(async () => (await daemon.status()).notices, { timeout: 30_000 })
      .toContain(`docshelf adds no version switcher to version "v2", because ${OWN}.`);
    // The old version shows a notice to its readers.
    expect(await (await fetch(`${daemon.site}/_docshelf/v/v1/docs/intro`)).text()).toContain('<docshelf-versions');
  });
});
