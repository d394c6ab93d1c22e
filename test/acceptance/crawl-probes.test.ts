import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBench } from '../helpers/daemon.ts';
import { dumbHostOf, follow, markOf, slugOf, startProbeSite } from './crawl-probe.ts';
import { PROBES } from './crawl-probes.ts';
import { crawlOf, filesOfJob, startCrawler } from './crawl-service.ts';

/**
 * The built program exports a live site with one page per kind of reference, without a browser. Each mark must be reachable from
 * its page by written references, on a file server at another origin and in docshelf.
 */

const bench = openBench(afterAll);
const hosts: Record<'a static file server' | 'docshelf', string> = { 'a static file server': '', docshelf: '' };
const reached: Record<string, number> = {};

beforeAll(async () => {
  const live = await startProbeSite(PROBES);
  const service = await startCrawler(
    bench,
    crawlOf(`${live.site.origin}/`, { allowAddresses: ['127.0.0.0/8', live.cdn.host] }),
  );
  const job = await service.export('acme', { version: 'probes' });
  const { bundleUrl } = await service.bundle(job.jobId);
  const files = await filesOfJob(bench, service, job.jobId);
  hosts['a static file server'] = (await dumbHostOf(files)).origin;
  const reader = await bench.start({ staticExport: { bundleUrl }, log: { access: false } });
  await reader.untilServing('probes');
  hosts.docshelf = reader.site;
});

afterAll(() => {
  for (const [name, count] of Object.entries(reached))
    console.log(`figure: probes of references, render none, on ${name}: found ${count} / ${PROBES.length}`);
});

describe.each(['a static file server', 'docshelf'] as const)('the bundle of a crawl, served by %s', (name) => {
  test.each(PROBES)('contains the file to which a page refers: $name', async ({ name: probe, steps, served }) => {
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
