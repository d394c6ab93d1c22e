import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { openBench } from '../helpers/daemon.ts';
import { setClock, withClock } from '../helpers/shifted-clock.ts';
import { problemOf, startExporter } from './export-service.ts';

const bench = openBench(afterEach);

test('a bundle link of the export API expires after linkTtl, starts with api.publicUrl if this key is set, and is never logged', async () => {
  const publicUrl = 'https://api.example/docs';
  const clock = join(await bench.folder(), 'clock');
  const service = await startExporter(bench, { exportApi: { linkTtl: '1m' } }, { env: withClock(clock) });
  const { jobId } = await service.export();
  const { bundleUrl, expiresAt } = await service.bundle(jobId);
  expect(new URL(bundleUrl).origin).toBe(service.origin);
  expect(Date.parse(expiresAt) - Date.now()).toBeLessThanOrEqual(61_000);
  expect((await fetch(bundleUrl)).status).toBe(200);
  setClock(clock, 62_000);
  expect((await problemOf(await fetch(bundleUrl))).error).toContain(expiresAt);

  await service.daemon.rewriteConfig({ api: { publicUrl }, exportApi: { linkTtl: '7d' } });
  await service.daemon.until(({ lastReload }) => lastReload?.ok === true);
  const proxied = await service.bundle(jobId);
  expect(proxied.bundleUrl.startsWith(`${publicUrl}/v1/bundles/`)).toBe(true);
  expect(Date.parse(proxied.expiresAt) - Date.now()).toBeGreaterThan(6 * 86_400_000);
  expect((await fetch(proxied.bundleUrl.replace(publicUrl, service.origin))).status).toBe(200);
  expect(service.daemon.log()).not.toContain(new URL(bundleUrl).searchParams.get('signature'));
});
