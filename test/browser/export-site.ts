import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChromiumSession, type ChromiumSettings } from '../../src/crawl/browser/chromium-session.ts';
import type { FetchedAnswer } from '../../src/crawl/fetcher.ts';
import type { AnswerRequest, BrowserPage, PageRequest } from '../../src/crawl/render/rendered-page.ts';
import { DocshelfError } from '../../src/domain/errors.ts';
import { EgressPolicy } from '../../src/net/egress.ts';
import { untilAborted } from '../helpers/until-aborted.ts';
import { egressRulesOf } from '../net/http-client-of.ts';
import { hasChromium } from './reader.ts';

export const ORIGIN = 'https://site.test';

/** Response of a path: text of a page, or status, headers and body. */
export type Answers = Readonly<
  Record<
    string,
    | string
    | {
        readonly status?: number;
        readonly headers?: Readonly<Record<string, string>>;
        readonly body?: string | Uint8Array;
      }
  >
>;

/** In-memory site that records its requests. */
export class MemorySite {
  readonly requests: PageRequest[] = [];
  readonly #answers: Answers;

  /** @param answers by path of ORIGIN, or by complete URL */
  constructor(answers: Answers) {
    this.#answers = answers;
  }

  readonly answer: AnswerRequest = async (request, signal) => {
    this.requests.push(request);
    const { origin, pathname, search, href } = new URL(request.url);
    const found = this.#answers[href] ?? (origin === ORIGIN ? this.#answers[pathname + search] : undefined);
    if (found === undefined && origin !== ORIGIN) {
      throw new DocshelfError('address_not_allowed', `Cannot fetch "${href}": there is no other host`);
    }
    if (found === 'never') {
      return untilAborted(signal);
    }
    const {
      status = 200,
      headers = {},
      body = '',
    } = found === undefined ? { status: 404, body: 'not found' } : typeof found === 'string' ? { body: found } : found;
    return answerOf(status, { 'content-type': typeOf(pathname), ...headers }, body);
  };

  get requestedPaths(): string[] {
    return this.requests.map(({ url }) => url.replace(ORIGIN, ''));
  }
}

export function answerOf(
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array,
): FetchedAnswer {
  return {
    status,
    header: (name) => headers[name] ?? null,
    body: typeof body === 'string' ? Buffer.from(body) : body,
  };
}

function typeOf(path: string): string {
  if (path.endsWith('.js')) return 'text/javascript';
  if (path.endsWith('.css')) return 'text/css';
  if (path.endsWith('.json')) return 'application/json';
  if (path.endsWith('.png')) return 'image/png';
  return 'text/html; charset=utf-8';
}

/** Picture of one pixel. */
export const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** Browsers of one test file. `close` ends all of them. */
export class Browsers {
  readonly #closing: (() => Promise<void>)[] = [];

  async open(answer: AnswerRequest, settings: Partial<ChromiumSettings> = {}): Promise<ChromiumSession> {
    const tempDir = settings.tempDir ?? (await this.folder());
    const all: ChromiumSettings = {
      policy: new EgressPolicy(egressRulesOf()),
      env: process.env,
      // Tests may run in a container, where Chromium cannot create its sandbox.
      sandbox: 'off',
      tempDir,
      tabs: 4,
      pageTimeoutMs: 20_000,
      ...settings,
    };
    const session = await ChromiumSession.open(all, answer);
    this.#closing.push(() => session.close());
    return session;
  }

  /** Creates a folder that is removed after the browsers have ended. */
  async folder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'docshelf-browser-'));
    this.#closing.unshift(() => rm(folder, { recursive: true, force: true }));
    return folder;
  }

  async close(): Promise<void> {
    for (const close of this.#closing.reverse()) await close();
  }
}

export async function renderPath(session: ChromiumSession, path: string): Promise<BrowserPage> {
  return session.render(ORIGIN + path, { signal: AbortSignal.timeout(60_000), withScreenshot: false });
}

export { hasChromium };
