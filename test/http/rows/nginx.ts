import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { onFileEnd } from '../../helpers/file-end.ts';
import { freePort } from '../../helpers/free-ports.ts';
import { newFolder } from '../../helpers/new-folder.ts';
import { waitFor } from '../../helpers/wait-for.ts';
import type { Files } from '../../site/helpers.ts';
import { CREATED_AT } from './row-site.ts';

export const hasNginx = spawnSync('nginx', ['-v']).status === 0;

/** Suffix for the name of a skipped suite. */
export const whyNoNginx = hasNginx ? '' : ' (skipped: nginx is not installed)';

/** Serves the files like docshelf, as far as its settings allow, until the test file ends. @returns its port */
export async function startNginx(files: Files): Promise<number> {
  const folder = newFolder();
  writeSite(join(folder, 'site'), files);
  const port = await freePort();
  writeFileSync(join(folder, 'nginx.conf'), configOf(folder, port));
  const child = spawn('nginx', ['-c', join(folder, 'nginx.conf'), '-p', folder], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  onFileEnd(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  await waitFor(
    async () => ((await isOpen(port)) ? true : null),
    () => `nginx does not listen on ${port}`,
  );
  return port;
}

function writeSite(root: string, files: Files): void {
  const date = new Date(CREATED_AT);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
    utimesSync(join(root, path), date, date);
  }
}

/** Runs as the current user. If root starts nginx, its workers use another user, who may not read the folder. */
function configOf(folder: string, port: number): string {
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  return `daemon off; master_process off; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
events { worker_connections 64; }
http {
  ${paths.join(' ')}
  access_log off; default_type application/octet-stream;
  types { text/html html htm; text/plain txt; text/css css; text/javascript js; }
  server {
    listen 127.0.0.1:${port}; root ${folder}/site; error_page 404 /404.html; absolute_redirect off;
    gzip on; gzip_vary on; gzip_http_version 1.0; gzip_min_length 1024; gzip_types text/plain;
    location / { try_files $uri $uri.html $uri/ =404; }
  }
}
`;
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const [isOpened] = await Promise.race([
    once(socket, 'connect').then(() => [true]),
    once(socket, 'close').then(() => [false]),
  ]).catch(() => [false]);
  socket.destroy();
  return isOpened === true;
}
