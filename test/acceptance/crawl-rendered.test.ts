import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ExportReport } from '../../src/domain/job.ts';
import { hasChromium, useChromium, whyNoChromium } from '../browser/reader.ts';
import { openBench } from '../helpers/daemon.ts';
import { dumbHostOf, markOf, type Probe, type ProbeSite, pageOf, startProbeSite } from './crawl-probe.ts';
import { CLIENT_PROBES, RUNTIME_PROBES } from './crawl-probes.ts';
import { crawlOf, filesOfJob, startCrawler } from './crawl-service.ts';

/**
 * References that only a script contains, exported with and without a browser. With a browser, each mark must be in the bundle,
 * and its page must show it on a file server at another origin, without other network access. Without a browser, the report must
 * list what is missing.
 */

const PROBES: readonly Probe[] = [...RUNTIME_PROBES, ...CLIENT_PROBES];
const RENDERS = ['none', 'chromium'] as const;
type Render = (typeof RENDERS)[number];

/** Files that are loaded only after a click. Without a browser they are missing, and the report cannot list them. */
const UNTOLD: ReadonlySet<string> = new Set(['link that is made', 'page that a script writes']);

const READERS = 4;
const SHOWN_MS_MAX = 5_000;

const bench = openBench(afterAll);
const bundles = {} as Record<Render, ReadonlyMap<string, Buffer>>;
const reports = {} as Record<Render, ExportReport>;
const shown = new Set<string>();
let live: ProbeSite;
const chromium = useChromium();

/** True if the bundle contains the mark, in its own file or in the page. */
const isThere = (files: ReadonlyMap<string, Buffer>, { name }: Probe): boolean =>
  [...files].some(([path, bytes]) => !path.startsWith('_docshelf/') && bytes.includes(markOf(name)));

/** Findings about the time limits of a page. A busy machine causes them, also for pages without a fault. */
const OF_TIME: ReadonlySet<string> = new Set(['not_rendered', 'changed_text']);

const isReported = ({ findings }: ExportReport, { name }: Probe): boolean =>
  findings.some(({ page, kind }) => `/${page}` === `${pageOf(name)}.html` && !OF_TIME.has(kind));

/** Opens the pages of a bundle, and records which of them show their mark. */
async function showAll(files: ReadonlyMap<string, Buffer>): Promise<void> {
  const host = await dumbHostOf(files);
  const waiting = PROBES[Symbol.iterator]();
  const read = async (): Promise<void> => {
    for (const { name } of waiting) {
      const reader = await chromium.open(host.origin);
      await reader.load(`${pageOf(name)}.html`);
      await reader.page.evaluate('scrollTo(0, document.body.scrollHeight)');
      const hasMark = `document.body.innerText.includes(${JSON.stringify(markOf(name))})`;
      const isShown = await reader.page.waitForFunction(hasMark, null, { timeout: SHOWN_MS_MAX }).catch(() => null);
      if (isShown !== null) shown.add(name);
      await reader.close();
    }
  };
  await Promise.all(Array.from({ length: READERS }, read));
}

describe.skipIf(!hasChromium)(`a reference that only scripts create${whyNoChromium}`, () => {
  beforeAll(async () => {
    live = await startProbeSite(PROBES);
    for (const render of RENDERS) {
      const exportApi = { browser: { verify: 'auto', sandbox: 'off' } };
      const service = await startCrawler(
        bench,
        crawlOf(`${live.site.origin}/`, { render, allowAddresses: ['127.0.0.0/8', live.cdn.host] }),
        { exportApi },
      );
      const { jobId } = await service.export();
      bundles[render] = await filesOfJob(bench, service, jobId);
      reports[render] = await service.report(jobId);
    }
    await showAll(bundles.chromium);
  }, 300_000);

  afterAll(() => {
    for (const render of RENDERS) {
      const found = PROBES.filter((probe) => isThere(bundles[render], probe)).length;
      const reportedCount = PROBES.filter(
        (probe) => !isThere(bundles[render], probe) && isReported(reports[render], probe),
      ).length;
      const offline = render === 'chromium' ? `, shown offline ${shown.size}` : '';
      console.log(
        `figure: what only scripts name, render ${render}: found ${found} / ${PROBES.length}${offline}, told ${reportedCount}`,
      );
    }
  });

  test.each(PROBES)(
    'is exported and works offline if a browser renders the page, and is otherwise reported: $name',
    (probe) => {
      expect([isThere(bundles.chromium, probe), shown.has(probe.name)]).toEqual([true, true]);
      expect(isThere(bundles.none, probe) || isReported(reports.none, probe)).toBe(!UNTOLD.has(probe.name));
    },
  );

  test('is not reported for pages that a browser rendered', () => {
    expect(PROBES.filter((probe) => isReported(reports.chromium, probe)).map(({ name }) => name)).toEqual([]);
  });
});
