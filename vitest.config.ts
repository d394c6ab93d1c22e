import { defineConfig } from 'vitest/config';

/**
 * Four suites. `unit` mirrors src/ and needs no build; `acceptance` starts the built program;
 * `corpus` reads real bundles from DOCSHELF_CORPUS and skips, saying so, where that is not set;
 * `browser` needs Chromium. `npm test` runs the first three, `.ci/run` all of them.
 */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/{acceptance,corpus,browser,soak}/**'],
        },
      },
      {
        test: {
          name: 'acceptance',
          // Each file runs daemons of its own, which wait more than they work.
          maxWorkers: 2,
          include: ['test/acceptance/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      { test: { name: 'corpus', include: ['test/corpus/**/*.test.ts'], testTimeout: 300_000, hookTimeout: 300_000 } },
      { test: { name: 'browser', include: ['test/browser/**/*.test.ts'], testTimeout: 120_000, hookTimeout: 120_000 } },
      { test: { name: 'soak', include: ['test/soak/**/*.test.ts'], testTimeout: 1_800_000, hookTimeout: 120_000 } },
    ],
  },
});
