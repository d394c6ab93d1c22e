/**
 * The load model: arithmetic over what was measured, one place for each figure. `node bench/scale/model.ts` prints the tables of
 * docs/scaling.md, and what it says of points that it was not made from.
 */

interface Figure {
  readonly value: number;
  readonly unit: string;
  /** Where bench/RESULTS.md has it: the section, and its row. */
  readonly row: string;
}

const figure = (value: number, unit: string, row: string): Figure => ({ value, unit, row });

export const FIGURES = {
  pageUs: figure(66, 'µs of a processor a page', 'Serving: random pages, access log on'),
  pageKb: figure(20, 'KB', 'Serving: random pages'),
  firstQueries: figure(89, 'a second and core', 'Search latency: hybrid, first, 10,000'),
  knownQueries: figure(244, 'a second and core', 'Search latency: hybrid, again, 10,000'),
  wordQueries: figure(279, 'a second and core', 'Search latency: keywords, 10,000'),
  memory100: figure(208, 'MiB', 'Many sites: 100 small sites'),
  memory300: figure(266, 'MiB', 'Many sites: 300 small sites, 2026-11-22'),
  startS: figure(10.1, 's to serve 1,000 sites', 'Many sites: 1,000 small sites, 2026-11-23'),
  renderedPages: figure(9.1, 'pages a second and worker', 'Exports: rendering with Chromium'),
  diskMiB: figure(2_653, 'MiB of 100,000 pages', 'Growth: data folder'),
  archiveMiB: figure(200, 'MiB of 100,000 pages', 'Growth: archive'),
  countsOneByOne: figure(1_865, 'a second', 'Limits: one daemon, one after the other'),
} as const;

type Figures = { readonly [Name in keyof typeof FIGURES]: number };
const VALUES = Object.fromEntries(Object.entries(FIGURES).map(([name, { value }]) => [name, value])) as Figures;
