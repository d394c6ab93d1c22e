import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { packTarGz } from '../../src/archive/index.ts';
import type { Document } from './test-set.ts';

const PROGRAM = join(import.meta.dirname, '../../dist/main.js');
const KEY = 'svc_dsc_benchmark';
const DOMAIN = 'bench';
/** 10,000 sections at 25 a second and core, with room. */
const READY_MS_MAX = 30 * 60_000;

export interface Hit {
  readonly id: string;
  readonly score: number;
}

/** docshelf as its users have it: the built program, a bundle with a page for each document, the search endpoint. */
export interface HttpSearcher {
  search(query: string, limit: number): Promise<Hit[]>;
  close(): Promise<void>;
}

export async function serveDocuments(
  documents: Iterable<Document>,
  { model }: { readonly model: 'builtin' | 'off' },
): Promise<HttpSearcher> {
  const folder = mkdtempSync(join(tmpdir(), 'docshelf-bench-'));
  const ids: string[] = [];
  const files: { path: string; bytes: Uint8Array }[] = [];
  for (const { id, title, text } of documents) {
    files.push({ path: `${ids.length}.html`, bytes: Buffer.from(pageOf(title, text)) });
    ids.push(id);
  }
  await packTarGz({ files, to: join(folder, 'bench-export-2026-01-01.tar.gz') });
  const config = {
    deployment: { domain: DOMAIN },
    staticExport: { enabled: true, preload: folder },
    server: { host: '127.0.0.1', port: 0 },
    admin: { port: 0 },
    api: { port: 0 },
    storage: { dir: join(folder, 'data') },
    search: { model, keys: [{ id: 'bench', sha256: createHash('sha256').update(KEY).digest('hex') }] },
    log: { access: false },
  };
  // JSON is YAML.
  writeFileSync(join(folder, 'config.yaml'), JSON.stringify(config));
  const daemon = spawn(process.execPath, [PROGRAM, 'serve', '--config', join(folder, 'config.yaml')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let log = '';
  daemon.stdout.on('data', (chunk) => {
    log += chunk;
  });
  const close = async (): Promise<void> => {
    daemon.kill('SIGTERM');
    await once(daemon, 'exit');
    rmSync(folder, { recursive: true });
  };
  const urlOf = (name: string): string => new RegExp(`${name} on (http[^",\\s]+)`).exec(log)?.[1] ?? '';
  await until(async () => urlOf('api') !== '');
  await until(async () => {
    const { search } = (await (await fetch(`${urlOf('admin')}/v1/status`)).json()) as {
      search: { keyword: string; semantic: string };
    };
    return search.keyword === 'ready' && search.semantic === (model === 'off' ? 'off' : 'ready');
  });
  const endpoint = `${urlOf('api')}/v1/search/${DOMAIN}`;
  return {
    async search(query, limit) {
      const response = await fetch(endpoint, {
        method: 'POST',
        headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({ query: query.slice(0, 1000), pageSize: limit }),
      });
      if (!response.ok) throw new Error(`the endpoint answered ${response.status}: ${await response.text()}`);
      const results = (await response.json()) as { path: string; metadata: { score: number } }[];
      return results.map(({ path, metadata }) => ({
        id: ids[Number(/\d+/.exec(path)?.[0])] ?? path,
        score: metadata.score,
      }));
    },
    close,
  };
}

function pageOf(title: string, text: string): string {
  const escaped = (raw: string) => raw.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<!doctype html><html lang="en"><title>${escaped(title)}</title><main><h1>${escaped(title)}</h1><pre>${escaped(text)}</pre></main></html>`;
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + READY_MS_MAX;
  while (!(await isSo().catch(() => false))) {
    if (Date.now() > deadline) throw new Error('docshelf does not become ready');
    await sleep(200);
  }
}
