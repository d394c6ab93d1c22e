import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onFileEnd } from './file-end.ts';

/** Lower than ephemeral ports (RFC 6335: from 49152, Linux: from 32768), so that the system assigns none of them. */
const FROM = 20_000;
const TO = 32_000;
const TRIES_MAX = 100;

/** Unused loopback ports, for tests that must know the port before a server listens. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  for (let tries = 0; ports.size < count; tries += 1) {
    if (tries > TRIES_MAX) throw new Error(`no port between ${FROM} and ${TO} is free`);
    const port = randomInt(FROM, TO);
    if ((await reserve(port)) && (await isFree(port))) ports.add(port);
  }
  return [...ports];
}

export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

/** Reserves the port until the end of the test file. False if another suite has reserved it: suites run at the same time. */
async function reserve(port: number): Promise<boolean> {
  const file = join(tmpdir(), `docshelf-port-${port}`);
  try {
    await writeFile(file, '', { flag: 'wx' });
  } catch {
    return false;
  }
  onFileEnd(() => rm(file, { force: true }));
  return true;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
