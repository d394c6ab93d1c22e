import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

/**
 * Of the browser. A reader may have the Chromium without windows, for two fifths of the processor time; crawls have the whole one,
 * since the other opens each window that a script asks for.
 */
export const executablePath = process.env.DOCSHELF_TEST_READER ?? process.env.DOCSHELF_CHROMIUM ?? '/usr/bin/chromium';

export const hasChromium = existsSync(executablePath);

/** For the name of a suite that is skipped without it. */
export const whyNoChromium = hasChromium
  ? ''
  : ` (skipped: there is no Chromium at ${executablePath}; DOCSHELF_CHROMIUM names another)`;

/** No sandbox, since tests may run as root in a container; nothing that calls home. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const STEP_MS_MAX = 60_000;
const MARK = 'docshelfMark';
/** Chromium does not know the directive yet, and `features.enforce` sends it for browsers that do. */
const NO_WEBRTC = "Unrecognized Content-Security-Policy directive 'webrtc'.";

/** @param more arguments besides; `program`: what starts the browser in its place */
export function launchChromium(more: readonly string[] = [], program = executablePath): Promise<Browser> {
  return chromium.launch({ executablePath: program, args: [...ARGUMENTS, ...more] });
}

/** A request that did not succeed. */
export interface Failure {
  /** Decoded, without a leading slash and without the query. */
  readonly path: string;
  /** The status, or the browser's word for why there is none. */
  readonly why: string;
}

/** A page in a browser profile of its own, with an eye on all that goes wrong. Whatever leaves the site is blocked. */
export class Reader {
  readonly page: Page;
  readonly site: string;
  /** Requests to the site that failed or were answered with 400 and above; the browser's complaints of those are not kept. */
  readonly failures: Failure[] = [];
  /** What else the browser's console says at level error, and errors that nobody caught. */
  readonly complaints: string[] = [];
  /** Addresses outside the site that were asked for, and blocked. */
  readonly blocked: string[] = [];

  private constructor(page: Page, site: string) {
    this.page = page;
    this.site = site;
  }

  /** @param profile window, colour scheme, scripts */
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

  /** Loads a page as a whole, and waits until it asks for nothing more. */
  async load(path: string): Promise<void> {
    await this.page.goto(this.site + path, { waitUntil: 'networkidle' });
  }

  /**
   * Clicks the first link there with that `href`, and waits for its page.
   *
   * @returns whether the page's own scripts showed it; false where the browser loaded a document
   */
  async follow(within: string, href: string): Promise<boolean> {
    await this.page.evaluate((mark) => Object.assign(window, { [mark]: true }), MARK);
    await this.page.locator(`${within} a[href="${href}"]`).first().click();
    await this.page.waitForURL(this.site + href, { waitUntil: 'networkidle' });
    return this.page.evaluate((mark) => mark in window, MARK);
  }

  /** Waits until the document has that title: scripts set it some time after the address. */
  async untilTitled(title: string): Promise<void> {
    await this.page.waitForFunction((wanted) => document.title === wanted, title);
  }

  close(): Promise<void> {
    return this.page.context().close();
  }

  #watch(): void {
    const { origin } = new URL(this.site);
    const failed = (url: string, why: string): void => {
      const { pathname, origin: asked } = new URL(url);
      if (asked === origin) this.failures.push({ path: decodeURIComponent(pathname).slice(1), why });
    };
    this.page.on('requestfailed', (request) => {
      const why = request.failure()?.errorText ?? 'failed';
      // Aborted is what the page itself gave up: Next.js cancels its HEAD requests as soon as they are answered.
      if (why !== 'net::ERR_ABORTED') failed(request.url(), why);
    });
    this.page.on('response', (response) => {
      if (response.status() >= 400) failed(response.url(), String(response.status()));
    });
    this.page.on('pageerror', (error) => this.complaints.push(String(error)));
    this.page.on('console', (message) => {
      // What did not load is in `failures` or `blocked` already.
      const isAboutLoading = message.text().startsWith('Failed to load resource');
      if (message.type() === 'error' && !isAboutLoading && message.text() !== NO_WEBRTC) {
        this.complaints.push(message.text());
      }
    });
  }
}
