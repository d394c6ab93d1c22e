import type { Config } from '../config/index.ts';
import type { BundleSource } from '../deploy/ports.ts';
import { ExportService } from '../deploy/sources/exports/export-service.ts';
import { HttpBundleSource } from '../deploy/sources/http-bundle-source.ts';
import type { Secret } from '../domain/secret.ts';
import { Network } from './network.ts';

/** The client of a static export service for one command, and the way to the bundles that it links to. */
export async function openExportService(
  config: Config,
  at: { readonly apiUrl: string; readonly key: Secret },
): Promise<{
  readonly service: ExportService;
  readonly sources: readonly BundleSource[];
  close(): Promise<void>;
}> {
  const network = new Network(config);
  const client = await network.client();
  return {
    service: new ExportService(client, at),
    sources: [new HttpBundleSource(client)],
    close: () => network.close(),
  };
}
