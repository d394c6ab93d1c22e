import { readFile } from 'node:fs/promises';
import { beforeAll, expect, test } from 'vitest';
import { FakeSource, LINK, newStore, openDaemon, packBundle } from './workbench.ts';

let bundle: Awaited<ReturnType<typeof packBundle>>;
beforeAll(async () => {
  bundle = await packBundle('site.tar.gz', 'home');
});

test.each([{ version: 'v1' }, { version: null }])(
  'only one of two daemons on a folder fetches a bundle that both daemons serve, if staticExport.version is $version',
  async ({ version }) => {
    const store = await newStore();
    const arriving = Promise.withResolvers<Buffer>();
    const source = new FakeSource().serve(LINK, arriving.promise);
    const settings = { link: LINK, version };
    const daemons = [await openDaemon(store, settings, source), await openDaemon(store, settings, source)];
    const settled = daemons.map(({ deployment }) => deployment.reconcile());
    arriving.resolve(await readFile(bundle.file));
    await Promise.all(settled);
    expect(source.opened).toEqual([LINK]);
    for (const { deployment } of daemons) expect(deployment.active).toMatchObject({ digest: bundle.digest });
  },
);
