import { once } from 'node:events';
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { type ListenerOptions, writePrepared } from '../../../src/http/listener/listener.ts';
import type { ServedRequest } from '../../../src/http/listener/served-request.ts';
import type { FastAnswer } from '../../../src/site/index.ts';
import { listenerBench } from './listener-bench.ts';

const BODY = Buffer.from('prepared');
const ANSWER: FastAnswer = { status: 200, headers: ['Content-Length', String(BODY.length), 'A', 'b'], body: BODY };
const PLAIN = 'GET /a?q=1 HTTP/1.1\r\nHost: x\r\n\r\n';

const bench = listenerBench({ fastAnswer: () => ANSWER, fetch: () => new Response('asked') });
const { connectTo } = bench;

async function open(options: Partial<ListenerOptions> = {}) {
  const served: ServedRequest[] = [];
  const listener = await bench.open({ onRequest: (each) => served.push(each), ...options });
  return { listener, served };
}

describe('listener that sends prepared responses from memory', () => {
  it('adds the request id to a prepared response, and passes the request to onRequest', async () => {
    const { listener, served } = await open();
    const connection = await connectTo(listener);
    connection.write(PLAIN.replace('Host: x', 'Host: x\r\nX-Request-Id: r-1'));
    const answer = await connection.until(/prepared$/);
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\nContent-Length: 8\r\nA: b\r\nX-Request-Id: r-1\r\nDate: /);
    expect(served).toMatchObject([
      { path: '/a', status: 200, bytes: answer.length, requestId: 'r-1', peer: '127.0.0.1' },
    ]);
    connection.write(PLAIN);
    expect(await connection.until(/prepared.*prepared$/s)).toMatch(/X-Request-Id: [0-9a-f-]{36}/);
  });

  it.each<FastAnswer>([
    ANSWER,
    { status: 304, headers: ['ETag', '"x"', 'Vary', 'Accept-Encoding'], body: null },
    { status: 200, headers: ['Content-Length', '0'], body: Buffer.alloc(0) },
  ])(
    'writes a response with status $status and headers $headers exactly as Node does',
    async ({ status, headers, body }) => {
      const { listener } = await open({ fastAnswer: () => ({ status, headers, body }) });
      const nodes = createServer({ keepAliveTimeout: 75_000 }, (_, outgoing) => {
        outgoing.writeHead(status, [...headers, 'X-Request-Id', 'r-1']).end(body ?? undefined);
      });
      bench.onEnd(() => nodes.close());
      await once(nodes.listen(0, '127.0.0.1'), 'listening');
      const answers: string[] = [];
      const ENDED = new RegExp(`\r\n\r\n${body ?? ''}$`);
      for (const { port } of [listener, nodes.address() as AddressInfo]) {
        const connection = await connectTo({ port });
        const request = PLAIN.replace('Host: x', 'Host: x\r\nX-Request-Id: r-1');
        connection.write(request);
        await connection.until(ENDED);
        connection.write(request.replace('Host', 'Connection: close\r\nHost'));
        answers.push((await connection.untilClosed()).replace(/Date: [A-Z][a-z]{2}, .{20} GMT\r/g, 'Date: now\r'));
      }
      expect(answers[0]).toMatch(/Date: now.*Keep-Alive: timeout=75.*Date: now\r\nConnection: close/s);
      expect(answers[0]).toBe(answers[1]);
    },
  );

  it('keeps header fields that were set before the prepared response is written', () => {
    const outgoing = new ServerResponse(new IncomingMessage(new Socket()));
    outgoing.setHeader('A', 'b');
    writePrepared({ status: 200, headers: ['C', 'd'], body: null }, outgoing, {
      requestId: 'r-1',
      hsts: null,
    });
    expect({ ...outgoing.getHeaders() }).toEqual({ a: 'b', c: 'd', 'x-request-id': 'r-1' });
  });

  it('rejects a field value that contains a line break', () => {
    const outgoing = new ServerResponse(new IncomingMessage(new Socket()));
    const answer: FastAnswer = { status: 200, headers: ['A', 'b\r\nC: d'], body: null };
    expect(() => writePrepared(answer, outgoing, { requestId: 'r-1', hsts: null })).toThrow(/Invalid character/);
  });

  it.each([
    ['HEAD', PLAIN.replace('GET', 'method HEAD')],
    ['POST', PLAIN.replace('GET', 'method POST')],
    ['HTTP/1.0', PLAIN.replace('HTTP/1.1', 'HTTP/1.0')],
    ['a body', PLAIN.replace('\r\n\r\n', '\r\nContent-Length: 1\r\n\r\nx')],
    ['a body in chunks', PLAIN.replace('\r\n\r\n', '\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n')],
    ['an invalid Host', PLAIN.replace('Host: x', 'Host: a b')],
    ['no Host', PLAIN.replace('Host: x\r\n', '')],
    ['two Hosts', PLAIN.replace('Host: x', 'Host: x\r\nhOST: x')],
    ['an address over the limit', PLAIN.replace('/a', `/${'a'.repeat(16 * 1024)}`)],
  ])('does not use a prepared response for a request with %s', async (_, request) => {
    const { listener } = await open();
    const connection = await connectTo(listener);
    connection.write(request);
    expect(await connection.until(/\r\n\r\n/)).not.toContain('A: b');
  });

  it('responds to pipelined requests in order', async () => {
    const { listener, served } = await open({ fastAnswer: ({ url }) => (url === '/slow' ? null : ANSWER) });
    const connection = await connectTo(listener);
    connection.write(`${PLAIN}${PLAIN.replace('/a', '/slow').replace('?q=1', '')}${PLAIN}`);
    expect(await connection.until(/prepared.*(?:asked|prepared).*(?:asked|prepared)$/s)).toMatch(
      /prepared.*asked.*asked$/s,
    );
    await expect
      .poll(() => served.map(({ bytes }) => bytes).reduce((sum, each) => sum + each, 0))
      .toBe(connection.received.length);
  });

  it('closes the connection if the client requests it', async () => {
    const { listener } = await open();
    const connection = await connectTo(listener);
    connection.write(PLAIN.replace('Host: x', 'Host: x\r\nConnection: close'));
    expect(await connection.untilClosed()).toMatch(/Connection: close.*prepared$/s);
  });

  it('finishes a response to a slow reader before it stops', async () => {
    const body = Buffer.alloc(32 * 1024 ** 2, 'x');
    const big: FastAnswer = { status: 200, headers: ['Content-Length', String(body.length)], body };
    const { listener, served } = await open({ fastAnswer: () => big });
    const connection = await connectTo(listener);
    connection.socket.pause();
    connection.write(PLAIN);
    await expect.poll(() => connection.socket.readableLength).toBeGreaterThan(0);
    expect(served).toEqual([]);
    const stopped = listener.stop(30_000);
    connection.socket.resume();
    expect((await connection.untilClosed()).length).toBeGreaterThan(body.length);
    await stopped;
    expect(served).toMatchObject([{ status: 200, bytes: connection.received.length }]);
  });
});
