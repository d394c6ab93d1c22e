import { mkdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { Network } from '../../src/app/network.ts';
import { openNetwork } from '../../src/app/stored.ts';
import { DaemonRegistration, dataPaths } from '../../src/deploy/index.ts';
import { load } from '../config/folder.ts';
import { newFolder } from '../helpers/new-folder.ts';

const configOf = async (yaml: string) => (await load(yaml)).config;

it('the egress policy of the export store applies the settings of the last reload', async () => {
  let config = await configOf('network: { allowedHosts: [s3.one.dev] }');
  const network = new Network(() => config);
  const policy = (await network.policy()).forStore(() => null);
  const refused = (host: string) => policy.refusalOf(new URL(`https://${host}/`)) !== null;
  expect([refused('s3.one.dev'), refused('s3.two.dev')]).toEqual([false, true]);
  config = await configOf('network: { allowedHosts: [s3.two.dev] }');
  expect([refused('s3.one.dev'), refused('s3.two.dev')]).toEqual([true, false]);
  network.useOwnPorts([9090]);
  expect(policy.allowsAddress('127.0.0.1', 'localhost', 9090)).toBe(false);
  config = await configOf('deployment: { type: air-gapped }');
  expect(refused('s3.two.dev')).toBe(true);
});

it('Network.client() returns the same HTTP client until the config changes', async () => {
  let config = await configOf('');
  const network = new Network(() => config);
  const first = await network.client();
  expect(await network.client()).toBe(first);
  config = await configOf('network: { redirects: 1 }');
  expect(await network.client()).not.toBe(first);
  await network.close();
});

it('the egress policy of a command blocks the ports of the daemon that uses the same data folder', async () => {
  const dir = newFolder();
  const config = await configOf(`storage: { dir: ${dir} }`);
  const isAllowed = async (port: number) =>
    (await (await openNetwork(config)).policy()).allowsAddress('127.0.0.1', 'localhost', port);
  expect(await isAllowed(8081)).toBe(true);
  mkdirSync(dataPaths(dir).daemons, { recursive: true });
  const registration = new DaemonRegistration(dataPaths(dir));
  await registration.announce(null, null, [8081, 9091]);
  expect([await isAllowed(8081), await isAllowed(9091), await isAllowed(8082)]).toEqual([false, false, true]);
  await registration.withdraw();
  expect(await isAllowed(8081)).toBe(true);
});
