import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ociBundleSource } from '../../../src/deploy/sources/oci-bundle-source.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { httpServer } from '../../helpers/local-server.ts';
import { newFolder } from '../../helpers/new-folder.ts';
import { httpClientOf } from '../../net/http-client-of.ts';

/** A registry with the token server `realm`, and the requests to it. */
async function pull(realmOf: (port: string) => string, tokenHosts: (host: string) => string[]) {
  const folder = newFolder();
  const realm = await httpServer((_, response) => response.writeHead(401).end());
  const address = realmOf(realm.host.split(':')[1] ?? '');
  const registry = await httpServer((_, response) =>
    response.writeHead(401, { 'www-authenticate': `Bearer realm="${address}",service="s"` }).end(),
  );
  const authFile = join(folder, 'docker.json');
  await writeFile(authFile, JSON.stringify({ auths: { [registry.host]: { username: 'u', password: 'c4n4ry' } } }));
  const source = ociBundleSource(httpClientOf(), { authFile, tokenHosts: tokenHosts(new URL(address).host) });
  const error = await source
    .open(new Secret(`oci://${registry.host}/acme:v1`), { resume: null, signal: new AbortController().signal })
    .then(
      () => null,
      (thrown: { code: string; next: string }) => thrown,
    );
  return { error, authorizations: realm.requests.map(({ headers }) => headers.authorization) };
}

const BASIC = `Basic ${Buffer.from('u:c4n4ry').toString('base64')}`;

test('credentials of a registry are not sent to a realm on another host, and the error names network.tokenHosts', async () => {
  const { error, authorizations } = await pull(
    (port) => `http://localhost:${port}/token`,
    () => [],
  );
  expect(error).toMatchObject({ code: 'link_refused', next: expect.stringContaining('network.tokenHosts') });
  expect(authorizations).toEqual([]);
});

test.each<[string, (port: string) => string, (host: string) => string[]]>([
  ['on the host of the registry', (port) => `http://127.0.0.1:${port}/token`, () => []],
  ['that network.tokenHosts names', (port) => `http://localhost:${port}/token`, () => ['LOCALHOST']],
  ['that network.tokenHosts names with its port', (port) => `http://localhost:${port}/token`, (host) => [host]],
])('credentials of a registry are sent only to a trusted realm: a realm %s', async (_, realmOf, tokenHosts) => {
  const { authorizations } = await pull(realmOf, tokenHosts);
  expect(authorizations).toEqual([BASIC]);
});
