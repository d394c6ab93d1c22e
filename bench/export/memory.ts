import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../test/helpers/free-ports.ts';

const PAGES = 20_000;
const LINKS = 100;
const LOOK_EVERY_MS = 100;
const READY_MS_MAX = 20_000;
const JOB_MS_MAX = 3_600_000;
/** Aim for a crawl of 20,000 pages. */
const PEAK_MB_MAX = 400;

const PROGRAM = new URL('../../dist/main.js', import.meta.url).pathname;
const KEY = 'svc_bench';

/** Steps by the progress of the job in percent. The end of a step belongs to it. */
const STEPS = [
  { name: 'crawl', until: 35 },
  { name: 'check, search data', until: 80 },
  { name: 'pack, store', until: Number.POSITIVE_INFINITY },
] as const;

interface Job {
  readonly jobId: string;
  readonly status: string;
  readonly progress: number;
  readonly pageCount: number;
}

/** Peak memory (RSS) of the built daemon per step, while it crawls and exports a large site without vectors. Linux only. */
export async function benchMemory(): Promise<void> {
  console.log(`\n## Memory: ${PAGES} pages with ${LINKS} links, peak RSS of the daemon, MB\n`);
  console.log(`| a page | idle | ${STEPS.map(({ name }) => name).join(' | ')} | seconds |\n|---|---|---|---|---|---|`);
  for (const pageBytes of [10_000, 40_000]) await measure(pageBytes);
  console.log(`\nAim: under ${PEAK_MB_MAX} MB, with pages of 10 KB.`);
}

async function measure(pageBytes: number): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'docshelf-bench-memory-'));
  const script = join(import.meta.dirname, 'crawl-origin.ts');
  const origin = spawn(process.execPath, [script, `${PAGES}`, `${pageBytes}`, `${LINKS}`]);
  const apiPort = await freePort();
  const [printed] = await once(origin.stdout, 'data');
  writeFileSync(join(dir, 'config.yaml'), configText(apiPort, String(printed).trim()));
  const daemon = spawn(process.execPath, [PROGRAM, 'serve', '--config', join(dir, 'config.yaml')], { stdio: 'ignore' });
  try {
    const jobs = `http://127.0.0.1:${apiPort}/v1/static-export/jobs`;
    const started = await startJob(jobs);
    const idle = residentMb(daemon);
    const startedMs = performance.now();
    const peaks = await watch(daemon, `${jobs}/${started.jobId}`);
    const seconds = (performance.now() - startedMs) / 1000;
    const cells = [idle, ...peaks].map((mb) => mb.toFixed(0));
    console.log(`| ${pageBytes / 1000} KB | ${cells.join(' | ')} | ${seconds.toFixed(0)} |`);
  } finally {
    daemon.kill('SIGTERM');
    await once(daemon, 'exit');
    origin.kill();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Peak in each step, until the job is completed. */
async function watch(daemon: ChildProcess, job: string): Promise<number[]> {
  const peaks = STEPS.map(() => 0);
  const deadline = Date.now() + JOB_MS_MAX;
  while (Date.now() < deadline) {
    const { status, progress, pageCount } = await ask(job);
    const step = STEPS.findIndex(({ until }) => progress <= until);
    peaks[step] = Math.max(peaks[step] ?? 0, residentMb(daemon));
    if (status === 'failed') throw new Error('the export failed');
    if (status !== 'completed') {
      await sleep(LOOK_EVERY_MS);
      continue;
    }
    if (pageCount < PAGES) throw new Error(`${pageCount} pages of ${PAGES} were exported`);
    return peaks;
  }
  throw new Error('the export does not end');
}

/** Starts the job as soon as the daemon responds. */
async function startJob(jobs: string): Promise<Job> {
  const deadline = Date.now() + READY_MS_MAX;
  while (Date.now() < deadline) {
    const job = await ask(jobs, { domain: 'site' }).catch(() => null);
    if (job !== null) return job;
    await sleep(LOOK_EVERY_MS);
  }
  throw new Error('the daemon does not answer');
}

async function ask(url: string, body?: object): Promise<Job> {
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Job;
}

/** Units of 10^6 bytes. proc(5) has units of 1,024 bytes. */
function residentMb({ pid }: ChildProcess): number {
  const [, kib] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (Number(kib) * 1024) / 1e6;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const configText = (apiPort: number, originPort: string) => `deployment: { domain: bench }
server: { host: 127.0.0.1, port: 0 }
admin: { port: 0 }
api: { port: ${apiPort} }
search: { model: off }
exportApi: { enabled: true, browser: { verify: off } }
organizations:
  - id: bench
    plan: enterprise
    domains:
      site: { source: { kind: crawl, url: "http://127.0.0.1:${originPort}/", allowAddresses: [127.0.0.0/8] } }
    keys: [{ id: bench, type: admin, sha256: ${sha256(KEY)} }]
log: { access: false }
`;
