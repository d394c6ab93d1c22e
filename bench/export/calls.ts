import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../test/helpers/free-ports.ts';
import { writePages } from './pages.ts';

const PAGES = 2_000;
/** Sequential calls of each kind with pauses, because pipelines poll and do not flood. */
const CALLS = 300;
const PAUSE_MS = 20;
/** Aim of each call while an export runs. */
const P99_MS_MAX = 20;
const READY_MS_MAX = 20_000;
const JOB_MS_MAX = 300_000;

const PROGRAM = new URL('../../dist/main.js', import.meta.url).pathname;
const KEY = 'svc_bench';
const OTHER_KEY = 'svc_other';

/** Start, status and bundle calls of the built daemon, idle and while it exports sites with search data, one after another. */
export async function benchCalls(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'docshelf-bench-calls-'));
  const port = await freePort();
  mkdirSync(join(dir, 'site'));
  writePages(join(dir, 'site'), PAGES);
  mkdirSync(join(dir, 'small'));
  writePages(join(dir, 'small'), 5);
  writeFileSync(join(dir, 'config.yaml'), configText(port));
  const daemon = spawn(process.execPath, [PROGRAM, 'serve', '--config', join(dir, 'config.yaml')], { stdio: 'ignore' });
  try {
    const jobs = `http://127.0.0.1:${port}/v1/static-export/jobs`;
    const [call, callOther] = [caller(jobs, KEY), caller(jobs, OTHER_KEY)];
    await untilUp(port);
    const small = await call('POST', '', { domain: 'small' });
    await untilEnded(call, small.jobId);

    console.log(`\n## Calls of the export API: ${CALLS} of each kind, ms\n`);
    console.log('| | start p50 / p99 | status p50 / p99 | bundle p50 / p99 |\n|---|---|---|---|');
    await measure('idle', call, small.jobId);
    const big = await callOther('POST', '', { domain: 'big' });
    await measure(`while ${PAGES} pages are exported`, call, small.jobId);
    const { status } = await callOther('GET', `/${big.jobId}`);
    console.log(`\nAim while an export is running: p99 under ${P99_MS_MAX} ms. The export was ${status} at the end.`);
  } finally {
    daemon.kill('SIGTERM');
    await once(daemon, 'exit');
    rmSync(dir, { recursive: true, force: true });
  }
}

type Call = (method: string, path: string, body?: object) => Promise<{ jobId: string; status: string }>;

function caller(base: string, key: string): Call {
  return async (method, path, body) => {
    const response = await fetch(base + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as { jobId: string; status: string };
  };
}

async function measure(name: string, call: Call, jobId: string): Promise<void> {
  const kinds: readonly (() => Promise<unknown>)[] = [
    () => call('POST', '', { domain: 'waiting' }),
    () => call('GET', `/${jobId}`),
    () => call('POST', `/${jobId}/bundle`),
  ];
  const times: number[][] = kinds.map(() => []);
  for (let round = 0; round < CALLS; round += 1) {
    for (const [kind, run] of kinds.entries()) {
      const startedMs = performance.now();
      await run();
      times[kind]?.push(performance.now() - startedMs);
      await sleep(PAUSE_MS);
    }
  }
  const cells = times.map((each) => `${quantile(each, 0.5).toFixed(1)} / ${quantile(each, 0.99).toFixed(1)}`);
  console.log(`| ${name} | ${cells.join(' | ')} |`);
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

async function untilUp(port: number): Promise<void> {
  const deadline = Date.now() + READY_MS_MAX;
  while (Date.now() < deadline) {
    const isUp = await fetch(`http://127.0.0.1:${port}/openapi.json`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return;
    await sleep(50);
  }
  throw new Error('the daemon does not answer');
}

async function untilEnded(call: Call, jobId: string): Promise<void> {
  const deadline = Date.now() + JOB_MS_MAX;
  while (Date.now() < deadline) {
    const { status } = await call('GET', `/${jobId}`);
    if (status === 'completed') return;
    if (status === 'failed') throw new Error('the export failed');
    await sleep(200);
  }
  throw new Error('the export does not end');
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** `waiting` has no folder: its jobs fail at once, in turns with the measured export of another organization. */
const configText = (port: number) => `deployment: { domain: bench }
server: { host: 127.0.0.1, port: 0 }
admin: { port: 0 }
api: { port: ${port} }
exportApi: { enabled: true, concurrency: 2, queuedMax: 10000 }
organizations:
  - id: bench
    plan: enterprise
    domains:
      small: { source: { kind: folder, path: ./small } }
      waiting: { source: { kind: folder, path: ./none } }
    keys: [{ id: bench, type: admin, sha256: ${sha256(KEY)} }]
  - id: other
    plan: enterprise
    domains: { big: { source: { kind: folder, path: ./site } } }
    keys: [{ id: other, type: admin, sha256: ${sha256(OTHER_KEY)} }]
log: { access: false }
`;
