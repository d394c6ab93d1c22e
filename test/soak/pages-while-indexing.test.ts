import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { bundleFile, corpus, importBundle, newHome, whyNoCorpus } from '../helpers/corpus.ts';
import { type DaemonProcess, openBench } from '../helpers/daemon.ts';
import { readArchive } from '../helpers/read-archive.ts';
import { sideBySide } from '../helpers/side-by-side.ts';
import { addressOf, SiteClient } from '../helpers/site-client.ts';

/** The figure is printed with its aim. The assertion allows for a busy machine. */
const P99_RATIO = { aim: 3, max: 20 };
const LOAD_MS = 4_000;
const CONNECTIONS = 4;
const PAUSE_MS = 5;

describe.skipIf(corpus === undefined)(`pages during the build of an index${whyNoCorpus}`, () => {
  const bench = openBench(afterAll);

  it(`are served almost as fast as on an idle daemon (p99 under ${P99_RATIO.aim} times the idle p99)`, async () => {
    const folder = await newHome(bench);
    const { version, digest } = await importBundle(bench, folder, bundleFile('postgres-15.tar.gz'));
    const files = await readArchive(bundleFile('postgres-15.tar.gz'));
    const pages = [...files.keys()].filter((file) => file.endsWith('.html')).map((file) => file.replace(/^html\//, ''));

    await bench.writeConfig(folder, { log: { access: false } });
    const idle = await bench.start(null, { folder });
    await idle.untilServing(version);
    const before = await load(idle, pages);
    expect((await idle.status()).search).toMatchObject({ keyword: 'ready', semantic: 'off' });
    await idle.stop();

    // Without its index, the daemon builds it at the start, and then the vectors.
    await rm(join(folder, 'data', 'releases', digest, 'search'), { recursive: true });
    await bench.writeConfig(folder, { log: { access: false }, search: { model: 'builtin' } });
    const building = await bench.start(null, { folder });
    await building.untilServing(version);
    const { search: atStart } = await building.status();
    const during = await load(building, pages);
    const { search } = await building.status();
    console.log(
      `figure: p99 of served pages ${before.p99.toFixed(1)} ms idle (${before.count} requests), ${during.p99.toFixed(1)} ms (${during.count}) while the index is built (${search.embedded} of ${search.sections} embedded after it): ${(during.p99 / before.p99).toFixed(1)} times (aim ${P99_RATIO.aim}); p50 ${before.p50.toFixed(1)} and ${during.p50.toFixed(1)} ms`,
    );
    expect(atStart.keyword).toBe('building');
    expect(search.semantic).toBe('building');
    expect(during.p99 / before.p99).toBeLessThan(P99_RATIO.max);
  });

  /** Requests pages over keep-alive connections with a pause after each response, like readers do. */
  async function load(daemon: DaemonProcess, pages: readonly string[]) {
    const client = new SiteClient(daemon.site, CONNECTIONS);
    const endMs = performance.now() + LOAD_MS;
    const tookMs: number[] = [];
    await sideBySide(Array.from({ length: CONNECTIONS }).keys(), CONNECTIONS, async (lane) => {
      for (let at = lane; performance.now() < endMs; at += CONNECTIONS) {
        const startMs = performance.now();
        const { status } = await client.get(addressOf(pages[at % pages.length] ?? ''));
        tookMs.push(performance.now() - startMs);
        expect(status).toBe(200);
        await sleep(PAUSE_MS);
      }
    });
    client.close();
    tookMs.sort((a, b) => a - b);
    const quantile = (part: number): number => tookMs[Math.floor(tookMs.length * part)] ?? Number.NaN;
    return { count: tookMs.length, p50: quantile(0.5), p99: quantile(0.99) };
  }
});
