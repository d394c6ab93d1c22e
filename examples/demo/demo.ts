import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { packTarGz } from '../../src/archive/index.ts';
import { mediaTypeOf } from '../../src/web/index.ts';
import { renderManual } from './render.ts';

/**
 * `npm run demo`: packs docshelf's manual as two versions, imports both with the built program, serves one, and says how to
 * switch. Everything lies in `.demo/`; running it again, also after a kill, starts it anew.
 */

const ROOT = join(import.meta.dirname, '../..');
const DEMO = join(ROOT, '.demo');
const PROGRAM = join(ROOT, 'dist/main.js');
const CONFIG = join(DEMO, 'config.yaml');
const RUN = join(DEMO, 'run.json');
const DOMAIN = 'docshelf';
const NEWER = '2026-11-01';
const OLDER = '2026-10-01';
/** Each version has a hue of its own, so that the switch shows. */
const HUES = { [OLDER]: 45, [NEWER]: 165 };
/** Starting takes under a second; a slow machine gets a wide margin. */
const READY_TIMEOUT_MS = 30_000;
/** The daemon's own deadline for requests in flight is shorter. */
const STOP_TIMEOUT_MS = 15_000;
/** One answer of a daemon on this machine. */
const ANSWER_TIMEOUT_MS = 5_000;

interface Run {
  readonly pid: number;
  readonly site: string;
  readonly admin: string;
  readonly token: string;
}

async function main(): Promise<void> {
  mkdirSync(DEMO, { recursive: true });
  await stopFormerRun();
  const archives = await packVersions();
  const sitePort = await freePort(8080);
  const adminPort = await freePort(Math.max(9090, sitePort + 1));
  const token = randomBytes(24).toString('base64url');
  const apiPort = await freePort(Math.max(8081, sitePort + 1), [adminPort]);
  writeFileSync(CONFIG, configText(sitePort, adminPort, apiPort, token), { mode: 0o600 });
  for (const [version, archive] of archives) importBundle(archive, version);

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
    token,
  };
  writeFileSync(RUN, JSON.stringify(run), { mode: 0o600 });
  if (await becomesReady(daemon, run)) printHints(run);
  const [code] = await ended;
  process.exitCode = typeof code === 'number' ? code : 1;
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

/** Both versions of the manual as archives. The same manual gives the same bytes, so importing them again changes nothing. */
async function packVersions(): Promise<[version: string, archive: string][]> {
  const packed: [string, string][] = [];
  for (const version of [OLDER, NEWER] as const) {
    const files = await renderManual({ docsDir: join(ROOT, 'docs'), version, domain: DOMAIN, hue: HUES[version] });
    const to = join(DEMO, `${DOMAIN}-export-${version}.tar.gz`);
    rmSync(to, { force: true });
    await packTarGz({
      files: Array.from(files, ([path, bytes]) => ({ path, bytes })),
      to,
      manifest: {
        domain: DOMAIN,
        version,
        createdAt: `${version}T00:00:00.000Z`,
        generator: 'docshelf demo',
        typeOf: (path) => mediaTypeOf(path),
      },
    });
    packed.push([version, to]);
  }
  return packed;
}

function importBundle(archive: string, version: string): void {
  const args = [PROGRAM, 'bundle', 'import', archive, '--version', version, '--config', CONFIG];
  execFileSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
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
  sitePort: number,
  adminPort: number,
  apiPort: number,
  token: string,
) => `# Written by npm run demo, anew at each start.
deployment:
  type: client-hosted
  domain: ${DOMAIN}
staticExport:
  enabled: true
  # The version that is served: "${OLDER}" or "${NEWER}". Save, and it is switched.
  version: "${NEWER}"
server:
  host: 127.0.0.1
  port: ${sitePort}
admin:
  host: 127.0.0.1
  port: ${adminPort}
  token: "${token}"
api:
  host: 127.0.0.1
  port: ${apiPort}
storage:
  dir: ./data
log:
  level: warn
`;

/** Waits until the daemon serves; false where it ended instead, having said why. */
async function becomesReady(daemon: ChildProcess, run: Run): Promise<boolean> {
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (Date.now() < deadline && daemon.exitCode === null && daemon.signalCode === null) {
    const answer = await fetch(new URL('readyz', run.admin), { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) }).catch(
      () => null,
    );
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

  The site is version ${NEWER} of docshelf's own manual. To switch to ${OLDER}, change
  staticExport.version in ${config}; it is picked up by itself. In another terminal:

    sed -i.bak 's/^  version: .*/  version: "${OLDER}"/' ${config}

  To search it, here and in the browser (words and meaning; no network is asked):

    npm run -s docshelf -- search "which version do readers get after a restart" --config ${config}
    ${run.site}_docshelf/search?q=air+gap

  Ctrl-C ends the demo.
`);
}

await main();
