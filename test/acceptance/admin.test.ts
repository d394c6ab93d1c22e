import { readdir } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DaemonProcess, openBench } from '../helpers/daemon.ts';
import { waitFor } from '../helpers/wait-for.ts';

const bench = openBench(afterAll);
const TOKEN = 'a-long-random-token';
const AUTHORIZED = { authorization: `Bearer ${TOKEN}` };

let daemon: DaemonProcess;

beforeAll(async () => {
  daemon = await bench.start({ admin: { token: TOKEN } });
});

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

describe('the admin listener', () => {
  test.each(['the API', 'a form of the console'])(
    'records an aborted upload through %s in an audit line with the code bad_request',
    async (way) => {
      const form = way === 'the API' ? null : await signIn();
      const cut = request(`${daemon.admin}${form === null ? '/v1/bundles/cut.tar' : '/sites/docs/upload'}`, {
        method: form === null ? 'PUT' : 'POST',
        headers: { 'content-length': 1_000_000, ...(form?.headers ?? AUTHORIZED) },
      });
      cut.on('error', () => undefined);
      cut.write(form?.begin ?? 'x'.repeat(1_000));
      const staging = join(daemon.dataDir, 'staging');
      await expect.poll(() => readdir(staging)).not.toEqual([]);
      cut.destroy();
      const line = await waitFor(
        async () => {
          const { lines } = (await (
            await fetch(`${daemon.admin}/v1/audit?limit=10`, { headers: AUTHORIZED })
          ).json()) as {
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
