import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { ClientHttp2Session } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it, vi } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import { type Client, ClientBudget } from '../../../src/http/listener/client-budget.ts';
import { type Listener, type ListenerOptions, UNREAD_MS_MAX } from '../../../src/http/listener/listener.ts';
import { bytesResponse, FilePart, fileResponse } from '../../../src/site/site-bytes.ts';
import { makeCertificate } from '../../helpers/certificates.ts';
import { newFolder } from '../../helpers/new-folder.ts';
import { openFiles } from '../../helpers/open-files.ts';
import { openHttp2, requestHttp2 } from '../tls/tls-client.ts';
import { listenerBench } from './listener-bench.ts';

const KiB = 1024;
const LARGE = randomBytes(8 * KiB ** 2);
const FILE = join(newFolder(), 'large.bin');
writeFileSync(FILE, LARGE);
const { cert, key } = makeCertificate({ names: ['127.0.0.1'] });
const TLS = { pairs: [{ chain: cert, key: new Secret(key) }], http2: true, hstsMs: null };
const GET = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

/** Responses: a large file, the same bytes from memory, or a word. */
const answers = {
  calls: 0,
  async fetch(request: Request): Promise<Response> {
    answers.calls++;
    const { pathname } = new URL(request.url);
    const headers = { 'Content-Length': String(LARGE.length) };
    if (pathname === '/memory') return bytesResponse(LARGE as Buffer<ArrayBuffer>, { headers });
    if (pathname !== '/file') return new Response('word');
    const part = await FilePart.open(
      { diskPath: FILE, size: LARGE.length },
      { start: 0, end: LARGE.length, onFault: () => undefined },
    );
    return fileResponse(part, { headers });
  },
};

const bench = listenerBench({ fetch: answers.fetch });

function open(budget: ClientBudget, options: Partial<ListenerOptions> = {}): Promise<Listener> {
  answers.calls = 0;
  return bench.open({ budget, ...options });
}

/** Client that reads nothing before `resume`. */
async function still({ port }: Listener, { tls = false, from = '127.0.0.1' } = {}): Promise<Socket> {
  const at = { host: '127.0.0.1', port, localAddress: from };
  const socket = tls ? connectTls({ ...at, rejectUnauthorized: false }) : connect(at);
  socket.on('error', () => undefined);
  bench.onEnd(() => socket.destroy());
  await once(socket, tls ? 'secureConnect' : 'connect');
  socket.pause();
  return socket;
}

function session({ port }: Listener, from = '127.0.0.1'): ClientHttp2Session {
  const made = openHttp2(port, { localAddress: from } as object);
  bench.onEnd(() => made.destroy());
  return made;
}

function requestWithoutReading(client: ClientHttp2Session, path: string, count: number) {
  return Array.from({ length: count }, () => {
    const stream = client.request({ ':path': path });
    stream.on('error', () => undefined);
    return stream;
  });
}

const answered = (client: ClientHttp2Session): Promise<string> =>
  requestHttp2(client, { path: '/word' }).then(({ body }) => body);

async function wordFor({ port }: Listener, from = '127.0.0.1'): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port, localAddress: from });
  socket.write('GET /word HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  return (await socket.toArray()).join('').slice(-4);
}

const handles = () => openFiles().filter((path) => path === FILE).length;

describe('client that reads its responses slowly or not at all', () => {
  it.each(['/file', '/memory', '/word'])(
    'causes docshelf to prepare only one response at a time, even with pipelined requests: %s',
    async (path) => {
      const listener = await open(new ClientBudget());
      const client = await still(listener);
      client.write(GET('/file') + GET(path).repeat(50));
      await expect.poll(() => client.readableLength).toBeGreaterThan(0);
      expect(await wordFor(listener)).toBe('word');
      expect(answers.calls).toBe(2);
    },
  );

  it('gets all responses in order when it reads', async () => {
    const listener = await open(new ClientBudget());
    const client = await still(listener);
    const paths = ['/file', '/word', '/memory', '/word', '/file', '/word'];
    client.write(paths.map(GET).join(''));
    client.end();
    const received = Buffer.concat(await client.toArray());
    expect(received.length).toBeGreaterThan(3 * LARGE.length);
    expect(received.toString('latin1').match(/HTTP\/1\.1 200 OK/g)).toHaveLength(paths.length);
    expect(received.subarray(-4).toString()).toBe('word');
  });

  it('is disconnected if it requests more responses than one connection may queue', async () => {
    const listener = await open(new ClientBudget());
    const client = await still(listener);
    client.write(GET('/file') + GET('/word').repeat(1_000));
    client.resume();
    await once(client, 'close');
    expect(answers.calls).toBeLessThan(129);
  });

  it.each(['/file', '/memory'])(
    'uses at most 2 MiB on an HTTP/2 connection, however many responses are pending: %s',
    async (path) => {
      const budget = new ClientBudget();
      const listener = await open(budget, { tls: TLS });
      const client = session(listener);
      requestWithoutReading(client, path, 100);
      await expect.poll(() => budget.bytes).toBeGreaterThan(1024 * KiB);
      expect(await answered(session(listener))).toBe('word');
      expect(budget.bytes).toBeLessThanOrEqual(2048 * KiB);
    },
  );

  it('leaves enough file handles to other clients', async () => {
    const budget = new ClientBudget();
    const listener = await open(budget, { tls: TLS });
    const sessions = Array.from({ length: 20 }, () => session(listener));
    for (const client of sessions) requestWithoutReading(client, '/file', 100);
    await expect.poll(() => budget.bytes).toBeGreaterThan(16 * 1024 * KiB);
    expect(await answered(session(listener, '127.0.0.8'))).toBe('word');
    expect(handles()).toBeLessThanOrEqual(256 + 2 * 64);
  });

  it('can use at most half of the memory for responses, over all its connections', async () => {
    const limit = { requests: 100, bytes: 256 * KiB };
    const budget = new ClientBudget({ address: limit, all: { requests: 200, bytes: 512 * KiB }, stillMs: 60_000 });
    const listener = await open(budget);
    for (let at = 0; at < 20; at++) (await still(listener, { from: '127.0.0.9' })).write(GET('/file'));
    await expect.poll(() => budget.bytes).toBe(limit.bytes);
    expect(await wordFor(listener, '127.0.0.8')).toBe('word');
  });

  it('gets REFUSED_STREAM over HTTP/2, which allows a retry, if its address has too many requests', async () => {
    const limit = { requests: 10, bytes: 512 * KiB };
    const listener = await open(new ClientBudget({ address: limit, stillMs: 60_000 }), { tls: TLS });
    const streams = requestWithoutReading(session(listener), '/file', 12);
    const codes = await Promise.all(
      streams.slice(10).map((stream) => new Promise((resolve) => stream.once('close', () => resolve(stream.rstCode)))),
    );
    expect(codes).toEqual([7, 7]);
  });

  it.each([
    ['HTTP/1', false],
    ['HTTP/1 over TLS', true],
  ])('is disconnected before twice the time limit for unread responses has passed: %s', async (_, tls) => {
    const budget = new ClientBudget();
    const times = { unreadMsMax: 1_000, checkMs: 50 };
    const listener = await open(budget, { times, ...(tls ? { tls: TLS } : {}) });
    const client = await still(listener, { tls });
    client.write(GET('/memory'));
    await expect.poll(() => budget.bytes).toBeGreaterThan(0);
    // Count checks instead of time, because a pause of this process delays the server's checks also.
    let checks = 0;
    for (; budget.bytes > 0; checks++) await sleep(times.checkMs);
    expect(checks * times.checkMs).toBeLessThan(2 * times.unreadMsMax);
  });

  it('is disconnected from an unread HTTP/2 stream while it reads another stream of the connection', async () => {
    const listener = await open(new ClientBudget(), { tls: TLS, times: { unreadMsMax: 300, checkMs: 20 } });
    const client = session(listener);
    const [unread] = requestWithoutReading(client, '/memory', 1);
    let isCut = false;
    unread?.once('close', () => {
      isCut = true;
    });
    while (!isCut) expect(await answered(client)).toBe('word');
  });

  it('is disconnected if it reads only single bytes at intervals', async () => {
    const budget = new ClientBudget();
    const listener = await open(budget, { times: { unreadMsMax: 400, checkMs: 20 } });
    const client = await still(listener);
    client.write(GET('/memory'));
    await expect.poll(() => budget.bytes).toBeGreaterThan(0);
    const trickle = setInterval(() => client.read(1), 10);
    bench.onEnd(() => clearInterval(trickle));
    await expect.poll(() => budget.bytes).toBe(0);
  });

  it('is not disconnected while it reads slowly, even if the whole response takes longer than the time limit', async () => {
    // The server sees progress in steps of 1.4 MiB, when a third of the kernel's buffer is free. Late timers must not slow the client down.
    const unreadMsMax = 3_000;
    const slowMs = 1.2 * unreadMsMax;
    const listener = await open(new ClientBudget(), { times: { unreadMsMax, checkMs: 20 } });
    const client = await still(listener);
    client.write(GET('/memory').replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
    const startMs = performance.now();
    let taken = 0;
    while (taken < LARGE.length && !client.readableEnded && !client.destroyed) {
      const dueBytes = Math.floor((LARGE.length * (performance.now() - startMs)) / slowMs) - taken;
      const chunk: Buffer | null = dueBytes > 0 ? client.read(Math.min(dueBytes, client.readableLength)) : null;
      taken += chunk?.length ?? 0;
      await (dueBytes > 64 * KiB ? setImmediate() : sleep(10));
    }
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(slowMs);
    expect(taken).toBeGreaterThanOrEqual(LARGE.length);
  });

  it('stays connected with the default limits if it reads 5 KiB per second, because the kernel reports the progress', () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    bench.onEnd(() => vi.useRealTimers());
    const budget = new ClientBudget();
    bench.onEnd(budget.watch({ unreadMsMax: UNREAD_MS_MAX, checkMs: 1_000 }));
    // Use a third of the largest socket buffer that Linux has by default, the smallest progress that the server sees.
    const stepBytes = (4 * KiB ** 2) / 3;
    const cut: string[] = [];
    const hold = (name: string, readBytes: () => number) => {
      const client = { unreadBytes: () => KiB, readBytes, sentBytes: () => null, cut: () => cut.push(name) };
      budget.answer({}, { remoteAddress: '127.0.0.1' }, client, true);
    };
    const startMs = performance.now();
    hold('slow', () => Math.floor((((performance.now() - startMs) / 1_000) * 5 * KiB) / stepBytes));
    hold('still', () => 0);
    vi.advanceTimersByTime(2 * UNREAD_MS_MAX);
    expect(cut).toEqual(['still']);
  });
});

describe('connection limit of a listener', () => {
  it.each([
    ['HTTP', {}],
    ['TLS', { tls: TLS }],
  ])(
    'closes an idle connection to accept a new connection, but no connection that waits for a response: %s',
    async (_, options) => {
      const gate = Promise.withResolvers<void>();
      const fetch = async () => {
        await gate.promise;
        return new Response('word');
      };
      const listener = await open(new ClientBudget({ connections: 8 }), { fetch, ...options });
      const tls = 'tls' in options;
      const waiting = await still(listener, { tls });
      waiting.end(GET('/').replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
      const idle = await Promise.all(Array.from({ length: 3 }, () => still(listener, { tls })));
      const closed = Promise.race(idle.map((each) => once(each.resume(), 'close')));
      const last = await still(listener, { tls });
      await closed;
      last.end(GET('/').replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
      gate.resolve();
      for (const client of [waiting, last]) expect((await client.toArray()).join('')).toMatch(/word$/);
    },
  );

  it('lets the connections of one client address use at most half of the limit', async () => {
    const listener = await open(new ClientBudget({ connections: 8 }));
    const others = await Promise.all(Array.from({ length: 4 }, () => still(listener, { from: '127.0.0.8' })));
    for (let at = 0; at < 20; at++) await still(listener, { from: '127.0.0.9' });
    for (const each of others) {
      each.end(GET('/word').replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
      expect((await each.toArray()).join('')).toMatch(/word$/);
    }
  });

  it('applies to HTTP/2 connections', async () => {
    const listener = await open(new ClientBudget({ connections: 8 }), { tls: TLS });
    const idle = session(listener);
    expect(await answered(idle)).toBe('word');
    const closed = once(idle, 'close');
    for (let at = 0; at < 4; at++) expect(await answered(session(listener))).toBe('word');
    await closed;
  });
});

describe('ClientBudget.connect()', () => {
  type Opened = Parameters<ClientBudget['connect']>[0];
  const peerFrom = (remoteAddress: string) =>
    Object.assign(new EventEmitter(), { remoteAddress, bytesRead: 0, destroy: vi.fn() });

  it('still limits the connections of an address after it has closed one of them to accept the next connection', () => {
    const budget = new ClientBudget({ connections: 4 });
    const [first, second, third, fourth] = Array.from({ length: 4 }, () => peerFrom('192.0.2.1'));
    const others = ['192.0.2.2', '192.0.2.3', '192.0.2.4'].map(peerFrom);
    for (const peer of [first, ...others, second]) expect(budget.connect(peer as Opened)).toBe(true);
    expect(first?.destroy).toHaveBeenCalledOnce();
    for (const peer of others) peer.emit('close');
    for (const peer of [third, fourth]) expect(budget.connect(peer as Opened)).toBe(true);
    expect(second?.destroy).toHaveBeenCalledOnce();
  });
});

describe('responses that wait for memory (HeldAnswer)', () => {
  const client = (moves: { unread: number; read: number }): Client => ({
    unreadBytes: () => moves.unread,
    readBytes: () => moves.read,
    sentBytes: () => null,
    cut: () => undefined,
  });
  const answerOf = (budget: ClientBudget, of: Client) => {
    const answer = budget.answer({}, { remoteAddress: '192.0.2.1' }, of, true);
    if (answer === null) throw new Error('no room');
    return answer;
  };

  it('measure the idle time of a client from the last byte that the client read', () => {
    const moves = { unread: 10, read: 0 };
    const answer = answerOf(new ClientBudget(), client(moves));
    expect([answer.measureIdleMs(1_000), answer.measureIdleMs(31_000), answer.measureIdleMs(61_000)]).toEqual([
      0, 30_000, 60_000,
    ]);
    moves.read = 1;
    expect([answer.measureIdleMs(62_000), answer.measureIdleMs(63_000)]).toEqual([0, 1_000]);
    moves.unread = 0;
    expect([answer.measureIdleMs(64_000), answer.measureIdleMs(99_000)]).toEqual([0, 0]);
  });

  it('cause the client with the longest idle time to be disconnected if no response memory is free', () => {
    const limit = { requests: 9, bytes: 128 * KiB };
    const budget = new ClientBudget({ connection: limit, address: limit, all: limit, stillMs: 0 });
    const cut: number[] = [];
    const responses = [0, 1].map((at) =>
      answerOf(budget, { ...client({ unread: 10, read: 0 }), cut: () => void cut.push(at) }),
    );
    for (const answer of responses) {
      answer.whenRoom(() => undefined);
      answer.measureIdleMs(0);
    }
    let isActing = false;
    answerOf(budget, client({ unread: 0, read: 0 })).whenRoom(() => {
      isActing = true;
    });
    expect([isActing, cut, budget.bytes]).toEqual([true, [0], 128 * KiB]);
  });

  it('are started in their order of arrival when response memory is free', () => {
    const limit = { requests: 9, bytes: 128 * KiB };
    const budget = new ClientBudget({ connection: limit, address: limit, all: limit });
    const acts: number[] = [];
    const all = [0, 1, 2, 3].map(() => answerOf(budget, client({ unread: 0, read: 0 })));
    all.forEach((answer, at) => void answer.whenRoom(() => acts.push(at)));
    expect([acts, budget.bytes]).toEqual([[0, 1], 128 * KiB]);
    all[1]?.end();
    expect(acts).toEqual([0, 1, 2]);
    for (const answer of all) answer.end();
    expect([acts, budget.bytes]).toEqual([[0, 1, 2, 3], 0]);
  });
});
