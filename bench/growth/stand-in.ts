import { hash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

const DIMS = 384;

/** An endpoint instead of a model: vectors from a text's digest, at almost no cost. */
export async function startStandIn(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      const data = (body as { input: string[] }).input.map((text, index) => ({ index, embedding: vectorOf(text) }));
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ data }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/embeddings`,
    close: () => server.close(),
  };
}

function vectorOf(text: string): number[] {
  const bytes = hash('sha256', text, 'buffer');
  return Array.from({ length: DIMS }, (_, at) => ((bytes[at % bytes.length] ?? 0) ^ (at & 0xff)) - 127);
}
