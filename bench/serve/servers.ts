import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../test/helpers/free-ports.ts';
import { waitFor } from '../../test/helpers/wait-for.ts';

/** A server with its processes and address. */
export interface Server {
  readonly name: string;
  readonly origin: string;
  readonly process: ChildProcess;
}

export const SERVER_CORE = '0';
const START_MS_MAX = 120_000;
const PROGRAM = process.env.DOCSHELF_BENCH_PROGRAM ?? join(import.meta.dirname, '../../dist/main.js');

const PAGE = '/section-0/page-0.html';

/** Starts docshelf with its log in a file, like a service manager. */
export async function startDocshelf(
  name: string,
  folder: string,
  configFile: string,
  cores: string,
  page = PAGE,
): Promise<Server> {
  const log = join(folder, `${name}.log`);
  const child = spawn('taskset', ['-c', cores, process.execPath, PROGRAM, 'serve', '--config', configFile], {
    stdio: ['ignore', openSync(log, 'w'), 'inherit'],
  });
  const origin = await waitFor(
    () => /site on (http:[^\s,"]+)/.exec(readFileSync(log, 'utf8'))?.[1] ?? null,
    () => `${name} does not start: ${readFileSync(log, 'utf8')}`,
    START_MS_MAX,
  );
  return answering({ name, origin, process: child }, page);
}

/** @param asked targets with the request headers that prepare their responses */
export async function startBare(origin: string, asked: readonly (readonly [string, object])[]): Promise<Server> {
  const child = spawn(
    'taskset',
    ['-c', SERVER_CORE, process.execPath, join(import.meta.dirname, 'bare.ts'), origin, JSON.stringify(asked)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const port = await new Promise((resolve) => child.stdout.once('data', (data) => resolve(String(data).trim())));
  return { name: 'bare', origin: `http://127.0.0.1:${port}`, process: child };
}

/** Starts nginx with one process and compressed files. Null if it is not installed. */
export async function startNginx(folder: string, root: string): Promise<Server | null> {
  if (!isThere('nginx')) return null;
  const port = await freePort();
  const config = join(folder, 'nginx.conf');
  writeFileSync(
    config,
    `daemon off; master_process off; worker_processes 1; pid ${folder}/nginx.pid; error_log ${folder}/nginx-error.log;
events { worker_connections 1024; }
http { types { text/html html; } access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000;
client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi; uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
open_file_cache max=5000; server { listen 127.0.0.1:${port}; root ${root}; gzip_static on; gzip_vary on; } }`,
  );
  const child = spawn('taskset', ['-c', SERVER_CORE, 'nginx', '-c', config], {
    stdio: ['ignore', 'inherit', 'ignore'],
  });
  return answering({ name: 'nginx', origin: `http://127.0.0.1:${port}`, process: child });
}

export async function startCaddy(folder: string, root: string): Promise<Server | null> {
  if (!isThere('caddy')) return null;
  const port = await freePort();
  const config = join(folder, 'Caddyfile');
  writeFileSync(
    config,
    `{\n admin off\n auto_https off\n}\nhttp://127.0.0.1:${port} {\n root * ${root}\n file_server {\n precompressed gzip\n }\n}\n`,
  );
  const env = { ...process.env, GOMAXPROCS: '1', HOME: folder };
  const child = spawn('taskset', ['-c', SERVER_CORE, 'caddy', 'run', '--config', config], { stdio: 'ignore', env });
  return answering({ name: 'caddy', origin: `http://127.0.0.1:${port}`, process: child });
}

/** Waits until the server returns the first page. */
async function answering(server: Server, page = PAGE): Promise<Server> {
  await waitFor(
    async () => {
      const answer = await fetch(`${server.origin}${page}`).catch(() => null);
      return answer?.status === 200 ? server : null;
    },
    () => `${server.name} does not answer`,
    START_MS_MAX,
  );
  return server;
}

export function isThere(program: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
