import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, relative, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * `npm run demo [FOLDER]` shows all functions of the built program. One daemon exports two sites by its own API, serves and
 * searches them: a handbook, served from its export without a bundle in between, and docshelf's manual, as two bundles of which
 * one is pinned and the other stays readable. Then it prints commands to search, switch, and export again. All files are in
 * `.demo/`, or in FOLDER. Another run, also after a kill, starts again from the beginning.
 */

const ROOT = join(import.meta.dirname, '../..');
const DEMO = resolve(process.argv[2] ?? join(ROOT, '.demo'));
const PROGRAM = join(ROOT, 'dist/main.js');
const CONFIG = join(DEMO, 'config.yaml');
const RUN = join(DEMO, 'run.json');
const API_KEY_FILE = join(DEMO, 'api-key');
/** Sources by domain. The demo copies them, so that you can edit the copies. */
const SOURCES = { handbook: join(import.meta.dirname, 'handbook'), manual: join(ROOT, 'docs') };
const NEWER = '2026-11-01';
/** Its docs.json gives each version a different color, so that the switch is visible. */
const OLDER = '2026-10-01';
/** A start takes less than a second, and the first export a few seconds. A slow machine needs more. */
const READY_TIMEOUT_MS = 120_000;
/** Longer than the daemon's deadline for open requests. */
const STOP_TIMEOUT_MS = 15_000;
/** The first export computes a vector for every passage, which takes a minute on a slow machine. */
const EXPORT_TIMEOUT = '10m';
/** Limit for one response of a daemon on this machine. */
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
  // Keep derived data only: it contains vectors, which are slow to compute.
  for (const folder of ['releases', 'sites', 'exports']) {
    rmSync(join(DEMO, 'data', folder), { recursive: true, force: true });
  }
  for (const [domain, source] of Object.entries(SOURCES)) {
    rmSync(join(DEMO, domain), { recursive: true, force: true });
    cpSync(source, join(DEMO, domain), { recursive: true });
  }
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
    // In a separate process group, Ctrl-C reaches only this process, which then stops the daemon.
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
  if (await makeSites(daemon, run, writeConfig)) printHints(run);
  const [code] = await ended;
  process.exitCode = typeof code === 'number' ? code : 1;
}

/** Exports the handbook, then the manual twice, and pins the newer version. Returns false after a failure. */
async function makeSites(daemon: ChildProcess, run: Run, writeConfig: (version: string) => void): Promise<boolean> {
  if (!(await answers(daemon, new URL('livez', run.admin)))) return false;
  console.log(`docshelf: serving ${run.site}; exporting the first site, a handbook`);
  await docshelf('export', 'start', ...exportArguments(run), '--domain', 'handbook');
  if (!(await answers(daemon, new URL('handbook/', run.site)))) return false;
  for (const version of [OLDER, NEWER]) {
    console.log(`docshelf: exporting the manual as version ${version}, and importing the bundle`);
    const args = [
      '--site',
      'manual',
      '--domain',
      'manual',
      '--version',
      version,
      '--timeout',
      EXPORT_TIMEOUT,
      '--into',
    ];
    if (!(await docshelf('export', 'pull', ...exportArguments(run), ...args))) {
      daemon.kill('SIGTERM');
      return false;
    }
  }
  writeConfig(NEWER);
  return answers(daemon, new URL('manual/', run.site));
}

const exportArguments = (run: Run): string[] => ['--config', CONFIG, '--api-url', run.api, '--key-file', API_KEY_FILE];

/** Returns false if the command failed. The command has printed the reason. */
async function docshelf(...args: string[]): Promise<boolean> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(child, 'exit');
  return code === 0;
}

/** Ends the daemon of a killed demo. Its token proves that the process is not another one with the same id. */
async function stopFormerRun(): Promise<void> {
  const run = readRun();
  if (run === null || !(await isOurs(run))) return;
  process.kill(run.pid, 'SIGTERM');
  const deadline = Date.now() + STOP_TIMEOUT_MS;
  while (isAlive(run.pid)) {
    if (Date.now() > deadline)
      throw new Error(`Cannot start the demo: the previous demo (process ${run.pid}) does not end`);
    await sleep(100);
  }
}

/** State of the previous demo. Null if there was no demo, or if the file is incomplete. */
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

/** First free port from `first` on, except the promised ports. */
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
  throw new Error(`Cannot start the demo: all ports from ${first} to ${first + 99} are in use`);
}

const configText = (
  ports: { readonly site: number; readonly admin: number; readonly api: number },
  token: string,
  apiKey: string,
  version: string | null,
) => `# npm run demo writes this file at each start.
deployment:
  type: client-hosted
sites:
  - domain: handbook
    basePath: /handbook/
    # Serves the newest completed export.
    staticExport: { enabled: true, from: exports }
  - domain: manual
    basePath: /manual/
    # Adds a version switcher to pages. The older version stays readable.
    versionSwitcher: true
    staticExport:
      enabled: true
      serveVersions: kept
      # Version to serve: "${OLDER}" or "${NEWER}". docshelf switches when you save the file.
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
    domains:
      handbook: { source: { kind: markdown, path: ./handbook } }
      manual: { source: { kind: markdown, path: ./manual } }
    keys: [{ id: demo, type: admin, sha256: ${createHash('sha256').update(apiKey).digest('hex')} }]
storage:
  dir: ./data
search:
  # Adds a search box to every page.
  widget: true
log:
  level: ${version === null ? 'fatal' : 'warn'}
`;

/** Waits until the probe responds with success. Returns false if the daemon ended, which prints the reason. */
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
  // npm runs this file in the checkout, but the reader pastes the commands in the folder where npm was called.
  const here = (path: string): string => relative(process.env.INIT_CWD ?? process.cwd(), path);
  const config = here(CONFIG);
  const exporting = `--config ${config} --api-url ${run.api} --key-file ${here(API_KEY_FILE)}`;
  const pin = (version: string): string => `sed -i.bak 's/^      version: .*/      version: "${version}"/' ${config}`;
  console.log(`
  Shelf      ${run.site}
  Handbook   ${run.site}handbook/
  Manual     ${run.site}manual/
  Console    ${run.admin}   admin token: ${run.token}
  API docs   ${run.api}/docs   admin key: in ${here(API_KEY_FILE)}

  The demo has exported two sites from Markdown: a handbook, and docshelf's manual as versions ${OLDER} and ${NEWER}.

  In a browser, open a page of either site:

  - Search by words and by meaning: press Ctrl-K (on a Mac, Command-K), or the button Search. No other machine is contacted.
  - Read the manual's older version: open the version switcher at the bottom of a page.

  Or run these commands in another terminal. List both sites, and search both:

    npm run -s docshelf -- sites --config ${config}
    npm run -s docshelf -- search "roll back to the version before" --config ${config}

  Switch the manual to ${OLDER}. The daemon notices the changed config:

    ${pin(OLDER)}

  Change a page in ${here(join(DEMO, 'handbook'))}/ and export it. The daemon serves the export when it is complete:

    npm run -s docshelf -- export start ${exporting} --domain handbook

  Change a page in ${here(join(DEMO, 'manual'))}/, export it as another version, and pin that version:

    npm run -s docshelf -- export pull ${exporting} \\
      --site manual --domain manual --version mine --into
    ${pin('mine')}

  Ctrl-C ends the demo.
`);
}

await main();
