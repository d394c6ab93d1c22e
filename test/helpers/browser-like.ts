import { type IncomingHttpHeaders, request } from 'node:http';

export interface Visit {
  readonly url: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Cookie {
  readonly value: string;
  readonly path: string;
}

const REDIRECTS_MAX = 20;

/** Handles cookies, redirects, and the headers of a navigation like a browser, but sends addresses unchanged. */
export class BrowserLike {
  readonly #jars = new Map<string, Map<string, Cookie>>();
  /** Addresses of the last visit. */
  trail: string[] = [];

  async visit(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Visit> {
    this.trail = [];
    let answer = await this.send(url, headers);
    for (let count = 0; count < REDIRECTS_MAX && answer.headers.location !== undefined; count++) {
      answer = await this.send(new URL(answer.headers.location, answer.url).href, headers);
    }
    return answer;
  }

  send(url: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<Visit> {
    this.trail.push(url);
    const { origin, hostname, port, pathname } = new URL(url);
    const jar = this.#jars.get(origin) ?? new Map<string, Cookie>();
    this.#jars.set(origin, jar);
    const cookie = [...jar]
      .filter(([, { path }]) => pathname.startsWith(path))
      .map(([name, { value }]) => `${name}=${value}`);
    const own = { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    const sent = { ...own, ...(cookie.length === 0 ? {} : { cookie: cookie.join('; ') }), ...headers };
    return new Promise((resolve, reject) => {
      const sentRequest = request(
        { hostname, port, path: url.slice(origin.length), headers: sent, method, agent: false },
        (response) => {
          for (const line of response.headers['set-cookie'] ?? []) storeCookie(jar, line);
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const body = Buffer.concat(chunks).toString();
            resolve({ url, status: response.statusCode ?? 0, headers: response.headers, body });
          });
        },
      );
      sentRequest.on('error', reject);
      sentRequest.end();
    });
  }

  cookies(origin: string): ReadonlyMap<string, string> {
    return new Map([...(this.#jars.get(origin) ?? [])].map(([name, { value }]) => [name, value]));
  }
}

function storeCookie(jar: Map<string, Cookie>, line: string): void {
  const [pair = '', ...attributes] = line.split(/; */);
  const end = pair.indexOf('=');
  const name = pair.slice(0, end);
  const path = attributes.find((each) => /^path=/i.test(each))?.slice(5) ?? '/';
  const isDeleted = attributes.some((each) => /^max-age=0$/i.test(each) || /^expires=Thu, 01 Jan 1970/i.test(each));
  if (isDeleted) jar.delete(name);
  else jar.set(name, { value: pair.slice(end + 1), path });
}
