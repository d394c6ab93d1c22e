import { bundleAnswer, httpServer, type LocalServer } from '../helpers/local-server.ts';
import { sha256Of } from './bundles.ts';

/** Server that responds to each path with its bundle. Later changes of the record take effect. */
export async function startOrigin(bundles: Readonly<Record<string, Uint8Array>>): Promise<LocalServer> {
  return httpServer((request, response) => {
    const bytes = bundles[(request.url ?? '').split('?')[0] ?? ''];
    if (bytes === undefined) response.writeHead(404).end();
    else bundleAnswer(bytes, `"${sha256Of(bytes).slice(0, 12)}"`)(request, response);
  });
}
