import { expect, it, onTestFinished } from 'vitest';
import { openSources } from '../../src/app/sites/open-shelf.ts';
import type { Config } from '../../src/config/index.ts';
import { LINK_SCHEMES } from '../../src/domain/bundle-link.ts';
import { linkWithoutSecrets, Secret } from '../../src/domain/secret.ts';
import { httpClientOf } from '../net/http-client-of.ts';

it.each(Object.keys(LINK_SCHEMES))(
  'openSources() opens exactly one source for links of the scheme %s',
  async (scheme) => {
    const client = httpClientOf({});
    onTestFinished(() => client.close());
    const network = {
      registryAuthFile: null,
      tokenHosts: [],
      fileRoots: [],
      s3: { accessKeyFile: null, region: null },
    };
    const sources = await openSources({ network } as unknown as Config, client, ['bundles']);
    const link = new Secret(`${scheme}://host.example/folder/bundle.tar.gz`);
    expect(sources.filter(({ links }) => links.test(link.reveal()))).toHaveLength(1);
  },
);

it.each(Object.keys(LINK_SCHEMES))(
  'linkWithoutSecrets() hides the secret parts of a link of the scheme %s',
  (scheme) => {
    const shown = linkWithoutSecrets(`${scheme}://user:hidden@host.example/folder/bundle.tar.gz?hidden#hidden`);
    expect(shown).not.toContain('hidden');
  },
);

it.each(['data:application/gzip;base64,hidden', 'oci:user:hidden@host.example/acme', 'data:/hidden'])(
  'linkWithoutSecrets() shows only the scheme of the link %s, which has no host',
  (link) => {
    expect(linkWithoutSecrets(link)).toBe(`${link.slice(0, link.indexOf(':'))}:[redacted]`);
  },
);
