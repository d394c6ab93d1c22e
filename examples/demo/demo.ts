import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, relative, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * `npm run demo [FOLDER]`: the whole loop with the built program. One daemon exports two sites by its own API, serves and
 * searches them: a handbook, served from its export without a bundle in between, and docshelf's manual, as two bundles of which
 * one is pinned and the other stays readable. Then it prints how to search, switch and export again. Everything lies in `.demo/` or the folder that is named;
 * running it again, also after a kill, starts it anew.
 */

const ROOT = join(import.meta.dirname, '../..');
const DEMO = resolve(process.argv[2] ?? join(ROOT, '.demo'));
const PROGRAM = join(ROOT, 'dist/main.js');
const CONFIG = join(DEMO, 'config.yaml');
const RUN = join(DEMO, 'run.json');
const API_KEY_FILE = join(DEMO, 'api-key');
/** By domain, what is exported: copies, to be edited at will. */
const SOURCES = { handbook: join(import.meta.dirname, 'handbook'), manual: join(ROOT, 'docs') };
const NEWER = '2026-11-01';
/** Its docs.json gives each version a hue of its own, so that the switch shows. */
const OLDER = '2026-10-01';
/** Starting takes under a second, the first export some; a slow machine gets a wide margin. */
const READY_TIMEOUT_MS = 120_000;
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
  if (await makeSites(daemon, run, writeConfig)) printHints(run);
  const [code] = await ended;
  process.exitCode = typeof code === 'number' ? code : 1;
}

/** The handbook, which is there in seconds; then the manual, twice, and the newer one is pinned. False where it did not come that far. */
async function makeSites(daemon: ChildProcess, run: Run, writeConfig: (version: string) => void): Promise<boolean> {
  if (!(await answers(daemon, new URL('livez', run.admin)))) return false;
  console.log(`docshelf: the shelf is open at ${run.site}; exporting its first site, a handbook`);
  await docshelf('export', 'start', ...exportArguments(run), '--domain', 'handbook');
  if (!(await answers(daemon, new URL('handbook/', run.site)))) return false;
  for (const version of [OLDER, NEWER]) {
    console.log(`docshelf: exporting the manual as version ${version}, and taking the bundle in`);
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

/** False where the command failed, and has said why. */
async function docshelf(...args: string[]): Promise<boolean> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(child, 'exit');
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
sites:
  - domain: handbook
    basePath: /handbook/
    # Its newest export, as soon as that is completed.
    staticExport: { enabled: true, from: exports }
  - domain: manual
    basePath: /manual/
    # Pages have a switcher: the older version stays readable.
    versionSwitcher: true
    staticExport:
      enabled: true
      serveVersions: kept
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
    domains:
      handbook: { source: { kind: markdown, path: ./handbook } }
      manual: { source: { kind: markdown, path: ./manual } }
    keys: [{ id: demo, type: admin, sha256: ${createHash('sha256').update(apiKey).digest('hex')} }]
storage:
  dir: ./data
search:
  # A search box on every page.
  widget: true
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
  // npm runs this in the checkout, but the commands are pasted where npm was called.
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
