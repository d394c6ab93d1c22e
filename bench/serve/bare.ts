import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A node:http server that only sends responses recorded from docshelf: the upper bound of servers on Node. Arguments: origin of
 * docshelf, then JSON of `[target, request headers][]`. Prints its port.
 */

const [origin = '', asked = '[]'] = process.argv.slice(2);
/** Node writes these itself. */
const CONNECTION_HEADERS = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding']);

interface Prepared {
  readonly status: number;
  readonly headers: string[];
  readonly body: Buffer;
}

async function prepare(target: string, headers: Record<string, string>): Promise<Prepared> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${origin}${target}`, { headers }, resolve).on('error', reject);
  });
  const kept = answer.rawHeaders.filter((_, at, all) => {
    return !CONNECTION_HEADERS.has((all[at - (at % 2)] ?? '').toLowerCase());
  });
  return { status: answer.statusCode ?? 0, headers: kept, body: Buffer.concat(await answer.toArray()) };
}

const answers = new Map<string, Prepared>();
for (const [target, headers] of JSON.parse(asked) as [string, Record<string, string>][]) {
  answers.set(target, await prepare(target, headers));
}

const server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
  const prepared = answers.get(request.url ?? '');
  if (prepared === undefined) {
    response.writeHead(500).end();
    return;
  }
  response.writeHead(prepared.status, prepared.headers);
  if (prepared.body.length === 0) response.end();
  else response.end(prepared.body);
});
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
