import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { corpus, importBundle, newHome, whyNoCorpus } from '../helpers/corpus.ts';
import { openBench } from '../helpers/daemon.ts';

const bench = openBench(afterEach);

/** Small archives from public bug reports. For each packer, both pages are served and no by-product is listed. */
describe.skipIf(corpus === undefined)(`an archive of a bug report${whyNoCorpus}`, () => {
  it.each(['mac-tar-top', 'mac-zip-flat', 'tar-one-end-block'])('is served completely: %s', async (name) => {
    const folder = join(corpus ?? '.', 'cases', name);
    const archive = readdirSync(folder).find((file) => /\.(?:gz|zip)$/.test(file)) ?? '';
    const home = await newHome(bench);
    const { version } = await importBundle(bench, home, join(folder, archive));
    const daemon = await bench.start(null, { folder: home });
    const status = await daemon.untilServing(version);
    expect(status).toMatchObject({ active: { pages: 2 }, versions: [{ pages: 2, files: 2 }], notices: [] });
    for (const path of ['/', '/guide']) expect((await fetch(daemon.site + path)).status, path).toBe(200);
    expect(await (await fetch(`${daemon.site}/llms.txt`)).text()).not.toMatch(/\._|__MACOSX|DS_Store/);
  });
});
