import { createHash, randomBytes } from 'node:crypto';
import { truncateSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { DocshelfError } from '../../../src/domain/errors.ts';
import type { Listener } from '../../../src/http/listener/listener.ts';
import { FilePart, fileResponse } from '../../../src/site/site-bytes.ts';
import { newFolder } from '../../helpers/new-folder.ts';
import { openFiles } from '../../helpers/open-files.ts';
import { listenerBench } from './listener-bench.ts';

const { open, connectTo } = listenerBench();

const digestOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** Listener that responds with a file of these bytes. It calls `before` before sending. */
async function serving(bytes: Buffer, before: (file: string) => void = () => undefined) {
  const file = join(newFolder(), 'file');
  writeFileSync(file, bytes);
  const faults: DocshelfError[] = [];
  const listener = await open({
    fetch: async () => {
      const onDisk = { diskPath: file, size: bytes.length };
      const part = await FilePart.open(onDisk, {
        start: 100,
        end: bytes.length,
        onFault: (fault) => faults.push(fault),
      });
      before(file);
      return fileResponse(part, { headers: { 'Content-Length': String(bytes.length - 100), 'X-Own': 'yes' } });
    },
  });
  const isOpen = () => openFiles().includes(file);
  return { listener, faults, isOpen };
}

function send({ url }: Listener): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, resolve).on('error', reject);
  });
}

it('FileSender sends part of a file after the response headers, to many clients concurrently', async () => {
  const bytes = randomBytes(3_000_000);
  const { listener, isOpen } = await serving(bytes);
  const answers = await Promise.all(
    Array.from({ length: 40 }, async () => {
      const answer = await send(listener);
      return [
        answer.headers['x-own'],
        answer.headers['content-length'],
        Buffer.concat(await answer.toArray()),
      ] as const;
    }),
  );
  const wanted = digestOf(bytes.subarray(100));
  for (const [own, length, body] of answers) expect([own, length, digestOf(body)]).toEqual(['yes', '2999900', wanted]);
  await expect.poll(isOpen).toBe(false);
});

it('FileSender aborts the response and passes release_damaged to its error callback if the file is truncated while it is sent', async () => {
  const { listener, faults, isOpen } = await serving(randomBytes(1_000_000), (file) => truncateSync(file, 500_000));
  const answer = await send(listener);
  await expect(answer.toArray()).rejects.toThrow();
  expect(faults.map(({ code }) => code)).toEqual(['release_damaged']);
  await expect.poll(isOpen).toBe(false);
});

it.skipIf(process.platform !== 'linux')('FileSender closes the file when the client disconnects', async () => {
  const { listener, isOpen } = await serving(randomBytes(30_000_000));
  const answer = await send(listener);
  await new Promise((resolve) => answer.once('readable', resolve));
  expect(isOpen()).toBe(true);
  answer.destroy();
  await expect.poll(isOpen).toBe(false);
});

it('FileSender sends the whole file to a client that has half-closed its connection', async () => {
  const bytes = randomBytes(3_000_000);
  const { listener, isOpen } = await serving(bytes);
  const connection = await connectTo(listener);
  connection.socket.end('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const received = await connection.untilClosed();
  const body = Buffer.from(received.slice(received.indexOf('\r\n\r\n') + 4), 'latin1');
  expect(digestOf(body)).toBe(digestOf(bytes.subarray(100)));
  await expect.poll(isOpen).toBe(false);
});
