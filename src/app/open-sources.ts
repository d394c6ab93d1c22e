import type { Config } from '../config/index.ts';
import type { BundleSource } from '../deploy/ports.ts';
import type { HttpClient } from '../net/http-client.ts';

/** Loaded when the first bundle is fetched. @param preloads where `file:` links may lead by default */
export async function openSources(
  config: Config,
  client: HttpClient,
  preloads: readonly string[],
): Promise<readonly BundleSource[]> {
  const { registryAuthFile: authFile, tokenHosts, fileRoots, s3 } = config.network;
  const [{ FileBundleSource }, { HttpBundleSource }, { OciBundleSource }, { S3BundleSource }] = await Promise.all([
    import('../deploy/sources/file-bundle-source.ts'),
    import('../deploy/sources/http-bundle-source.ts'),
    import('../deploy/sources/oci-bundle-source.ts'),
    import('../deploy/sources/s3-bundle-source.ts'),
  ]);
  return [
    new FileBundleSource(fileRoots.length > 0 ? fileRoots : preloads),
    new HttpBundleSource(client),
    new OciBundleSource(client, { authFile, tokenHosts }),
    new S3BundleSource(client, s3),
  ];
}
