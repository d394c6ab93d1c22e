import { expect, it } from 'vitest';
import { Network } from '../../src/app/network.ts';
import { load } from '../config/folder.ts';

const configOf = async (yaml: string) => (await load(yaml)).config;

it("the store's gate follows a reload: it lives as long as the daemon", async () => {
  const network = new Network(await configOf('network: { allowedHosts: [s3.one.dev] }'));
  const policy = (await network.policy()).forStore(() => null);
  const refused = (host: string) => policy.refusalOf(new URL(`https://${host}/`)) !== null;
  expect([refused('s3.one.dev'), refused('s3.two.dev')]).toEqual([false, true]);
  network.useConfig(await configOf('network: { allowedHosts: [s3.two.dev] }'));
  expect([refused('s3.one.dev'), refused('s3.two.dev')]).toEqual([true, false]);
  network.useOwnPorts([9090]);
  expect(policy.allowsAddress('127.0.0.1', 'localhost', 9090)).toBe(false);
  network.useConfig(await configOf('deployment: { type: air-gapped }'));
  expect(refused('s3.two.dev')).toBe(true);
});
