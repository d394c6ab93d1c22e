import { describe, expect, it } from 'vitest';
import type { Search } from '../../../src/search/index.ts';
import { untilAborted } from '../../helpers/until-aborted.ts';
import { listenerBench } from '../listener/listener-bench.ts';
import { apiWith, KEY, post, RESULTS } from './api-example.ts';

const bench = listenerBench({ name: 'api' });

async function open(search?: Search) {
  const api = apiWith(search === undefined ? {} : { search: () => search });
  const fetch = (...[request, env]: Parameters<typeof api.app.fetch>) => api.app.fetch(request, env);
  const listener = await bench.open({ fetch });
  return { url: `${listener.url}/v1/search/acme`, connect: () => bench.connectTo(listener) };
}

const head = (more: string) =>
  `POST /v1/search/acme HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\n${more}\r\n`;
const CHUNK = `4000\r\n${' '.repeat(0x4000)}\r\n`;

describe('API on a real socket', () => {
  it('sends the request id in every response, including errors', async () => {
    const { url } = await open();
    const found = await fetch(url, post({ query: 'a' }, { 'X-Request-Id': 'trace-1' }));
    expect([await found.json(), found.headers.get('x-request-id')]).toEqual([RESULTS, 'trace-1']);
    const fault = await fetch(url, post({}, { 'X-Request-Id': 'trace-2' }));
    expect(await fault.json()).toMatchObject({ code: 'bad_request', requestId: 'trace-2' });
  });

  it('rejects a body whose Content-Length is too large before it reads the body', async () => {
    const { connect } = await open();
    const connection = await connect();
    connection.write(head('Content-Length: 100000\r\n'));
    expect(await connection.until(/payload_too_large/)).toMatch(/^HTTP\/1\.1 413 /);
  });

  it('rejects a body without Content-Length as soon as the received bytes exceed the limit', async () => {
    const { connect } = await open();
    const connection = await connect();
    connection.write(head('Transfer-Encoding: chunked\r\n'));
    // Send chunks, but never the end of the body.
    connection.write(CHUNK.repeat(5));
    expect(await connection.until(/payload_too_large/)).toMatch(/^HTTP\/1\.1 413 /);
  });

  it('sends 100 Continue only after the key is accepted', async () => {
    const { connect } = await open();
    const body = JSON.stringify({ query: 'a' });
    const connection = await connect();
    connection.write(head(`Expect: 100-continue\r\nContent-Length: ${body.length}\r\n`));
    await connection.until(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
    connection.write(body);
    expect(await connection.until(/rotate-keys/)).toMatch(/HTTP\/1\.1 200 /);
    const stranger = await connect();
    stranger.write(head('Expect: 100-continue\r\nContent-Length: 9\r\n').replace(KEY, 'x'));
    expect(await stranger.until(/unauthorized/)).toMatch(/^HTTP\/1\.1 401 /);
  });

  it('aborts a search when its client disconnects', async () => {
    const { promise: began, resolve: begin } = Promise.withResolvers<AbortSignal>();
    const { connect } = await open({
      search: (_, signal) => {
        begin(signal);
        return untilAborted(signal);
      },
    });
    const body = JSON.stringify({ query: 'a' });
    const connection = await connect();
    connection.write(`${head(`Content-Length: ${body.length}\r\n`)}${body}`);
    const signal = await began;
    connection.socket.destroy();
    await expect.poll(() => signal.aborted).toBe(true);
  });
});
