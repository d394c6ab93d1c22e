import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { makeCertificate, type TestPair } from '../helpers/certificates.ts';
import { type ConfigFile, type DaemonProcess, openBench, runDocshelf } from '../helpers/daemon.ts';
import { freePort } from '../helpers/free-ports.ts';
import { writeFiles } from '../helpers/write-files.ts';
import { openHttp2, requestHttp1, requestHttp2, shakeHands } from '../http/tls/tls-client.ts';
import { bundle, folderOf } from './bundles.ts';
import { JOBS, KEYS, organizations, SITE } from './export-service.ts';

const bench = openBench(afterEach);
const TOKEN = 'a-long-random-token';
const TLS = { certFile: 'tls.crt', keyFile: 'tls.key' };

const pairOf = (...names: string[]): TestPair => makeCertificate({ names: [...names, '127.0.0.1'] });

async function putPair(folder: string, { cert, key }: TestPair): Promise<void> {
  for (const [name, text] of [
    ['tls.crt', cert],
    ['tls.key', key],
  ] as const) {
    await writeFile(join(folder, `.${name}`), text);
    await rename(join(folder, `.${name}`), join(folder, name));
  }
}

/** Starts a daemon with one version, and a certificate for `first.test`. */
async function start(config: ConfigFile): Promise<{ folder: string; daemon: DaemonProcess }> {
  const folder = await bench.folder();
  await folderOf(join(folder, 'bundles'), { 'docs-2024-06-01.tar.gz': bundle('june') });
  await putPair(folder, pairOf('first.test'));
  const daemon = await bench.start({ staticExport: {}, ...config }, { folder });
  return { folder, daemon };
}

const portOf = (url: string): number => Number(new URL(url).port);

async function nameAt(port: number): Promise<string> {
  const socket = await shakeHands(port);
  const name = socket.getPeerCertificate().subject.CN;
  socket.destroy();
  return String(name);
}

describe('a site with TLS', () => {
  test('loads a new certificate without a restart, but keeps the old certificate and reports an error if the new key does not match', async () => {
    const { folder, daemon } = await start({ server: { tls: TLS } });
    expect(daemon.site).toMatch(/^https:/);
    await daemon.untilServing('2024-06-01');
    const port = portOf(daemon.site);
    const until = { isOver: false };
    const send = async (): Promise<number> => {
      let count = 0;
      const session = openHttp2(port);
      for (; !until.isOver; count++) {
        for (const told of [await requestHttp1(port, {}), await requestHttp2(session, {})]) {
          expect(told).toMatchObject({ status: 200, body: expect.stringContaining('june') });
        }
      }
      session.destroy();
      return count;
    };
    const pending = [send(), send()];
    for (const name of ['second.test', 'third.test']) {
      await putPair(folder, pairOf(name));
      await expect.poll(() => nameAt(port)).toBe(name);
    }
    await daemon.until(({ lastReload }) => lastReload?.ok === true);
    await writeFile(join(folder, 'tls.key'), pairOf('other.test').key);
    // A file can be empty while it is written.
    const { notices } = await daemon.until(
      ({ lastReload }) => lastReload?.error?.includes('is the key of another certificate') === true,
    );
    expect(notices.join()).toContain('is the key of another certificate');
    expect(await (await fetch(`${daemon.admin}/metrics`)).text()).toContain(
      'docshelf_config_last_reload_successful 0\n',
    );
    expect(await nameAt(port)).toBe('third.test');
    await putPair(folder, pairOf('fourth.test'));
    await daemon.until((status) => status.lastReload?.ok === true);
    expect(await nameAt(port)).toBe('fourth.test');
    until.isOver = true;
    for (const count of await Promise.all(pending)) expect(count).toBeGreaterThan(0);
    const metrics = await (await fetch(`${daemon.admin}/metrics`)).text();
    const [, end] =
      /^docshelf_tls_certificate_expiry_timestamp_seconds\{setting="server\.tls\.certFile"\} (\S+)$/m.exec(metrics) ??
      [];
    expect(Math.round((Number(end) * 1000 - Date.now()) / 86_400_000)).toBe(90);
    const idle = openHttp2(port);
    await requestHttp2(idle, {});
    expect(await daemon.stop()).toBe(0);
  });

  test('sends Strict-Transport-Security if hsts is set, and warns about a certificate that expires soon', async () => {
    const { folder, daemon } = await start({ server: { tls: { ...TLS, redirectPort: 0, hsts: '30d' } } });
    const soon = new Date(Date.now() + 3 * 86_400_000);
    await putPair(folder, makeCertificate({ names: ['soon.test', '127.0.0.1'], notAfter: soon }));
    const { notices } = await daemon.until((status) => status.notices.length > 0);
    expect(notices).toEqual([expect.stringMatching(/^The certificate ".*tls\.crt" expires on \d{4}-\d\d-\d\d\. /)]);
    const config = ['--config', daemon.configFile];
    const checked = await runDocshelf(['config', 'check', '--json', ...config], { cwd: folder });
    expect(checked.json<{ warnings: string[] }>().warnings).toEqual(notices);
    const doctor = await runDocshelf(['doctor', '--json', ...config], { cwd: folder });
    expect(doctor.json<{ checks: object[] }>().checks).toContainEqual(
      expect.objectContaining({ check: 'certificate', subject: 'server.tls.certFile', state: 'warning' }),
    );
    expect((await requestHttp1(portOf(daemon.site), {})).headers).toMatchObject({
      'strict-transport-security': 'max-age=2592000',
    });
  });
});

test('commands reach an admin listener with TLS', async () => {
  const { folder, daemon } = await start({ admin: { token: TOKEN, tls: TLS } });
  expect(daemon.admin).toMatch(/^https:/);
  const config = ['--config', daemon.configFile];
  const health = await runDocshelf(['healthcheck', '--live', ...config], { cwd: folder });
  expect(health.code).toBe(0);
  const reload = await runDocshelf(['reload', '--admin-url', daemon.admin, ...config], { cwd: folder });
  expect([reload.code, reload.stderr]).toEqual([0, '']);
  const doctor = await runDocshelf(['doctor', '--json', ...config], { cwd: folder });
  expect(JSON.stringify(doctor.json())).not.toContain('Cannot reach the daemon');
  // A client that does not trust the certificate sends no token.
  const stranger = await bench.folder();
  await bench.writeConfig(stranger, { admin: { token: TOKEN } });
  const refused = await runDocshelf(['reload', '--admin-url', daemon.admin], { cwd: stranger });
  expect([refused.code, refused.stderr]).toEqual([
    69,
    expect.stringContaining('docshelf does not trust the certificate of the daemon'),
  ]);
});

test('clients search, export and fetch bundles at an API listener with TLS, with HTTP/1.1 and HTTP/2', async () => {
  const port = await freePort();
  const { folder, daemon } = await start({
    deployment: { domain: 'acme' },
    staticExport: { enabled: true },
    api: { port, tls: TLS },
    search: {},
    exportApi: { enabled: true },
    organizations: organizations(),
  });
  await daemon.until(({ search }) => search?.keyword === 'ready');
  const session = openHttp2(port);
  bench.onEnd(() => session.destroy());
  const json = (key: string) => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' });
  const query = { method: 'POST', path: '/v1/search/acme', body: JSON.stringify({ query: 'june' }) };
  const found = await requestHttp1(port, { ...query, headers: json(KEYS.acmeAssistant) });
  expect(found).toMatchObject({ status: 200, body: expect.stringContaining('june') });
  const again = await requestHttp2(session, { ...query, headers: json(KEYS.acmeAssistant) });
  expect([again.status, again.body]).toEqual([200, found.body]);
  expect(await requestHttp2(session, { ...query, headers: json('svc_dsc_unknown') })).toMatchObject({ status: 401 });

  await writeFiles(join(folder, 'site'), SITE);
  const headers = json(KEYS.acme);
  const order = { method: 'POST', path: JOBS, headers, body: JSON.stringify({ domain: 'acme' }) };
  const begun = await requestHttp2(session, order);
  const { jobId } = JSON.parse(begun.body);
  const jobStatus = async () =>
    JSON.parse((await requestHttp1(port, { path: `${JOBS}/${jobId}`, headers })).body).status;
  await expect.poll(jobStatus).toBe('completed');
  const { body } = await requestHttp1(port, { method: 'POST', path: `${JOBS}/${jobId}/bundle`, headers });
  const { bundleUrl, sizeBytes } = JSON.parse(body);
  const link = new URL(bundleUrl);
  expect(link.origin).toBe(`https://127.0.0.1:${port}`);
  const { status, headers: sent } = await requestHttp1(port, { method: 'HEAD', path: link.pathname + link.search });
  expect([status, sent['content-length']]).toEqual([200, String(sizeBytes)]);

  await putPair(folder, pairOf('second.test'));
  await expect.poll(() => nameAt(port)).toBe('second.test');
});
