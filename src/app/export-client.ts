import type { Config } from '../config/index.ts';
import { ExportServiceClient, type ExportServiceSettings } from '../deploy/sources/export-service.ts';
import { httpBundleSource } from '../deploy/sources/http-bundle-source.ts';
import { Network } from './network.ts';

export type ServiceAddress = ExportServiceSettings;

export type OpenExportService = Awaited<ReturnType<typeof openExportService>>;

export async function openExportService(config: Config, at: ServiceAddress) {
  const network = new Network(() => config);
  const client = await network.client();
  return {
    service: new ExportServiceClient(client, at),
    sources: [httpBundleSource(client)],
    [Symbol.asyncDispose]: () => network.close(),
  };
}
