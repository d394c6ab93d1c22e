import type { HttpClient } from '../adapters/http-client.ts';
import type { Config } from '../config/index.ts';
import type { BundleSource } from '../deploy/ports.ts';

/** Every place that bundles come from, by the link's scheme. Loaded when the first bundle is fetched. */
export async function openSources({ network }: Config, client: HttpClient): Promise<readonly BundleSource[]> {
  const [{ FileBundleSource }, { HttpBundleSource }, { OciBundleSource }] = await Promise.all([
    import('../adapters/file-bundle-source.ts'),
    import('../adapters/http-bundle-source.ts'),
    import('../adapters/oci-bundle-source.ts'),
  ]);
  return [new FileBundleSource(), new HttpBundleSource(client), new OciBundleSource(client, network.registryAuthFile)];
}
