import { mkdir } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { Network } from '../../src/app/network.ts';
import { SignIns } from '../../src/app/sites/sign-ins.ts';
import { load } from '../config/folder.ts';
import { TestIdentityProvider } from '../helpers/identity-provider.ts';

it('a daemon requests the metadata of an identity provider once for all sites that use the provider', async () => {
  const provider = await TestIdentityProvider.start();
  await provider.serve();
  const auth = (clientId: string): string => `{ kind: oidc, issuer: "${provider.issuer}", clientId: ${clientId} }`;
  const yaml = (clientId: string): string => `server: { publicUrl: "http://127.0.0.1:1", auth: ${auth(clientId)} }`;
  const { config } = await load(yaml('one'));
  const network = new Network(() => config);
  const signIns = new SignIns(network);
  const headers = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', accept: 'text/html' };
  const incoming = { method: 'GET', headers } as unknown as IncomingMessage;
  const begin = async (clientId: string): Promise<string> => {
    const { config } = await load(yaml(clientId));
    await mkdir(config.storage.dir);
    const place = { config, site: clientId, hosts: [], basePath: '/' };
    const signIn = signIns.open(place, { onWrong: () => undefined, onRefused: () => undefined });
    const answer = await signIn?.admit(incoming, '/');
    return new URL(answer?.headers.get('location') ?? '').searchParams.get('client_id') ?? '';
  };
  expect(await Promise.all(['one', 'two', 'one'].map(begin))).toEqual(['one', 'two', 'one']);
  expect(provider.requests).toEqual(['GET /.well-known/openid-configuration']);
  await Promise.all([signIns.end(), network.close(), provider.close()]);
});
