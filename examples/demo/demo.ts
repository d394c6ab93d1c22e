import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * `npm run demo`: the whole loop with the built program. A daemon exports docshelf's manual by its own API as two versions,
 * takes both bundles in and serves one; then it says how to switch, search and export again. Everything lies in `.demo/`;
 * running it again, also after a kill, starts it anew.
 */

const ROOT = join(import.meta.dirname, '../..');
const DEMO = join(ROOT, '.demo');
const PROGRAM = join(ROOT, 'dist/main.js');
const CONFIG = join(DEMO, 'config.yaml');
const RUN = join(DEMO, 'run.json');
const API_KEY_FILE = join(DEMO, 'api-key');
/** What is exported: a copy of the manual's sources, to be edited at will. */
const MANUAL = join(DEMO, 'manual');
const DOMAIN = 'docshelf';
const NEWER = '2026-11-01';
/** Its docs.json gives each version a hue of its own, so that the switch shows. */
const OLDER = '2026-10-01';
/** Starting takes under a second; a slow machine gets a wide margin. */
const READY_TIMEOUT_MS = 30_000;
/** The daemon's own deadline for requests in flight is shorter. */
const STOP_TIMEOUT_MS = 15_000;
/** The first export makes a vector of every passage: some seconds, on a slow machine a minute. */
const EXPORT_TIMEOUT = '10m';
/** One answer of a daemon on this machine. */
const ANSWER_TIMEOUT_MS = 5_000;

interface Run {
  readonly pid: number;
  readonly site: string;
  readonly admin: string;
  readonly api: string;
  readonly token: string;
}

async function main(): Promise<void> {
  mkdirSync(DEMO, { recursive: true });
  await stopFormerRun();
  // Only what is derived stays: vectors of passages that are the same need not be made again.
  for (const folder of ['releases', 'versions', 'active', 'exports']) {
    rmSync(join(DEMO, 'data', folder), { recursive: true, force: true });
  }
  rmSync(MANUAL, { recursive: true, force: true });
  cpSync(join(ROOT, 'docs'), MANUAL, { recursive: true });
  const apiKey = `svc_${randomBytes(32).toString('base64url')}`;
  writeFileSync(API_KEY_FILE, apiKey, { mode: 0o600 });

  const sitePort = await freePort(8080);
  const adminPort = await freePort(Math.max(9090, sitePort + 1));
  const apiPort = await freePort(Math.max(8081, sitePort + 1), [adminPort]);
  const ports = { site: sitePort, admin: adminPort, api: apiPort };
  const token = randomBytes(24).toString('base64url');
  const writeConfig = (version: string | null) =>
    writeFileSync(CONFIG, configText(ports, token, apiKey, version), { mode: 0o600 });
  writeConfig(null);

  const daemon = spawn(process.execPath, [PROGRAM, 'serve', '--config', CONFIG], {
    stdio: 'inherit',
    // A group of its own: Ctrl-C reaches this process alone, which then ends the daemon in order.
    detached: true,
  });
  const ended = once(daemon, 'exit');
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => daemon.kill('SIGTERM'));
  const run = {
    pid: daemon.pid ?? 0,
    site: `http://127.0.0.1:${sitePort}/`,
    admin: `http://127.0.0.1:${adminPort}/`,
    api: `http://127.0.0.1:${apiPort}`,
    token,
  };
  writeFileSync(RUN, JSON.stringify(run), { mode: 0o600 });
  if (await makeSite(daemon, run, writeConfig)) printHints(run);
  const [code] = await ended;
  process.exitCode = typeof code === 'number' ? code : 1;
}

/** The loop: export -> bundle -> swap, twice; then the newer one is pinned. False where it did not come that far. */
async function makeSite(daemon: ChildProcess, run: Run, writeConfig: (version: string) => void): Promise<boolean> {
  if (!(await answers(daemon, new URL('livez', run.admin)))) return false;
  for (const version of [OLDER, NEWER]) {
    console.log(`docshelf: exporting the manual as version ${version}, and taking the bundle in`);
    if (!(await exportManual(run, version))) {
      daemon.kill('SIGTERM');
      return false;
    }
  }
  writeConfig(NEWER);
  return answers(daemon, new URL('readyz', run.admin));
}

async function exportManual(run: Run, version: string): Promise<boolean> {
  const args = ['export', 'pull', '--config', CONFIG, '--api-url', run.api, '--key-file', API_KEY_FILE];
  args.push('--domain', DOMAIN, '--version', version, '--timeout', EXPORT_TIMEOUT, '--into');
  const pull = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(pull, 'exit');
  return code === 0;
}

/** Ends the daemon that a killed demo left behind. That it is ours, and not another process with its number, its token proves. */
async function stopFormerRun(): Promise<void> {
  const run = readRun();
  if (run === null || !(await isOurs(run))) return;
  process.kill(run.pid, 'SIGTERM');
  const deadline = Date.now() + STOP_TIMEOUT_MS;
  while (isAlive(run.pid)) {
    if (Date.now() > deadline)
      throw new Error(`Cannot start the demo: the former one (process ${run.pid}) does not end`);
    await sleep(100);
  }
}

/** What the last demo noted of itself, or null where there was none or it was cut off while writing. */
function readRun(): Run | null {
  try {
    return JSON.parse(readFileSync(RUN, 'utf8'));
  } catch {
    return null;
  }
}

async function isOurs(run: Run): Promise<boolean> {
  const answer = await fetch(new URL('v1/reload', run.admin), {
    method: 'POST',
    headers: { authorization: `Bearer ${run.token}` },
    signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
  }).catch(() => null);
  return answer?.ok === true;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** The first free port from `first` on, none of those that are promised already. */
async function freePort(first: number, promised: readonly number[] = []): Promise<number> {
  for (let port = first; port < first + 100; port++) {
    if (promised.includes(port)) continue;
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch {
      continue;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
  throw new Error(`Cannot start the demo: ports ${first} to ${first + 99} are all taken`);
}

const configText = (
  ports: { readonly site: number; readonly admin: number; readonly api: number },
  token: string,
  apiKey: string,
  version: string | null,
) => `# Written by npm run demo, anew at each start.
deployment:
  type: client-hosted
  domain: ${DOMAIN}
staticExport:
  enabled: true
  # The version that is served: "${OLDER}" or "${NEWER}". Save, and it is switched.
  ${version === null ? '# ' : ''}version: "${version ?? NEWER}"
server:
  host: 127.0.0.1
  port: ${ports.site}
admin:
  host: 127.0.0.1
  port: ${ports.admin}
  token: "${token}"
api:
  host: 127.0.0.1
  port: ${ports.api}
exportApi:
  enabled: true
organizations:
  - id: demo
    plan: enterprise
    domains: { ${DOMAIN}: { source: { kind: markdown, path: ./manual } } }
    keys: [{ id: demo, type: admin, sha256: ${createHash('sha256').update(apiKey).digest('hex')} }]
storage:
  dir: ./data
log:
  level: ${version === null ? 'fatal' : 'warn'}
`;

/** Waits until a probe of the daemon says yes; false where the daemon ended instead, having said why. */
async function answers(daemon: ChildProcess, probe: URL): Promise<boolean> {
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (Date.now() < deadline && daemon.exitCode === null && daemon.signalCode === null) {
    const answer = await fetch(probe, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) }).catch(() => null);
    if (answer?.ok === true) return true;
    await sleep(50);
  }
  daemon.kill('SIGTERM');
  return false;
}

function printHints(run: Run): void {
  const config = relative(process.cwd(), CONFIG);
  console.log(`
  Site    ${run.site}
  Admin   ${run.admin}
  API     ${run.api}/docs

  The site is version ${NEWER} of docshelf's own manual, exported from Markdown by the API a moment ago.

  Switch to ${OLDER}: change staticExport.version in ${config}; it is picked up by itself. In another terminal:

    sed -i.bak 's/^  version: .*/  version: "${OLDER}"/' ${config}

  Search it, here and in the browser (words and meaning; no network is asked):

    npm run -s docshelf -- search "which version do readers get after a restart" --config ${config}
    ${run.site}_docshelf/search?q=air+gap

  Change a page in ${relative(process.cwd(), MANUAL)}/, export it as a version of its own, and look at it:

    npm run -s docshelf -- export pull --config ${config} --api-url ${run.api} \\
      --key-file ${relative(process.cwd(), API_KEY_FILE)} --domain ${DOMAIN} --version mine --into
    sed -i.bak 's/^  version: .*/  version: "mine"/' ${config}

  Ctrl-C ends the demo.
`);
}

await main();
