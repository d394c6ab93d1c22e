import { describe, expect, it } from 'vitest';
import type { ServedRequest } from '../../../src/http/listener/served-request.ts';
import { listenerBench } from './listener-bench.ts';

const { open, connectTo } = listenerBench();
const lateAfter = (ms: number) => async () => {
  await new Promise((resolve) => setTimeout(resolve, ms));
  return new Response('late');
};

const statusesOf = (text: string): number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, code]) => Number(code));

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
const post = (field: string, body = '0\r\n\r\n') => `POST / HTTP/1.1\r\nHost: x\r\n${field}\r\n\r\n${body}`;
const LONG = 'a'.repeat(20_000);

describe('raw request', () => {
  it.each<[string, string]>([
    ['an empty port', 'GET / HTTP/1.1\r\nHost: x:\r\n\r\n'],
    ['a long address', `GET /${'a'.repeat(12_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ['chunks', post('Transfer-Encoding: chunked')],
  ])('gets a response, and the connection stays open for the next request: %s', async (_, bytes) => {
    const connection = await connectTo(await open());
    connection.write(bytes);
    await connection.until(/hello$/);
    connection.write(GET);
    expect(statusesOf(await connection.until(/hello.*hello$/s))).toEqual([200, 200]);
  });

  it.each<[string, string, number]>([
    ['an address over the limit', `GET /${LONG} HTTP/1.1\r\nHost: x\r\n\r\n`, 414],
    ['an address over the parser’s limit', `GET /${LONG}${LONG} HTTP/1.1\r\nHost: x\r\n\r\n`, 414],
    ['an absolute address over the limit', `GET http://x/${LONG} HTTP/1.1\r\nHost: x\r\n\r\n`, 414],
    ['a field over the limit', `GET / HTTP/1.1\r\nHost: x\r\nA: ${LONG}${LONG}\r\n\r\n`, 431],
    ['fields over the limit', `GET / HTTP/1.1\r\nHost: x\r\n${`A: ${'a'.repeat(1000)}\r\n`.repeat(40)}\r\n`, 431],
    ['no Host', 'GET / HTTP/1.1\r\n\r\n', 400],
    ['a Host with a query', 'GET / HTTP/1.1\r\nHost: x?y\r\n\r\n', 400],
    ['a Host with a fragment', 'GET / HTTP/1.1\r\nHost: x#y\r\n\r\n', 400],
    ['a Host with an escape', 'GET / HTTP/1.1\r\nHost: %78\r\n\r\n', 400],
    ['a Host with a backslash', 'GET / HTTP/1.1\r\nHost: x\\y\r\n\r\n', 400],
    ['a Host with space', 'GET / HTTP/1.1\r\nHost: x y\r\n\r\n', 400],
    ['a Host with letters over ASCII', 'GET / HTTP/1.1\r\nHost: \u00fc\r\n\r\n', 400],
    ['a Host with an invalid port', 'GET / HTTP/1.1\r\nHost: x:y\r\n\r\n', 400],
    ['bytes over ASCII in the address', 'GET /\u00fc HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['a method in small letters', 'get / HTTP/1.1\r\nHost: x\r\n\r\n', 501],
    [
      'chunked before another coding, in two fields',
      post('Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip'),
      400,
    ],
    ['another coding that ends with chunked', post('Transfer-Encoding: xchunked'), 400],
    ['chunked with a parameter', post('Transfer-Encoding: chunked;q=1'), 400],
    ['chunked in quotes', post('Transfer-Encoding: "chunked"'), 400],
    ['chunked and an empty coding', post('Transfer-Encoding: chunked,'), 400],
    ['garbage', 'nonsense\r\n\r\n', 400],
  ])(
    'is rejected with a problem document and a request id, and the connection is closed: %s',
    async (_, bytes, status) => {
      const served: ServedRequest[] = [];
      const connection = await connectTo(await open({ onRequest: (each) => served.push(each) }));
      connection.write(bytes);
      const answer = await connection.untilClosed();
      expect(statusesOf(answer)).toEqual([status]);
      expect(answer).toMatch(/content-type: application\/problem\+json/i);
      expect(answer).toMatch(/^date: .* GMT\r$/im);
      const problem = JSON.parse(answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1));
      const requestId = /x-request-id: ([0-9a-f-]{36})/i.exec(answer)?.[1];
      expect(problem).toMatchObject({ status, code: 'bad_request', requestId });
      await expect.poll(() => served).toMatchObject([{ status, requestId }]);
    },
  );

  it.each<[string, string, number[]]>([
    ['garbage', 'nonsense\r\n\r\n', [200, 400]],
    ['a request without a Host', 'GET / HTTP/1.1\r\n\r\n', [200, 400]],
    ['a request whose address is too long', `GET /${LONG} HTTP/1.1\r\nHost: x\r\n\r\n`, [200, 414]],
    ['a valid request and garbage', `${GET}nonsense\r\n\r\n`, [200, 200, 400]],
  ])('gets its response before the error response to invalid pipelined input: %s', async (_, pipelined, statuses) => {
    for (const fetch of [() => new Response('hello'), lateAfter(20)]) {
      const connection = await connectTo(await open({ fetch }));
      connection.write(GET + pipelined);
      expect(statusesOf(await connection.untilClosed())).toEqual(statuses);
    }
  });

  it.each(['Connection: keep-alive\r\nTransfer-Encoding: chunked', 'Transfer-Encoding: chunked'])(
    'closes its HTTP/1.0 connection after the response if the request has the headers "%s"',
    async (fields) => {
      const connection = await connectTo(await open());
      connection.write(`POST / HTTP/1.0\r\n${fields}\r\n\r\n0\r\n\r\n`);
      expect(await connection.untilClosed()).toMatch(/^HTTP\/1\.1 200 .*Connection: close/s);
    },
  );

  it('gets a response if its client has half-closed the connection, even if the response is slow', async () => {
    for (const fetch of [() => new Response('hello'), lateAfter(50)]) {
      const connection = await connectTo(await open({ fetch }));
      connection.socket.end(GET);
      expect(await connection.untilClosed()).toMatch(/^HTTP\/1\.1 200 .*(?:hello|late)$/s);
    }
  });
});

describe('client timeouts of a listener', () => {
  it('close a connection whose headers do not arrive in time', async () => {
    const connection = await connectTo(await open({ times: { headersMsMax: 100, checkMs: 50 } }));
    connection.write('GET / HTTP/1.1\r\nHost: x\r\nA: ');
    expect(statusesOf(await connection.untilClosed())).toEqual([408]);
  });

  it('close a connection if the client does not read the response', async () => {
    const served: ServedRequest[] = [];
    const body = Buffer.alloc(32 * 1024 ** 2);
    const connection = await connectTo(
      await open({
        fetch: () => new Response(body),
        onRequest: (each) => served.push(each),
        times: { unreadMsMax: 100 },
      }),
    );
    connection.socket.pause();
    connection.write(GET);
    await expect.poll(() => served.length).toBe(1);
  });

  it.each([
    ['the framework', {}],
    ['fastAnswer()', { fastAnswer: () => ({ status: 304, headers: [], body: null }) as const }],
  ])('close an idle connection after a response from %s', async (_, options) => {
    const connection = await connectTo(await open({ ...options, times: { keepAliveMs: 50, checkMs: 50 } }));
    connection.write(GET);
    expect(statusesOf(await connection.untilClosed())).toHaveLength(1);
  });

  it('do not close a connection while its response is being prepared', async () => {
    const connection = await connectTo(await open({ fetch: lateAfter(300), times: { unreadMsMax: 50 } }));
    connection.write(GET);
    expect(await connection.until(/late$/)).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('response sent before the end of its request', () => {
  const HALF = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nhalf';

  it.each(
    (['site', 'api', 'admin'] as const).flatMap((name) =>
      [400, 401, 403, 404, 405, 413, 415, 429].flatMap((status) => [
        { name, status, how: 'immediately', wait: async () => undefined },
        { name, status, how: 'later', wait: () => new Promise((resolve) => setTimeout(resolve, 5)) },
      ]),
    ),
  )(
    'has the header Connection: close, and the connection is closed: $name $status $how',
    async ({ name, status, how, wait }) => {
      const answer = () => new Response('no', { status });
      const fetch = how === 'immediately' ? answer : () => wait().then(answer);
      const connection = await connectTo(await open({ name, fetch }));
      const ended = new Promise((resolve) => connection.socket.once('end', resolve));
      connection.write(HALF);
      await ended;
      expect(connection.received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [^]*Connection: close[^]*no$`));
    },
  );

  it('reaches a client that continues to send, without a connection reset', async () => {
    const connection = await connectTo(await open({ fetch: () => new Response('no', { status: 413 }) }));
    const faults: unknown[] = [];
    connection.socket.on('error', (error) => faults.push(error));
    connection.write(HALF);
    await connection.until(/no$/);
    for (let at = 0; at < 50; at++) {
      connection.write('x'.repeat(10_000));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(faults).toEqual([]);
  });
});

it('listener responds to CONNECT only after the response to an earlier pipelined request', async () => {
  const connection = await connectTo(await open());
  connection.write(`${GET}CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n`);
  expect(statusesOf(await connection.untilClosed())).toEqual([200, 501]);
});

it.each([
  ['BREW / HTTP/1.1', [501]],
  ['GETS /a HTTP/1.0', [501]],
  ['get / HTTP/1.1', [501]],
  ['GE T / HTTP/1.1', [400]],
  ['B\u00e9 / HTTP/1.1', [400]],
  ['BREW', [400]],
])('listener distinguishes an unknown method from an invalid request: %s', async (line, statuses) => {
  for (const before of ['', GET]) {
    const connection = await connectTo(await open());
    connection.write(`${before}${line}\r\nHost: x\r\n\r\n`);
    expect(statusesOf(await connection.untilClosed())).toEqual([...(before === '' ? [] : [200]), ...statuses]);
  }
});
