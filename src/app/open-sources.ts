import type { Config } from '../config/index.ts';
import type { BundleSource } from '../deploy/ports.ts';
import type { HttpClient } from '../net/http-client.ts';

/** Loaded when the first bundle is fetched. */
export async function openSources({ network }: Config, client: HttpClient): Promise<readonly BundleSource[]> {
  const [{ FileBundleSource }, { HttpBundleSource }, { OciBundleSource }] = await Promise.all([
    import('../deploy/sources/file-bundle-source.ts'),
    import('../deploy/sources/http-bundle-source.ts'),
    import('../deploy/sources/oci-bundle-source.ts'),
  ]);
  return [new FileBundleSource(), new HttpBundleSource(client), new OciBundleSource(client, network.registryAuthFile)];
}
