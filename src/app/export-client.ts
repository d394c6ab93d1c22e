import type { Config } from '../config/index.ts';
import type { BundleSource } from '../deploy/ports.ts';
import { ExportServiceClient, type ExportServiceSettings } from '../deploy/sources/export-service.ts';
import { HttpBundleSource } from '../deploy/sources/http-bundle-source.ts';
import { Network } from './network.ts';

export type ServiceAddress = ExportServiceSettings;

export interface OpenExportService {
  readonly service: ExportServiceClient;
  readonly sources: readonly BundleSource[];
  close(): Promise<void>;
}

export async function openExportService(config: Config, at: ServiceAddress): Promise<OpenExportService> {
  const network = new Network(config);
  const client = await network.client();
  return {
    service: new ExportServiceClient(client, at),
    sources: [new HttpBundleSource(client)],
    close: () => network.close(),
  };
}
