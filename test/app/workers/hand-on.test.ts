import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { handOn } from '../../../src/app/workers/hand-on.ts';
import { openListener } from '../../../src/http/listener/listener.ts';
import type { ServedRequest } from '../../../src/http/listener/served-request.ts';
import { REPORT_BYTES_MAX, REPORTS_PATH } from '../../../src/http/site/page-reports.ts';
import { DaemonLine } from '../../../src/net/daemon-request.ts';

/** A listener that hands all on to a daemon, which answers 413 to a report over the bound, as docshelf does. */
async function open() {
  const folder = await mkdtemp(join(tmpdir(), 'docshelf-hand-on-'));
  const asked: string[] = [];
  const daemon = createServer((incoming, outgoing) => {
    asked.push(incoming.url ?? '');
    void buffer(incoming).then(({ length }) => {
      if (length <= REPORT_BYTES_MAX) outgoing.end(String(length));
      else outgoing.writeHead(413, { Connection: 'close' }).end(String(length));
    });
  });
  daemon.listen(join(folder, 'socket'));
  await once(daemon, 'listening');
  const line = new DaemonLine(join(folder, 'socket'));
  const served: ServedRequest[] = [];
  const listener = await openListener({
    name: 'site',
    host: '127.0.0.1',
    port: 0,
    fetch: (_, env) => handOn(line, env),
    onRequest: (each) => served.push(each),
  });
  onTestFinished(async () => {
    await listener.stop(0);
    line.close();
    daemon.close();
    await rm(folder, { recursive: true });
  });
  const send = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    request({ host: '127.0.0.1', port: listener.port, path, method: 'POST', agent: false, headers });
  return { listener, asked, served, send };
}

async function answerOf(sent: ReturnType<typeof request>): Promise<readonly [number | undefined, string]> {
  const [answer] = await once(sent, 'response');
  return [answer.statusCode, (await buffer(answer)).toString()];
}

it('a report over the bound is the daemon’s to refuse, which is given no more of it than shows that', async () => {
  const { send, served } = await open();
  for (let at = 0; at < 12; at++) {
    // The connection is closed while the rest is on its way.
    const sent = send(REPORTS_PATH).on('error', () => undefined);
    sent.end(Buffer.alloc(200_000));
    expect(await answerOf(sent)).toEqual([413, String(REPORT_BYTES_MAX + 1)]);
  }
  await expect.poll(() => served.map(({ status }) => status)).toEqual(Array(12).fill(413));
});

it('the daemon is asked once a report is here as a whole; other bodies it is not given', async () => {
  const { listener, asked, send } = await open();
  const slow = connect(listener.port, '127.0.0.1');
  onTestFinished(() => void slow.destroy());
  slow.write(`POST ${REPORTS_PATH}?slow HTTP/1.1\r\nHost: docs.test\r\nContent-Length: 8\r\n\r\n1234`);
  await once(slow, 'connect');
  const other = send('/page', { 'content-length': '500' });
  other.write('part');
  expect(await answerOf(other)).toEqual([200, '0']);
  other.destroy();
  expect(await answerOf(send(REPORTS_PATH).end('report'))).toEqual([200, '6']);
  expect(asked).toEqual(['/page', REPORTS_PATH]);
  slow.write('5678');
  const [head] = await once(slow.setEncoding('latin1'), 'data');
  expect(head).toContain('HTTP/1.1 200');
  expect(asked).toEqual(['/page', REPORTS_PATH, `${REPORTS_PATH}?slow`]);
});

it.each([
  [REPORTS_PATH, 8, true],
  [REPORTS_PATH, REPORT_BYTES_MAX + 1, false],
  ['/page', 8, false],
])('a client that asks first whether to send to %s %i bytes is told so: %s', async (path, length, isAskedFor) => {
  const { send } = await open();
  const sent = send(path, { expect: '100-continue', 'content-length': String(length) });
  sent.on('error', () => undefined);
  let isContinued = false;
  sent.on('continue', () => {
    isContinued = true;
  });
  sent.flushHeaders();
  if (isAskedFor) await once(sent, 'continue');
  sent.end(Buffer.alloc(length));
  await answerOf(sent);
  expect(isContinued).toBe(isAskedFor);
});
