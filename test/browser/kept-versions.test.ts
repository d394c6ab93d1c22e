import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundle, folderOf } from '../acceptance/bundles.ts';
import { BuiltSite } from '../corpus/built-site.ts';
import { bundleFile, corpus, whyNoCorpus } from '../helpers/corpus.ts';
import { openBench } from '../helpers/daemon.ts';
import { readArchive } from '../helpers/read-archive.ts';
import { MOUNTED_SITES } from './mounted-sites.ts';
import { hasChromium, useChromium, whyNoChromium } from './reader.ts';

const TEST_MS_MAX = 600_000;
/** Label with two encodings in addresses. */
const OLD = '1.0+a';
const SITES = MOUNTED_SITES.filter(({ domain }) => ['next', 'sphinx', 'docusaurus'].includes(domain));
const NEXT_JULY = 'nextjs-a-2024-07-15.tar.gz';

describe.skipIf(corpus === undefined || !hasChromium)(
  `kept versions of public sites${whyNoCorpus}${whyNoChromium}`,
  () => {
    const bench = openBench(afterAll);
    const chromium = useChromium();
    let origin: string;

    beforeAll(async () => {
      const folder = await bench.folder();
      await folderOf(folder, { 'july.tar.gz': bundle('july') });
      const sites = SITES.map(({ domain }) => ({
        domain,
        basePath: `/${domain}/`,
        staticExport: { enabled: true, serveVersions: 'kept' },
      }));
      const config = { sites, staticExport: null, search: { enabled: false }, log: { access: false } };
      const daemon = await bench.start(config, { folder });
      origin = daemon.site;
      for (const { archive, domain } of SITES) {
        const newer = domain === 'next' ? bundleFile(NEXT_JULY) : join(folder, 'july.tar.gz');
        for (const [file, version] of [
          [bundleFile(archive), OLD],
          [newer, '2.0'],
        ] as const) {
          const imported = await bench.run(['bundle', 'import', file, '--version', version, '--site', domain], {
            cwd: folder,
          });
          expect(imported).toMatchObject({ code: 0 });
        }
      }
    }, TEST_MS_MAX);

    it.each(SITES)(
      'are displayed completely, and their scripts run: $domain',
      { timeout: TEST_MS_MAX },
      async (mounted) => {
        const base = `/${mounted.domain}/_docshelf/v/${OLD}/`;
        const site = new BuiltSite(await readArchive(bundleFile(mounted.archive)));
        const reader = await chromium.open(origin);
        const strays = new Set<string>();
        reader.page.on('request', (request) => {
          const { origin: requestOrigin, pathname } = new URL(request.url());
          if (requestOrigin === origin && !`${pathname}/`.startsWith(base) && pathname !== '/favicon.ico')
            strays.add(pathname);
        });
        const untilShown = async (path: string): Promise<void> => {
          await reader.untilTitled(site.titleAt(path).replaceAll(/\s+/g, ' ').trim());
          await reader.page.waitForFunction(mounted.hasRun);
        };
        const [first = '', second = ''] = mounted.templates;
        for (const path of [second, first]) {
          await reader.load(base + path);
          await untilShown(path);
        }
        if (mounted.go !== null) {
          await reader.page.evaluate(`(${mounted.go})(${JSON.stringify(base + second)}, ${JSON.stringify(base)})`);
          await untilShown(second);
        }
        // Dead links of the original site do not count.
        const failures = reader.failures.filter(({ path }) => site.fileAt(path.slice(base.length - 1)) !== null);
        const complaints = reader.complaints.filter(
          (text) => !(mounted.known ?? []).some((each) => text.includes(each)),
        );
        expect([failures, complaints, [...strays]]).toEqual([[], [], []]);
      },
    );
  },
);
