import { afterEach, describe, expect, test } from 'vitest';
import { BUCKET, KEY, putObject, type S3Server, startS3Server } from '../export/stores/s3-server.ts';
import { faultOf, openBench } from '../helpers/daemon.ts';
import { bundle } from './bundles.ts';

const bench = openBench(afterEach);
const KEYS = { AWS_ACCESS_KEY_ID: KEY, AWS_SECRET_ACCESS_KEY: KEY };

async function startStore(): Promise<S3Server> {
  const server = await startS3Server();
  return server;
}

describe('a bundle in a bucket', () => {
  test('is served by two replicas with the same config, which both replace the bundle after a reload', async () => {
    const { endpoint } = await startStore();
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

  test('causes a one-sentence error if the credentials are wrong, and is imported with valid credentials', async () => {
    const { endpoint } = await startStore();
    await putObject(endpoint, 'acme-export-2024-06-01.tar.gz', bundle('one'));
    const folder = await bench.folder();
    await bench.writeConfig(folder, { network: { proxy: 'off', retries: 0, s3: { endpoint, pathStyle: true } } });
    const link = `s3://${BUCKET}/acme-export-2024-06-01.tar.gz`;
    const importWith = (env: Record<string, string>) =>
      bench.run(['bundle', 'import', link, '--json'], { cwd: folder, env });
    const refused = await importWith({ ...KEYS, AWS_SECRET_ACCESS_KEY: 'c4n4ry' });
    expect(faultOf(refused)).toMatchObject({
      exit: 69,
      code: 'link_refused',
      error: `Cannot fetch "${link}": the store does not accept the credentials (403 SignatureDoesNotMatch)`,
    });
    expect(refused.stdout + refused.stderr).not.toContain('c4n4ry');
    expect(faultOf(await importWith(KEYS))).toMatchObject({
      exit: 0,
      version: '2024-06-01',
      activated: true,
    });
  });
});
