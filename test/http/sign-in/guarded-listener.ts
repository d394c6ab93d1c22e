import { type IncomingHttpHeaders, request } from 'node:http';
import { type Listener, openListener } from '../../../src/http/listener/listener.ts';
import { guarded } from '../../../src/http/sign-in/guarded-site.ts';
import type { SignIn } from '../../../src/http/sign-in/sign-in.ts';
import { SiteAssets } from '../../../src/http/site/site-assets.ts';
import { featuresOf } from '../../helpers/features.ts';
import { releases, serve } from '../../site/helpers.ts';
import { siteApp } from '../site/site-example.ts';

/** A word in all content that only readers may see. */
export const SECRET = 'lighthouse';

export const FILES = {
  'index.html': `<!doctype html><title>${SECRET}</title><p>${SECRET}</p>`,
  'guide/index.html': `<p>${SECRET}</p>`,
  '404.html': `<p>${SECRET}</p>`,
  'app.4f3a9c1b2d.js': `/* ${SECRET} */`,
};

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface GuardedSite {
  readonly listener: Listener;
  readonly faults: unknown[];
  send(target: string, headers?: Readonly<Record<string, string | string[]>>, method?: string): Promise<Answer>;
}

/** Site with a sign-in, composed like in the daemon, on a real socket. */
export async function guardedSite(
  signIn: SignIn,
  { basePath = '/', host = '127.0.0.1' }: { basePath?: string; host?: string } = {},
): Promise<GuardedSite & AsyncDisposable> {
  const { server } = serve([releases.make(FILES)]);
  const app = siteApp({
    server,
    basePath,
    features: () => featuresOf(SECRET),
    search: async () => Response.json([{ content: SECRET }]),
  });
  const faults: unknown[] = [];
  const reports = { answer: async () => new Response(null, { status: 204 }) };
  const answer = guarded(
    { signIn, basePath, reports, assets: new SiteAssets(), onFault: (error) => faults.push(error) },
    app.fetch,
  );
  const listener = await openListener({ name: 'site', fetch: answer, host, port: 0 });
  return {
    listener,
    faults,
    send: (target, headers = {}, method = 'GET') => send(listener.port, target, headers, method),
    [Symbol.asyncDispose]: () => listener.stop(0),
  };
}

export function send(
  port: number,
  path: string,
  headers: Readonly<Record<string, string | string[]>> = {},
  method = 'GET',
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, headers, method, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const body = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
      });
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end();
  });
}

export const basic = (name: string, password: string): string =>
  `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
