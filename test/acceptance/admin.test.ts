import { readdir } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DaemonProcess, openBench } from '../helpers/daemon.ts';
import { waitFor } from '../helpers/wait-for.ts';
import { bundle, sha256Of } from './bundles.ts';

const bench = openBench(afterAll);
const TOKEN = 'a-long-random-token';
const JUNE = new Uint8Array(bundle('june'));
const JULY = new Uint8Array(bundle('july'));

let daemon: DaemonProcess;

beforeAll(async () => {
  daemon = await bench.start({ admin: { token: TOKEN }, staticExport: { keep: 5 } });
});

async function act(
  method: string,
  path: string,
  body?: Uint8Array<ArrayBuffer> | string,
  token = TOKEN,
): Promise<Response> {
  const headers = { authorization: `Bearer ${token}` };
  return fetch(`${daemon.admin}${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
}

/** First part of a multipart form with a file, as a browser sends it. The rest follows later. */
async function signIn(): Promise<{ readonly headers: Record<string, string>; readonly begin: string }> {
  const origin = new URL(daemon.admin).origin;
  const answer = await fetch(`${daemon.admin}/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin },
    body: new URLSearchParams({ token: TOKEN }),
  });
  const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
  const page = await (await fetch(daemon.admin, { headers: { cookie } })).text();
  const token = /name="formToken" value="([^"]+)"/.exec(page)?.[1] ?? '';
  const part = (head: string, body: string): string =>
    `--cut\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}`;
  return {
    headers: { origin, cookie, 'content-type': 'multipart/form-data; boundary=cut' },
    begin: `${part('name="formToken"', token)}\r\n${part('name="bundle"; filename="cut.tar"', 'x'.repeat(1_000))}`,
  };
}

describe('the admin API', () => {
  test('imports an archive with PUT /v1/bundles, and activates, rolls back and deletes versions', async () => {
    const june = await act('PUT', '/v1/bundles/acme-export-2024-06-01.tar.gz', JUNE);
    expect(june.status).toBe(201);
    expect(await june.json()).toMatchObject({ version: '2024-06-01', digest: sha256Of(JUNE), activated: true });
    const july = await act('PUT', '/v1/bundles/any.tar.gz?version=july&activate=false', JULY);
    expect(await july.json()).toMatchObject({ version: 'july', activated: false });
    expect(await daemon.status()).toMatchObject({ state: 'ready', active: { version: '2024-06-01' } });

    const activated = await act('POST', '/v1/versions/july/activate');
    expect([activated.status, await activated.json()]).toEqual([200, { version: 'july', digest: sha256Of(JULY) }]);
    expect(await (await fetch(`${daemon.site}/`)).text()).toContain('july');
    expect(await (await act('POST', '/v1/rollback')).json()).toMatchObject({ version: '2024-06-01' });

    expect((await act('DELETE', '/v1/versions/2024-06-01')).status).toBe(409);
    expect((await act('DELETE', '/v1/versions/july')).status).toBe(204);
    expect((await act('DELETE', '/v1/versions/july')).status).toBe(404);
    expect((await daemon.status()).versions).toHaveLength(1);
  });

  test.each(['the API', 'a form of the console'])(
    'records an aborted upload through %s in an audit line with the code bad_request',
    async (way) => {
      const form = way === 'the API' ? null : await signIn();
      const cut = request(`${daemon.admin}${form === null ? '/v1/bundles/cut.tar' : '/sites/docs/upload'}`, {
        method: form === null ? 'PUT' : 'POST',
        headers: { 'content-length': 1_000_000, ...(form?.headers ?? { authorization: `Bearer ${TOKEN}` }) },
      });
      cut.on('error', () => undefined);
      cut.write(form?.begin ?? 'x'.repeat(1_000));
      const staging = join(daemon.dataDir, 'staging');
      await expect.poll(() => readdir(staging)).not.toEqual([]);
      cut.destroy();
      const line = await waitFor(
        async () => {
          const { lines } = (await (await act('GET', '/v1/audit?limit=10')).json()) as {
            lines: { action: string; target: string; by: string; result: string; error: string }[];
          };
          const by = form === null ? 'token' : 'session';
          return lines.find((each) => each.action === 'upload' && each.target === 'cut.tar' && each.by === by) ?? null;
        },
        () => daemon.log(),
      );
      expect(line).toMatchObject({ result: 'bad_request', error: expect.stringContaining('the client disconnected') });
    },
  );
});

test('the console accepts a sign-in over TLS behind a proxy only if server.trustedProxies lists the proxy and the proxy reports HTTPS', async () => {
  const proxied = await bench.start({ admin: { token: TOKEN }, server: { trustedProxies: ['127.0.0.1'] } });
  const signInAt = async (admin: string, headers: Record<string, string>): Promise<[number, string | null]> => {
    const answer = await fetch(`${admin}/sign-in`, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: new URL(admin).origin.replace('http:', 'https:'), ...headers },
      body: new URLSearchParams({ token: TOKEN }),
    });
    return [answer.status, answer.headers.get('set-cookie')];
  };
  const secure = { 'x-forwarded-proto': 'https' };
  expect(await signInAt(proxied.admin, secure)).toEqual([303, expect.stringContaining('Secure')]);
  expect(await signInAt(proxied.admin, {})).toEqual([403, null]);
  expect(await signInAt(daemon.admin, secure)).toEqual([403, null]);
  await proxied.stop();
});
