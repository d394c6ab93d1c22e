import { afterEach, expect, test } from 'vitest';
import { BUCKET, KEY, putObject, startS3Server } from '../export/stores/s3-server.ts';
import { openBench } from '../helpers/daemon.ts';
import { bundle } from './bundles.ts';

const bench = openBench(afterEach);
const KEYS = { AWS_ACCESS_KEY_ID: KEY, AWS_SECRET_ACCESS_KEY: KEY };

test('a bundle in a bucket is served by two replicas with the same config, which both replace the bundle after a reload', async () => {
  const { endpoint } = await startS3Server();
  for (const version of ['2024-06-01', '2024-07-01']) {
    await putObject(endpoint, `docs/acme-export-${version}.tar.gz`, bundle(version));
  }
  const linkTo = (version: string) => ({ bundleUrl: `s3://${BUCKET}/docs/acme-export-${version}.tar.gz` });
  const config = {
    deployment: { type: 'air-gapped' },
    staticExport: linkTo('2024-06-01'),
    network: { proxy: 'off', allowedHosts: [new URL(endpoint).host], s3: { endpoint, pathStyle: true } },
  };
  const replicas = await Promise.all([1, 2].map(() => bench.start(config, { env: KEYS })));
  await Promise.all(replicas.map((replica) => replica.untilServing('2024-06-01')));
  await Promise.all(replicas.map((replica) => replica.rewriteConfig({ staticExport: linkTo('2024-07-01') })));
  await Promise.all(replicas.map((replica) => replica.untilServing('2024-07-01')));
  for (const { site } of replicas) expect(await (await fetch(`${site}/`)).text()).toContain('2024-07-01');

  const doctor = await bench.run(['doctor', '--json'], { cwd: replicas[0]?.folder ?? '', env: KEYS });
  expect(doctor.json<{ checks: object[] }>().checks).toContainEqual(
    expect.objectContaining({ check: 'reach', state: 'ok', subject: 'staticExport.bundleUrl' }),
  );
});
