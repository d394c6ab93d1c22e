import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';

/**
 * Tests that take long, or a machine of their own: kills, loads, full disks, hostile sites, whole lives, the pages of the manual
 * word by word, and every way to get a bundle except the link. `.ci/run` runs them, and `npm test` ends within four minutes.
 */
const HEAVY = [
  'acceptance/air-gap-page',
  'acceptance/assistants',
  'acceptance/backup',
  'acceptance/bad-links',
  'acceptance/broken-config',
  'acceptance/bundle-commands',
  'acceptance/bundle-import',
  'acceptance/bundle-url',
  'acceptance/bundle-verify',
  'acceptance/canary',
  'acceptance/completion',
  'acceptance/crawl-hostile-scripts',
  'acceptance/crawl-kill',
  'acceptance/crawl-life',
  'acceptance/crawl-probes',
  'acceptance/crawl-rendered',
  'acceptance/dashboard',
  'acceptance/demo',
  'acceptance/disk-full',
  'acceptance/doctor',
  'acceptance/egress',
  'acceptance/export-command',
  'acceptance/export-commands',
  'acceptance/export-database',
  'acceptance/export-disk-full',
  'acceptance/export-life',
  'acceptance/export-links',
  'acceptance/export-load',
  'acceptance/export-loop',
  'acceptance/export-processes',
  'acceptance/folder-commands',
  'acceptance/from-exports',
  'acceptance/how-to-pages',
  'acceptance/import-while-starting',
  'acceptance/kept-versions',
  'acceptance/kubernetes',
  'acceptance/life',
  'acceptance/mac-archives',
  'acceptance/many-sites-page',
  'acceptance/model-processes',
  'acceptance/monitoring',
  'acceptance/new-organization',
  'acceptance/oci',
  'acceptance/operate-pages',
  'acceptance/preview',
  'acceptance/random-load',
  'acceptance/reload',
  'acceptance/results-page',
  'acceptance/s3',
  'acceptance/search',
  'acceptance/search-box',
  'acceptance/search-sites',
  'acceptance/service-workers',
  'acceptance/shared-keys',
  'acceptance/shared-store',
  'acceptance/sign-in-probes',
  'acceptance/signature',
  'acceptance/sites',
  'acceptance/sites-commands',
  'acceptance/sites-isolation',
  'acceptance/sites-soak',
  'acceptance/socket',
  'acceptance/systemd',
  'acceptance/terminal',
  'acceptance/tls',
  'acceptance/traces',
  'acceptance/transfer',
  'acceptance/tutorials',
  'acceptance/upgrade',
  'acceptance/version-switcher',
  'app/fast-path',
  'archive/fuzz',
  'archive/pack-bundle',
  'contract/bundle-store',
  'contract/job-queue',
  'contract/request-counter',
  'contract/search-index',
  'crawl/crawl-source',
  'crawl/hostile',
  'crawl/resume',
  'database/database',
  'deploy/crash',
  'deploy/many-entries',
  'deploy/signature',
  'export/jobs/queue/thread',
  'export/jobs/repack',
  'export/jobs/retention',
  'export/jobs/shared-jobs',
  'export/stores/s3-bundle-store',
  'helm/alerts-fire',
  'helm/bad-values',
  'helm/chart',
  'helm/matrix',
  'helm/names',
  'helm/network',
  'helm/nulls',
  'helm/sites',
  'helm/usual-settings',
  'http/keys/postgres-keys',
  'http/limits/postgres-counter',
  'scripts/parts',
  'scripts/release',
  'search/bundle-memory',
  'search/bundle-search',
  'search/carried-search',
  'search/left-out-pages',
  'search/many-sites',
  'search/model-thread',
  'search/read-sections',
  'search/shared-folder',
  'site/turns',
  'threads/heap-bounds',
  'threads/thread',
  'threads/yield',
  'web/fuzz',
].map((name) => `test/${name}.test.ts`);
const missing = HEAVY.filter((file) => !existsSync(file));
if (missing.length > 0)
  throw new Error(`HEAVY in vitest.config.ts names files that do not exist: ${missing.join(', ')}`);

/**
 * Files of one suite share a process and the modules that they import: loading those anew for each file was half of the
 * processor time. What a file starts it ends (`openBench`, `onFileEnd`); stubbed variables end with their test.
 */
const SHARED = {
  pool: 'forks',
  isolate: false,
  unstubEnvs: true,
  // Only what hangs takes this long.
  expect: { poll: { timeout: 60_000 } },
  setupFiles: 'test/helpers/setup.ts',
} as const;

/**
 * `.ci/run` gives what runs processes and browsers a second attempt, four suites at once on two cores: what needed it is listed at the
 * end of its log, since it is a fault of the test or a race of the program, and not fine.
 */
const retry = Number(process.env.DOCSHELF_TEST_RETRIES ?? 0);

/** Number of processes of `npm test` on two cores: a test waits a third of its time, for daemons, disks and time limits. */
const PROCESSES = 3;

// Threads of tests load src/ again, once per thread. With compiled modules on disk, a start takes 0.4 s of a processor, not 0.8 s.
process.env.NODE_COMPILE_CACHE ??= resolve('node_modules/.cache/compile');

/** Bounds that only something that hangs reaches: a machine with other work takes ten times as long. */
const minutes = (count: number) => ({ testTimeout: count * 60_000, hookTimeout: count * 60_000 });

/**
 * `unit` mirrors src/ and needs no build; `acceptance` and `heavy` start the built program; `corpus` reads real bundles from
 * DOCSHELF_CORPUS and skips, saying so, where that is not set; `browser` needs Chromium. `npm test` runs the first two,
 * `.ci/run` all of them, `npm run soak` the long ones. The first two share their processes. The other suites run one after the other.
 */
export default defineConfig({
  test: {
    reporters: ['default', './test/helpers/slowest-tests.ts'],
    projects: [
      {
        test: {
          ...SHARED,
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/{acceptance,corpus,browser,soak}/**', ...HEAVY],
          maxWorkers: PROCESSES,
          sequence: { groupOrder: 0 },
          ...minutes(1),
        },
      },
      {
        test: {
          ...SHARED,
          name: 'acceptance',
          retry,
          include: ['test/acceptance/**/*.test.ts'],
          exclude: HEAVY,
          maxWorkers: PROCESSES,
          sequence: { groupOrder: 0 },
          ...minutes(3),
        },
      },
      {
        test: {
          ...SHARED,
          name: 'heavy',
          retry,
          include: HEAVY,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
          ...minutes(5),
        },
      },
      {
        test: {
          ...SHARED,
          name: 'corpus',
          retry,
          include: ['test/corpus/**/*.test.ts'],
          // Figures are measured here: one at a time.
          maxWorkers: 1,
          sequence: { groupOrder: 3 },
          ...minutes(15),
        },
      },
      {
        test: {
          name: 'browser',
          retry,
          include: ['test/browser/**/*.test.ts'],
          setupFiles: SHARED.setupFiles,
          maxWorkers: 1,
          sequence: { groupOrder: 4 },
          ...minutes(5),
        },
      },
      {
        test: {
          name: 'soak',
          include: ['test/soak/**/*.test.ts'],
          maxWorkers: 1,
          sequence: { groupOrder: 5 },
          ...minutes(30),
        },
      },
    ],
  },
});
