import { Agent, type IncomingHttpHeaders, request } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Bytes as sent, without decoding. */
  readonly body: Buffer;
}

const REQUEST_MS_MAX = 30_000;

/**
 * Requests exact bytes of a site: adds no headers, decodes nothing, follows no redirects, and reuses connections. A body that is
 * shorter than its Content-Length fails.
 */
export class SiteClient {
  readonly #origin: string;
  readonly #agent: Agent;

  constructor(origin: string, connectionsMax = 16) {
    this.#origin = origin;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connectionsMax });
  }

  /** @param target of the request line */
  get(target: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { hostname, port } = new URL(this.#origin);
      const sent = request(
        { hostname, port, path: target, headers, agent: this.#agent, timeout: REQUEST_MS_MAX },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) });
          });
        },
      );
      sent.on('timeout', () => sent.destroy(new Error(`no answer to ${target} within ${REQUEST_MS_MAX} ms`)));
      sent.on('error', (error) => reject(Object.assign(error, { isReused: sent.reusedSocket })));
      sent.end();
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Address of a file, as a browser writes it. */
export function addressOf(path: string): string {
  return `/${path.split('/').map(encodeURIComponent).join('/')}`;
}
