import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { DaemonLine } from '../../src/net/daemon-request.ts';

it('keeps no request waiting for those that the daemon takes long to answer', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'docshelf-line-'));
  const slow: ServerResponse[] = [];
  const server = createServer(({ url }, response) => {
    if (url === '/slow') slow.push(response);
    else response.end('at once');
  });
  const socket = join(folder, 'socket');
  server.listen({ path: socket, backlog: 1000 });
  await once(server, 'listening');
  const line = new DaemonLine(socket);
  onTestFinished(async () => {
    line.close();
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true });
  });
  for (let at = 0; at < 300; at++) {
    const sent = line.request('GET', '/slow', ['Host', 'docs.test']);
    sent.on('error', () => undefined).end();
  }
  const quick = line.request('GET', '/quick', ['Host', 'docs.test']).end();
  const [answer] = await once(quick, 'response');
  answer.resume();
  expect(answer.statusCode).toBe(200);
});
