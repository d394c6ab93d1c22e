import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as crawler from '../../src/crawl/index.ts';
import type { CrawlOptions } from '../../src/domain/crawl.ts';
import type { SiteSource } from '../../src/domain/job.ts';
import { ARCHIVE_LIMITS } from '../../src/domain/limits.ts';
import { collectSite } from '../../src/export/jobs/collect.ts';
import { FileStore } from '../../src/files/file-store.ts';
import { egressRulesOf } from '../../test/net/http-client-of.ts';

const PAGES = 1_000;
const PAGE_BYTES = 40_000;
const LINKS = 100;
/** Measured rounds, after one that warms up. */
const ROUNDS = 5;

/** Fifty times the duration of a round, so that a hanging peer ends. */
const TOOL_MS_MAX = 60_000;

const runFile = promisify(execFile);
const run = (program: string, args: readonly string[]) =>
  runFile(program, args, { timeout: TOOL_MS_MAX, killSignal: 'SIGKILL' });

interface Tool {
  readonly name: string;
  /** Exports the site into an empty folder. @returns pages */
  readonly take: (url: string, dir: string) => Promise<number>;
}

/** Crawls a site on loopback with docshelf, wget and HTTrack in turns. Prints pages per second and the ratios. */
export async function benchCrawl(): Promise<void> {
  const installed: Tool[] = [{ name: 'docshelf', take: docshelf }];
  if (isThere('wget')) installed.push({ name: 'wget -m -k -E -p', take: wget });
  if (isThere('httrack')) installed.push({ name: 'HTTrack', take: httrack });
  const origin = spawn(process.execPath, [
    join(import.meta.dirname, 'crawl-origin.ts'),
    `${PAGES}`,
    `${PAGE_BYTES}`,
    `${LINKS}`,
  ]);
  const dir = mkdtempSync(join(tmpdir(), 'docshelf-bench-crawl-'));
  try {
    // The results stay until the end, because file systems are slow after large deletions.
    const port = await new Promise<string>((resolve) =>
      origin.stdout.once('data', (data) => resolve(String(data).trim())),
    );
    const url = `http://127.0.0.1:${port}/`;
    const tools: Tool[] = [];
    for (const tool of installed) if (await warmsUp(tool, url, join(dir, `0-${tool.name}`))) tools.push(tool);
    if (tools[0] !== installed[0]) throw new Error('there is nothing to compare');
    console.log(`\n## Crawling: ${PAGES} pages of ${PAGE_BYTES / 1000} KB with ${LINKS} links, pages a second\n`);
    console.log(`| round | ${tools.map(({ name }) => name).join(' | ')} |\n|${'---|'.repeat(tools.length + 1)}`);
    const rates = tools.map((): number[] => []);
    for (let round = 1; round <= ROUNDS; round += 1) {
      for (const [at, tool] of tools.entries()) {
        const folder = join(dir, `${round}-${at}`);
        mkdirSync(folder);
        const startedMs = performance.now();
        const pages = await tool.take(url, folder);
        const seconds = (performance.now() - startedMs) / 1000;
        if (pages < PAGES) throw new Error(`${tool.name} gives ${pages} pages of ${PAGES}`);
        rates[at]?.push(pages / seconds);
      }
      console.log(`| ${round} | ${rates.map((all) => all.at(-1)?.toFixed(0)).join(' | ')} |`);
    }
    const [ours = Number.NaN, ...theirs] = rates.map(median);
    for (const [at, rate] of theirs.entries()) {
      console.log(
        `\nAs many times as fast as ${tools[at + 1]?.name}, median: ${(ours / rate).toFixed(2)}${at === 0 ? ' (aim: at least 1)' : ''}`,
      );
    }
  } finally {
    origin.kill();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function docshelf(url: string, dir: string): Promise<number> {
  const filesDir = join(dir, 'files');
  const recordsDir = join(dir, 'records');
  mkdirSync(recordsDir);
  const store = new FileStore(filesDir);
  const options: CrawlOptions = {
    settings: {
      kind: 'crawl',
      url,
      allowAddresses: ['127.0.0.1'],
      robots: 'respect',
      cookieFile: null,
      bearerFile: null,
      headersFile: null,
      concurrency: 16,
      rateMax: 0,
      render: null,
      limits: {
        pagesMax: 100_000,
        depthMax: 100,
        queryVariantsMax: 100,
        pageBytesMax: 16 * 1024 ** 2,
        requestTimeoutMs: 120_000,
      },
    },
    hosts: [],
    limits: ARCHIVE_LIMITS,
    browser: { sandbox: 'auto', tabs: 4, pageTimeoutMs: 30_000, verify: 'off' },
    egress: egressRulesOf({ connectTimeoutMs: 10_000, idleTimeoutMs: 30_000 }),
    filesDir,
    workDir: join(dir, 'work'),
    journalDir: join(dir, 'journal'),
    recordsDir,
    pageThreads: Math.max(1, Math.min(4, availableParallelism() - 1)),
  };
  const source: SiteSource = (...given) => crawler.collect(options, ...given);
  const request = { domain: 'bench', version: null, paths: null };
  const { files } = await collectSite(source, request, store, () => undefined, new AbortController().signal);
  return files.filter(({ path }) => path.endsWith('.html')).length;
}

/** Runs an unmeasured round. A peer that fails is omitted, with a message. */
async function warmsUp({ name, take }: Tool, url: string, folder: string): Promise<boolean> {
  mkdirSync(folder);
  const pages = await take(url, folder).catch(() => 0);
  if (pages < PAGES) console.log(`${name} is left out: it gives ${pages} pages of ${PAGES}`);
  return pages >= PAGES;
}

async function wget(url: string, dir: string): Promise<number> {
  await run('wget', ['-q', '-m', '-k', '-E', '-p', '--no-proxy', '-P', dir, url]).catch((error: { code?: unknown }) => {
    // 8: an address responded with an error, as robots.txt does.
    if (error.code !== 8) throw error;
  });
  return pagesIn(dir);
}

async function httrack(url: string, dir: string): Promise<number> {
  await run('httrack', [
    url,
    '-O',
    dir,
    '-q',
    '-%v0',
    '-c16',
    '-A100000000',
    '-%c1000',
    '--disable-security-limits',
    '-s0',
  ]);
  return pagesIn(dir);
}

function pagesIn(dir: string): number {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) => /page-\d+(?:-\d)?\.html$/.test(name))
    .length;
}

function isThere(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
