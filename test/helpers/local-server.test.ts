import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Answer, breakOffOnceStored, httpServer } from './local-server.ts';

const unhandled: unknown[] = [];
const onUnhandled = (reason: unknown): void => void unhandled.push(reason);
/** Removes vitest's own listeners for a while, because they would fail the run. */
let others: NodeJS.UnhandledRejectionListener[] = [];
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'docshelf-server-test-'));
  others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection').on('unhandledRejection', onUnhandled);
});

afterEach(async () => {
  process.removeAllListeners('unhandledRejection');
  for (const listener of others) process.on('unhandledRejection', listener);
  unhandled.splice(0);
  await rm(folder, { recursive: true, force: true });
});

/** Server whose responses end with `ended`, in order. */
async function serving(answer: Answer) {
  const ended: Promise<unknown>[] = [];
  const server = await httpServer((incoming, response) => {
    const answered = Promise.resolve(answer(incoming, response));
    ended.push(answered.catch(() => undefined));
    return answered;
  });
  return { server, ended };
}

/** Node reports an unhandled rejection after the microtasks of its turn. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

describe('httpServer() (test server)', () => {
  it('does not fail the test run if the client disconnects while the handler reads the request', async () => {
    const { server, ended } = await serving((incoming) => text(incoming));
    const socket = connect(Number(new URL(server.origin).port), '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf');
    while (ended.length === 0) await settled();
    socket.destroy();
    await ended[0];
    await settled();
    expect(unhandled).toEqual([]);
    await server.close();
  });

  it('fails the test run if the handler throws while the client waits', async () => {
    const { server } = await serving(async () => {
      throw new Error('the test is wrong');
    });
    const client = request(server.origin).on('error', () => undefined);
    client.end();
    while (unhandled.length === 0) await settled();
    expect(unhandled).toMatchObject([{ message: 'the test is wrong' }]);
    await server.close();
  });
});

describe('breakOffOnceStored() (test server that cuts off its response)', () => {
  it('ends without an error if the test has removed its folder', async () => {
    const { server, ended } = await serving((_, response) => {
      response.write('half');
      return breakOffOnceStored(response, 4, folder);
    });
    const client = request(server.origin).on('error', () => undefined);
    client.end();
    await once(client, 'response');
    await rm(folder, { recursive: true });
    await settled();
    await server.close();
    await ended[0];
    await settled();
    expect(unhandled).toEqual([]);
  });

  it('closes the connection when a file contains the sent bytes', async () => {
    const { server } = await serving((_, response) => {
      response.write('half');
      return breakOffOnceStored(response, 4, folder);
    });
    const response = await fetch(server.origin);
    await writeFile(join(folder, 'part'), 'half');
    await expect(response.text()).rejects.toThrow();
    await server.close();
  });
});
