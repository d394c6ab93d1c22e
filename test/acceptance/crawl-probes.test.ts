import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBench } from '../helpers/daemon.ts';
import { markOf, type Probe, slugOf } from './crawl-probe.ts';
import { dumbHostOf, follow } from './crawl-probe-host.ts';
import { type ProbeSite, startProbeSite } from './crawl-probe-site.ts';
import { ADDRESS_PROBES } from './crawl-probes-address.ts';
import { CHARSET_PROBES } from './crawl-probes-charset.ts';
import { FEED_PROBES } from './crawl-probes-feed.ts';
import { FRAME_PROBES } from './crawl-probes-frame.ts';
import { HEAD_PROBES } from './crawl-probes-head.ts';
import { MARKUP_PROBES } from './crawl-probes-markup.ts';
import { SCRIPT_PROBES } from './crawl-probes-script.ts';
import { SEARCH_PROBES } from './crawl-probes-search.ts';
import { SEED_PROBES, seedFiles } from './crawl-probes-seed.ts';
import { STYLE_PROBES } from './crawl-probes-style.ts';
import { SVG_PROBES } from './crawl-probes-svg.ts';
import { crawlOf, filesOfJob, startCrawler } from './crawl-service.ts';

/**
 * A live site with a page for each kind of reference, exported by the built process without a browser. Each mark must be
 * reached from its page by the references that are written, on a host of files at another origin, and as docshelf serves the
 * bundle.
 */

const PROBES: readonly Probe[] = [
  ...MARKUP_PROBES,
  ...FRAME_PROBES,
  ...HEAD_PROBES,
  ...SVG_PROBES,
  ...STYLE_PROBES,
  ...SCRIPT_PROBES,
  ...ADDRESS_PROBES,
  ...CHARSET_PROBES,
  ...FEED_PROBES,
  ...SEARCH_PROBES,
  ...SEED_PROBES,
];

const bench = openBench(afterAll);
let live: ProbeSite;
let files: ReadonlyMap<string, Buffer>;
const hosts: Record<'a host of files' | 'docshelf', string> = { 'a host of files': '', docshelf: '' };
const reached: Record<string, number> = {};

beforeAll(async () => {
  live = await startProbeSite(PROBES);
  bench.onEnd(() => live.close());
  live.add(seedFiles((text) => gzipSync(text.replaceAll('{site}', live.site.origin))));
  const service = await startCrawler(
    bench,
    crawlOf(`${live.site.origin}/`, { allowAddresses: ['127.0.0.0/8', live.cdn.host] }),
  );
  const job = await service.export('acme', { version: 'probes' });
  const { bundleUrl } = await service.bundle(job.jobId);
  files = await filesOfJob(bench, service, job.jobId);
  const host = await dumbHostOf(files);
  bench.onEnd(() => host.close());
  hosts['a host of files'] = host.origin;
  const reader = await bench.start({ staticExport: { bundleUrl }, log: { access: false } });
  await reader.untilServing('probes');
  hosts.docshelf = reader.site;
});

afterAll(() => {
  for (const [name, count] of Object.entries(reached))
    console.log(`figure: probes of references, render none, on ${name}: found ${count} / ${PROBES.length}`);
});

describe.each(['a host of files', 'docshelf'] as const)('on %s', (name) => {
  test.each(PROBES)('$name is found', async ({ name: probe, steps, served }) => {
    const isPage = (from: { text: string; url: string }): string => {
      const href = new RegExp(`<a href="([^"]+)">${slugOf(probe)}</a>`).exec(from.text)?.[1];
      return new URL(href ?? 'about:blank', from.url).href;
    };
    const page = await follow(`${hosts[name]}/`, [isPage]);
    const end = await follow(page.url, steps);
    expect(end.text).toContain(markOf(probe));
    if (served !== undefined) expect(end.type).toContain(served);
    if (end.url.includes('#part')) expect(end.text).toContain('part');
    reached[name] = (reached[name] ?? 0) + 1;
  });
});
