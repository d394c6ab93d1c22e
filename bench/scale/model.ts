import { parseArgs } from 'node:util';

/**
 * The load model: arithmetic over what was measured. `node bench/scale/model.ts` prints the tables of docs/scaling.md, and beside
 * what it says of points that it was not made from what was measured there. Another load: `--sites 500 --views 2000000`.
 */

/** @param row what the line of bench/RESULTS.md that has it says besides */
const figure = (value: number, row: string) => ({ value, row });

/** What the model is made from. */
export const FIGURES = {
  /** Processor time of a page. */
  pageUs: figure(28.9, '1,000 pages in random order, gzip'),
  pageKb: figure(20, 'pages of 20 KB'),
  /** A second and core, of 19 words, at 10,000 sections. */
  newQuestions: figure(89, 'hybrid, first | 10,000'),
  wordQuestions: figure(279, 'keywords | 10,000'),
  memoryOf100MiB: figure(208, '100 small sites'),
  memoryOf300MiB: figure(266, '300 small sites, second start'),
  startOf1000S: figure(10.1, '1,000 small sites'),
  /** A second and worker. */
  renderedPages: figure(9.1, 'with Chromium, four tabs'),
  diskOf100000PagesMiB: figure(2_653, 'data folder, first version and with the second'),
  countsASecond: figure(1_865, 'PostgreSQL, one daemon, one after the other'),
  /** Processor time of an export of 20 pages, with one worker. */
  jobWorkerMs: figure(889, 'one worker, a quarter of a core'),
  jobApiMs: figure(12, 'one worker, a quarter of a core'),
  jobDatabaseMs: figure(30, 'one worker, a quarter of a core'),
} as const;

export type Figures = { readonly [Name in keyof typeof FIGURES]: number };
export const MEASURED = Object.fromEntries(
  Object.entries(FIGURES).map(([name, { value }]) => [name, value]),
) as Figures;

export interface SizedLoad {
  readonly sites: number;
  readonly pagesOfSite: number;
  readonly viewsADay: number;
  /** The busiest hour beside the average. */
  readonly peak: number;
  readonly viewsASearch: number;
  readonly exportsOfSiteADay: number;
}

export const DOCUMENTED: SizedLoad = {
  sites: 10_000,
  pagesOfSite: 200,
  viewsADay: 100_000_000,
  peak: 5,
  viewsASearch: 20,
  exportsOfSiteADay: 1,
};

const DAY_S = 86_400;
/** One may be away. */
const REPLICAS_OF_GROUP = 2;
const SITES_OF_GROUP = 1_000;
const MEMORY_MIB = 768;
const LINE_MBIT = 1_000;
/** Versions on disk: one whole, and two that are half of it (docs/sizing.md). */
const KEPT_VERSIONS = 2;
const PAGES_MEASURED = 100_000;

/** Resident, in MiB, of a daemon with so many small sites: a line through two points. */
export function memoryMiB(sites: number, { memoryOf100MiB, memoryOf300MiB }: Figures = MEASURED): number {
  const ofSite = (memoryOf300MiB - memoryOf100MiB) / 200;
  return memoryOf100MiB + (sites - 100) * ofSite;
}

/** @param cores of each replica */
export const pagesASecond = (replicas: number, cores: number, { pageUs }: Figures = MEASURED): number =>
  (replicas * cores * 1e6) / pageUs;

export const wordQuestionsASecond = (replicas: number, cores: number, { wordQuestions }: Figures = MEASURED): number =>
  replicas * cores * wordQuestions;

/** Of workers that have a part of a core each, which nothing else wants. */
export const jobsAMinute = (workers: number, cores: number, { jobWorkerMs }: Figures = MEASURED): number =>
  (60_000 * workers * cores) / jobWorkerMs;

/** A kind of demand, and how many times of it what is there holds. */
interface Part {
  readonly name: string;
  readonly workedOut: string;
  readonly so: string;
}

export interface Limit {
  readonly name: string;
  /** Times the documented load. */
  readonly holds: number;
}

export function sizing(load: SizedLoad, figures: Figures = MEASURED) {
  const views = load.viewsADay / DAY_S;
  const groups = Math.ceil(load.sites / SITES_OF_GROUP);
  const replicas = groups * REPLICAS_OF_GROUP;
  const sitesOfGroup = Math.ceil(load.sites / groups);
  const searches = (views * load.peak) / load.viewsASearch;
  const jobsADay = load.sites * load.exportsOfSiteADay;
  const renderedADay = jobsADay * load.pagesOfSite;
  const workersEven = renderedADay / figures.renderedPages / DAY_S;
  const workers = 2 * Math.ceil(workersEven);
  const peakOfGroup = (views * load.peak) / groups;
  const diskGiB =
    (KEPT_VERSIONS * sitesOfGroup * load.pagesOfSite * figures.diskOf100000PagesMiB) / PAGES_MEASURED / 1024;
  const peakCores = (views * load.peak * figures.pageUs) / 1e6;
  const searchCores = searches / figures.newQuestions;
  const databaseShare = (jobsADay * figures.jobDatabaseMs) / 1000 / DAY_S;
  const limits: Limit[] = [
    { name: 'workers that render', holds: workers / workersEven },
    {
      name: 'memory of a replica, by sites',
      holds: (sitesWithin(MEMORY_MIB, figures) * groups) / load.sites,
    },
    { name: 'processor of a replica, by new questions and pages', holds: groups / (searchCores + peakCores) },
    { name: 'one count after the other, where limits are on', holds: figures.countsASecond / searches },
    { name: 'a line of 1 Gbit to a replica', holds: LINE_MBIT / ((peakOfGroup * figures.pageKb * 8) / 1_000) },
    { name: 'the database, by jobs', holds: 1 / databaseShare },
  ];
  limits.sort((one, other) => one.holds - other.holds);
  return {
    ...{ views, groups, replicas, sitesOfGroup, searches, jobsADay, renderedADay, workersEven, workers, diskGiB },
    ...{ peakCores, searchCores, limits },
  };
}

function sitesWithin(mib: number, figures: Figures): number {
  const ofSite = memoryMiB(1, figures) - memoryMiB(0, figures);
  return (mib - memoryMiB(0, figures)) / ofSite;
}

/** A table of docs/scaling.md. */
export function sizingTable(load: SizedLoad): string {
  const sized = sizing(load);
  const { views, groups, replicas, sitesOfGroup, searches, jobsADay, renderedADay, workersEven, workers, diskGiB } =
    sized;
  const parts: Part[] = [
    {
      name: 'pages',
      workedOut: `${n(views)} a second, ${n(views * load.peak)} in the busiest hour: ${n(sized.peakCores, 2)} of a core`,
      so: 'one core is enough; two replicas for each group, so that one may be away',
    },
    {
      name: 'sites',
      workedOut: `${n(groups)} groups of ${n(sitesOfGroup)} sites, by host name at the ingress; ${n(memoryMiB(sitesOfGroup))} MiB and ${n((MEASURED.startOf1000S * sitesOfGroup) / 1000)} s to start each`,
      so: `${n(replicas)} replicas with ${MEMORY_MIB} MiB and a volume of ${n(diskGiB)} GiB each`,
    },
    {
      name: 'search',
      workedOut: `${n(searches)} questions a second in the busiest hour, all of them new: ${n(sized.searchCores, 1)} cores over all replicas`,
      so: `${n(sized.searchCores / replicas, 2)} of a core each`,
    },
    {
      name: 'exports',
      workedOut: `${n(renderedADay)} rendered pages: ${n(renderedADay / MEASURED.renderedPages / 3600)} hours of one worker`,
      so: `${n(Math.ceil(workersEven))} workers if they come evenly, ${n(workers)} with room for a bad hour`,
    },
    {
      name: 'export API',
      workedOut: `${n(jobsADay)} calls to start a job, some polls of each`,
      so: 'two processes, for one to be away',
    },
    {
      name: 'database',
      workedOut: `one job in ${n(DAY_S / jobsADay)} s; ${n(searches / load.peak)} to ${n(searches)} counts of search requests a second where limits are on`,
      so: 'the smallest PostgreSQL that is highly available',
    },
  ];
  return table(
    ['', 'worked out', 'so'],
    parts.map(({ name, workedOut, so }) => [name, workedOut, so]),
  );
}

/** What breaks first: the first row. */
export function limitsTable(load: SizedLoad): string {
  const rows = sizing(load).limits.map(({ name, holds }) => [name, holds < 100 ? n(holds, 1) : n(holds)]);
  return table(['', 'holds so many times that load'], rows);
}

/** A point that the model was not made from. */
interface Check {
  readonly what: string;
  readonly predicted: number;
  readonly measured: number;
  readonly row: string;
}

export const CHECKS: readonly Check[] = [
  {
    what: 'MiB of a daemon with 1,000 small sites',
    predicted: memoryMiB(1_000),
    measured: 481,
    row: '1,000 small sites, the same. 2026-11-23',
  },
  {
    what: 'jobs a minute of four workers with a quarter of a core each',
    predicted: jobsAMinute(4, 0.25),
    measured: 65.5,
    row: 'jobs a minute: a folder of 20 new pages',
  },
  {
    what: 'searches a second by words of two replicas with a quarter of a core each',
    predicted: wordQuestionsASecond(2, 0.25),
    measured: 157,
    row: 'searches a second by words',
  },
  {
    what: 'pages a second of two replicas with a quarter of a core each',
    predicted: pagesASecond(2, 0.25),
    measured: 13_185,
    row: 'pages a second',
  },
];

export const deviation = ({ predicted, measured }: Pick<Check, 'predicted' | 'measured'>): string =>
  `${predicted >= measured ? '+' : '−'}${n(Math.abs(predicted / measured - 1) * 100)} %`;

export function checksTable(): string {
  const rows = CHECKS.map((check) => [
    check.what,
    ...[check.predicted, check.measured].map((value) => n(value)),
    deviation(check),
  ]);
  return table(['', 'the model', 'measured', ''], rows);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = head.map(() => '---');
  return [`| ${head.join(' | ')} |`, `|${rule.join('|')}|`, ...rows.map((row) => `| ${row.join(' | ')} |`)].join('\n');
}

/** As the documents write numbers: 1,157 and .38. */
function n(value: number, digits = 0): string {
  const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return value.toLocaleString('en', format).replace(/^0\./, '.');
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { sites: { type: 'string' }, views: { type: 'string' } } });
  const load = {
    ...DOCUMENTED,
    ...(values.sites === undefined ? {} : { sites: Number(values.sites) }),
    ...(values.views === undefined ? {} : { viewsADay: Number(values.views) }),
  };
  console.log(`${sizingTable(load)}\n\n${limitsTable(load)}\n\n${checksTable()}\n`);
  for (const [name, { value, row }] of Object.entries(FIGURES))
    console.log(`${name} = ${value} (bench/RESULTS.md, ${row})`);
}
