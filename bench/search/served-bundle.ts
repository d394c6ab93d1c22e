import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';

const PROGRAM = join(import.meta.dirname, '../../dist/main.js');
const KEY = 'svc_dsc_benchmark';
const DOMAIN = 'bench';
/** Maximum time until ready. 10,000 sections take 400 s per core with the model, and up to a million are indexed. */
const READY_MS_MAX = 120 * 60_000;
const CONNECTIONS = 8;

export interface Found {
  readonly path: string;
  readonly score: number;
}

/** The built program with one bundle, searched through the endpoint. */
export interface ServedBundle {
  search(query: string, limit: number): Promise<Found[]>;
  readonly pid: number;
  /** Restricts the daemon to these cores. False if that is impossible. */
  pinTo(cores: string): boolean;
  close(): Promise<void>;
}

interface Serving {
  readonly model: 'builtin' | 'off';
  /** `search.memory`. Undefined uses the default. */
  readonly memory?: string;
  onStart?(pid: number): void;
}

export const ARCHIVE = 'bench-export-2026-01-01.tar.gz';

/** @param pack writes the archive to the path */
export async function serveBundle(pack: (to: string) => Promise<unknown>, serving: Serving): Promise<ServedBundle> {
  const folder = mkdtempSync(join(tmpdir(), 'docshelf-bench-'));
  await pack(join(folder, ARCHIVE));
  const served = await serveFolder(folder, serving);
  return {
    ...served,
    async close() {
      await served.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Serves the archive in a folder, which also gets the data folder and stays. */
export async function serveFolder(folder: string, { model, memory, onStart }: Serving): Promise<ServedBundle> {
  const key = { id: 'bench', sha256: createHash('sha256').update(KEY).digest('hex') };
  const config = {
    deployment: { domain: DOMAIN },
    staticExport: { enabled: true, preload: folder },
    server: { host: '127.0.0.1', port: 0 },
    admin: { port: 0 },
    api: { port: 0 },
    storage: { dir: join(folder, 'data') },
    search: { model, ...(memory === undefined ? {} : { memory }), keys: [key] },
    log: { access: false },
  };
  // JSON is YAML.
  writeFileSync(join(folder, 'config.yaml'), JSON.stringify(config));
  const daemon = spawn(process.execPath, [PROGRAM, 'serve', '--config', join(folder, 'config.yaml')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onStart?.(daemon.pid ?? 0);
  let log = '';
  daemon.stdout.on('data', (chunk) => {
    log += chunk;
  });
  const urlOf = (name: string): string => new RegExp(`${name} on (http[^",\\s]+)`).exec(log)?.[1] ?? '';
  await until(async () => urlOf('api') !== '');
  await until(async () => {
    const { search } = (await (await fetch(`${urlOf('admin')}/v1/status`)).json()) as {
      search: { keyword: string; semantic: string };
    };
    return search.keyword === 'ready' && search.semantic === (model === 'off' ? 'off' : 'ready');
  });
  const pool = new Pool(urlOf('api'), { connections: CONNECTIONS });
  return {
    async search(query, limit) {
      const { statusCode, body } = await pool.request({
        method: 'POST',
        path: `/v1/search/${DOMAIN}`,
        headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({ query: query.slice(0, 1000), pageSize: limit }),
      });
      const text = await body.text();
      if (statusCode !== 200) throw new Error(`the endpoint answered ${statusCode}: ${text}`);
      const results = JSON.parse(text) as { path: string; metadata: { score: number } }[];
      return results.map(({ path, metadata }) => ({ path, score: metadata.score }));
    },
    pid: daemon.pid ?? 0,
    pinTo: (cores) => pin(daemon.pid ?? 0, cores),
    async close() {
      await pool.close();
      daemon.kill('SIGTERM');
      await once(daemon, 'exit');
    },
  };
}

/** Restricts a process with its threads to some cores (`0-1`), if the tool is installed. */
export function pin(pid: number, cores: string): boolean {
  try {
    execFileSync('taskset', ['--all-tasks', '--pid', '--cpu-list', cores, String(pid)], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + READY_MS_MAX;
  while (!(await isSo().catch(() => false))) {
    if (Date.now() > deadline) throw new Error('docshelf does not become ready');
    await sleep(200);
  }
}
