import { parseArgs } from 'node:util';

/**
 * The load model: arithmetic with measured figures. `node bench/scale/model.ts` prints the tables of docs/scaling.md. One of
 * them compares the model with measurements that it does not use. Options for another load: `--sites 500 --views 2000000`.
 */

/** @param row text that identifies the line of bench/RESULTS.md with this figure */
const figure = (value: number, row: string) => ({ value, row });

/** Measured figures that the model uses. */
export const FIGURES = {
  /** Processor time of a page. */
  pageUs: figure(28.9, 'for random pages with the log'),
  pageKb: figure(20, 'pages of 20 KB'),
  /** Per second and core, with 19 words and 10,000 sections. */
  newQuestions: figure(72, 'hybrid, first | 10,000'),
  /** Only checks the model, by the build of the scale benchmark. */
  wordQuestions: figure(279, 'keywords, 23 November | 10,000'),
  memoryOf100MiB: figure(208, '100 small sites'),
  memoryOf300MiB: figure(266, '300 small sites'),
  startOf1000S: figure(10.1, '1,000 small sites'),
  /** Per second and worker. */
  renderedPages: figure(9.1, 'with Chromium, four tabs'),
  diskOf100000PagesMiB: figure(2_653, 'data folder of 100,000 pages'),
  countsASecond: figure(1_865, 'PostgreSQL, one daemon, one at a time'),
  /** Processor time of an export of 20 pages, with one worker. */
  jobWorkerMs: figure(889, 'a job, one worker'),
  jobApiMs: figure(12, 'a job, one worker'),
  jobDatabaseMs: figure(30, 'a job, one worker'),
} as const;

export type Figures = { readonly [Name in keyof typeof FIGURES]: number };
export const MEASURED = Object.fromEntries(
  Object.entries(FIGURES).map(([name, { value }]) => [name, value]),
) as Figures;

export interface SizedLoad {
  readonly sites: number;
  readonly pagesOfSite: number;
  readonly viewsADay: number;
  /** Load of the busiest hour, as a multiple of the average. */
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
/** Two, so that one can fail. */
const REPLICAS_OF_GROUP = 2;
const SITES_OF_GROUP = 1_000;
const MEMORY_MIB = 768;
const LINE_MBIT = 1_000;
/** Disk space of the kept versions, in sizes of the first one: 1 and twice 0.5 (docs/sizing.md). */
const KEPT_VERSIONS = 2;
const PAGES_MEASURED = 100_000;

/** Resident memory, in MiB, of a daemon with small sites: a line through two points. */
export function memoryMiB(sites: number, { memoryOf100MiB, memoryOf300MiB }: Figures = MEASURED): number {
  const ofSite = (memoryOf300MiB - memoryOf100MiB) / 200;
  return memoryOf100MiB + (sites - 100) * ofSite;
}

/** @param cores of each replica */
export const pagesASecond = (replicas: number, cores: number, { pageUs }: Figures = MEASURED): number =>
  (replicas * cores * 1e6) / pageUs;

export const wordQuestionsASecond = (replicas: number, cores: number, { wordQuestions }: Figures = MEASURED): number =>
  replicas * cores * wordQuestions;

/** Jobs of workers that each have an exclusive part of a core. */
export const jobsAMinute = (workers: number, cores: number, { jobWorkerMs }: Figures = MEASURED): number =>
  (60_000 * workers * cores) / jobWorkerMs;

/** A row of the sizing table. */
interface Part {
  readonly name: string;
  readonly load: string;
  readonly resources: string;
}

export interface Limit {
  readonly name: string;
  /** Factor over the documented load. */
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
    {
      name: 'counts of requests in the database, one at a time, if limits are on',
      holds: figures.countsASecond / searches,
    },
    { name: 'a 1 Gbit line to a replica', holds: LINE_MBIT / ((peakOfGroup * figures.pageKb * 8) / 1_000) },
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
      load: `${n(views)} a second, ${n(views * load.peak)} in the busiest hour: ${n(sized.peakCores, 2)} of a core`,
      resources: 'one core is enough; two replicas for each group, so that one can fail',
    },
    {
      name: 'sites',
      load: `${n(groups)} groups of ${n(sitesOfGroup)} sites, by host name at the ingress; each group takes ${n(memoryMiB(sitesOfGroup))} MiB and starts in ${n((MEASURED.startOf1000S * sitesOfGroup) / 1000)} s`,
      resources: `${n(replicas)} replicas with ${MEMORY_MIB} MiB and a volume of ${n(diskGiB)} GiB for each`,
    },
    {
      name: 'search',
      load: `${n(searches)} new questions a second in the busiest hour: ${n(sized.searchCores, 1)} cores over all replicas`,
      resources: `${n(sized.searchCores / replicas, 2)} of a core for each replica`,
    },
    {
      name: 'exports',
      load: `${n(renderedADay)} rendered pages: ${n(renderedADay / MEASURED.renderedPages / 3600)} hours of one worker`,
      resources: `${n(Math.ceil(workersEven))} workers if the jobs are spread evenly, ${n(workers)} with room for a busy hour`,
    },
    {
      name: 'export API',
      load: `${n(jobsADay)} calls to start a job, some status requests for each`,
      resources: 'two processes, so that one can fail',
    },
    {
      name: 'database',
      load: `one job in ${n(DAY_S / jobsADay)} s; ${n(searches / load.peak)} to ${n(searches)} counts of search requests a second if limits are on`,
      resources: 'the smallest highly available PostgreSQL',
    },
  ];
  return table(
    ['Part', 'Load', 'Resources'],
    parts.map(({ name, load, resources }) => [name, load, resources]),
  );
}

/** Bottlenecks in the order in which a growing load reaches them. */
export function limitsTable(load: SizedLoad): string {
  const rows = sizing(load).limits.map(({ name, holds }) => [name, holds < 100 ? n(holds, 1) : n(holds)]);
  return table(['Bottleneck', 'Times the load'], rows);
}

/** A measurement that the model does not use. */
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
    row: '1,000 small sites',
  },
  {
    what: 'jobs a minute of four workers with a quarter of a core each',
    predicted: jobsAMinute(4, 0.25),
    measured: 65.5,
    row: 'jobs per minute',
  },
  {
    what: 'keyword searches a second of two replicas with a quarter of a core each',
    predicted: wordQuestionsASecond(2, 0.25),
    measured: 157,
    row: 'keyword searches per second',
  },
  {
    what: 'pages a second of two replicas with a quarter of a core each',
    predicted: pagesASecond(2, 0.25),
    measured: 13_185,
    row: 'pages per second, nginx',
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
  return table(['Point', 'Model', 'Measured', 'Difference'], rows);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = head.map(() => '---');
  return [`| ${head.join(' | ')} |`, `|${rule.join('|')}|`, ...rows.map((row) => `| ${row.join(' | ')} |`)].join('\n');
}

/** Writes numbers as the documents do: 1,157 and 0.38. */
function n(value: number, digits = 0): string {
  const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return value.toLocaleString('en', format);
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
