import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onFileEnd } from './file-end.ts';
import { freePort } from './free-ports.ts';
import { waitFor } from './wait-for.ts';

export const HAS_NGINX = spawnSync('nginx', ['-v']).status === 0;

export interface RoundRobin {
  /** Origin without a slash at the end. */
  readonly origin: string;
  readonly pid: number;
  close(): Promise<void>;
}

/**
 * Starts nginx, which sends requests to the origins in turn and does not skip an origin after errors. @param elsewhere
 * conditions of nginx to try the next origin: `error`, `http_404` @param method balancing method of nginx, such as `least_conn`
 */
export async function startRoundRobin(
  origins: readonly string[],
  { elsewhere = 'off', method = '' } = {},
): Promise<RoundRobin> {
  const folder = await mkdtemp(join(tmpdir(), 'docshelf-nginx-'));
  const port = await freePort();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (of) => `${of}_temp_path ${folder}/${of};`,
  );
  const servers = origins.map((origin) => `server ${new URL(origin).host} max_fails=0;`);
  const upstream = [method === '' ? '' : `${method};`, ...servers, 'keepalive 128;'].join(' ');
  // Run nginx as the current user. If root starts it, its workers use another user, who may not read the folder.
  const config = `daemon off; master_process off; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
events { worker_connections 1024; }
http {
  ${temporary.join(' ')}
  access_log off;
  upstream replicas { ${upstream} }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://replicas; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host;
      proxy_next_upstream ${elsewhere};
    }
  }
}
`;
  await writeFile(join(folder, 'nginx.conf'), config);
  const child = spawn('nginx', ['-c', join(folder, 'nginx.conf'), '-p', folder], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const origin = `http://127.0.0.1:${port}`;
  await waitFor(
    async () => ((await fetch(origin).catch(() => null)) === null ? null : true),
    () => 'nginx does not answer',
  );
  const close = async (): Promise<void> => {
    child.kill('SIGTERM');
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  onFileEnd(close);
  return { origin, pid: child.pid ?? 0, close };
}
