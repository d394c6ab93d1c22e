import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

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
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
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
