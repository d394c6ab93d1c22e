import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterEach, beforeAll } from 'vitest';
import { type ListenerOptions, openListener } from '../../src/http/listener/listener.ts';
import { onFileEnd } from '../helpers/file-end.ts';

/**
 * Path of the browser. Readers may use the headless shell, which takes 40 % of the processor time. Crawls need the complete
 * Chromium, because the shell opens each window that a script requests.
 */
export const executablePath = process.env.DOCSHELF_TEST_READER ?? process.env.DOCSHELF_CHROMIUM ?? '/usr/bin/chromium';

export const hasChromium = existsSync(executablePath);

/** Suffix for the name of a skipped suite. */
export const whyNoChromium = hasChromium
  ? ''
  : ` (skipped: there is no Chromium at ${executablePath}; DOCSHELF_CHROMIUM names another)`;

/** No sandbox, because tests may run as root in a container. No requests to the vendor. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Starts a listener with this app until the end of the file. @returns its origin */
export async function listenWith({ fetch }: { readonly fetch: ListenerOptions['fetch'] }): Promise<string> {
  const listener = await openListener({ name: 'admin', host: '127.0.0.1', port: 0, fetch });
  onFileEnd(() => listener.stop(0));
  return listener.url;
}

const STEP_MS_MAX = 60_000;
const MARK = 'docshelfMark';
/** Chromium does not know this directive, but `features.enforce` sends it for browsers that do. */
const NO_WEBRTC = "Unrecognized Content-Security-Policy directive 'webrtc'.";

/** Starts Chromium until the end of the file. @param more additional arguments @param program command that starts the browser */
export async function launchChromium(more: readonly string[] = [], program = executablePath): Promise<Browser> {
  const browser = await chromium.launch({ executablePath: program, args: [...ARGUMENTS, ...more] });
  onFileEnd(() => browser.close());
  return browser;
}

/** Launches Chromium for a suite. The pages that `open` returns are closed after each test. */
export function useChromium() {
  let browser: Browser;
  const readers: Reader[] = [];
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterEach(async () => {
    for (const reader of readers.splice(0)) await reader.close();
  });
  return {
    get browser(): Browser {
      return browser;
    },
    async open(site: string, profile?: BrowserContextOptions): Promise<Reader> {
      const reader = await Reader.open(browser, site, profile);
      readers.push(reader);
      return reader;
    },
  };
}

/** Failed request. */
export interface Failure {
  /** Decoded path without a leading slash and without the query. */
  readonly path: string;
  /** Status, or the browser's reason if there is none. */
  readonly why: string;
}

/** A page with a separate browser profile. It records all errors and blocks requests that leave the site. */
export class Reader {
  readonly page: Page;
  readonly site: string;
  /** Requests to the site that failed or returned 400 and more. The browser's messages about them are omitted. */
  readonly failures: Failure[] = [];
  /** Other console messages of level error, and uncaught errors. */
  readonly complaints: string[] = [];
  /** Blocked addresses outside the site. */
  readonly blocked: string[] = [];

  private constructor(page: Page, site: string) {
    this.page = page;
    this.site = site;
  }

  /** @param profile window, color scheme, scripts */
  static async open(browser: Browser, site: string, profile: BrowserContextOptions = {}): Promise<Reader> {
    const context = await browser.newContext(profile);
    const page = await context.newPage();
    page.setDefaultTimeout(STEP_MS_MAX);
    const reader = new Reader(page, site);
    await context.route(
      ({ origin, protocol }) => protocol.startsWith('http') && origin !== site,
      (route) => {
        reader.blocked.push(route.request().url());
        return route.abort('blockedbyclient');
      },
    );
    reader.#watch();
    return reader;
  }

  /** Loads a document, and waits until the page is idle. */
  async load(path: string): Promise<void> {
    await this.page.goto(this.site + path, { waitUntil: 'networkidle' });
  }

  /**
   * Clicks the first link in an element with that `href`, and waits for its page. @returns true if the page's own scripts showed
   * it, false if the browser loaded a document
   */
  async follow(within: string, href: string): Promise<boolean> {
    await this.page.evaluate((mark) => Object.assign(window, { [mark]: true }), MARK);
    await this.page.locator(`${within} a[href="${href}"]`).first().click();
    await this.page.waitForURL(this.site + href, { waitUntil: 'networkidle' });
    return this.page.evaluate((mark) => mark in window, MARK);
  }

  /** Waits until the document has that title, because scripts set it after the address. */
  async untilTitled(title: string): Promise<void> {
    await this.page.waitForFunction((wanted) => document.title === wanted, title);
  }

  close(): Promise<void> {
    return this.page.context().close();
  }

  #watch(): void {
    const { origin } = new URL(this.site);
    const failed = (url: string, why: string): void => {
      const { pathname, origin: requestOrigin } = new URL(url);
      if (requestOrigin === origin) this.failures.push({ path: decodeURIComponent(pathname).slice(1), why });
    };
    this.page.on('requestfailed', (request) => {
      const why = request.failure()?.errorText ?? 'failed';
      // Pages abort some requests themselves. Next.js cancels its HEAD requests after the headers.
      if (why !== 'net::ERR_ABORTED') failed(request.url(), why);
    });
    this.page.on('response', (response) => {
      if (response.status() >= 400) failed(response.url(), String(response.status()));
    });
    this.page.on('pageerror', (error) => this.complaints.push(String(error)));
    this.page.on('console', (message) => {
      // Failed requests are already in `failures` or `blocked`.
      const isAboutLoading = message.text().startsWith('Failed to load resource');
      if (message.type() === 'error' && !isAboutLoading && message.text() !== NO_WEBRTC) {
        this.complaints.push(message.text());
      }
    });
  }
}
