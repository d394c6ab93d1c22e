import { httpServer, type LocalServer } from '../helpers/local-server.ts';
import type { Reached, Step } from './crawl-probe.ts';
import { typeOfName } from './crawl-probe.ts';

/** The written files, as a host that knows nothing but files answers for them; types are those of the names. */
export async function dumbHostOf(files: ReadonlyMap<string, Buffer>): Promise<LocalServer> {
  return httpServer((request, response) => {
    const path = decodeURIComponent((request.url ?? '').replace(/[?#].*/, '').slice(1));
    const name = path === '' || path.endsWith('/') ? `${path}index.html` : path;
    const body = files.get(name);
    if (body === undefined) response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': typeOfName(name) }).end(body);
  });
}

/** Goes from a page to what its references lead to, and never off its host. @throws where a step leads nowhere */
export async function follow(start: string, steps: readonly Step[]): Promise<Reached> {
  const { origin } = new URL(start);
  let reached = await reach(start);
  for (const step of steps) {
    const url = step(reached);
    if (new URL(url).origin !== origin) throw new Error(`${url} is not of the export`);
    reached = await reach(url);
  }
  return reached;
}

async function reach(url: string): Promise<Reached> {
  const response = await fetch(url);
  if (response.status !== 200) throw new Error(`${url} answers ${response.status}`);
  const text = new TextDecoder().decode(await response.arrayBuffer());
  return { url: response.url + new URL(url).hash, type: response.headers.get('content-type') ?? '', text };
}
