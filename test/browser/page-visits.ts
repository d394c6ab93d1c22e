import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { sideBySide } from '../helpers/side-by-side.ts';

/** A page to open, and the links to click on it. */
export interface Stop {
  readonly address: string;
  /** Index among the page's `a` elements, or null. */
  readonly link: number | null;
}

/** Observations of an open page. */
export interface PageVisit {
  /** Visible text. */
  readonly text: string;
  /** Addresses of the site with an error: path and query. */
  readonly failed: readonly string[];
  /** Hosts outside the site that were requested without success. */
  readonly outside: readonly string[];
  /** Console messages of level error, and uncaught errors. */
  readonly complaints: readonly string[];
}

const TABS = 4;
const STEP_MS_MAX = 60_000;
const LOOK_MS = 200;
const LOOKS_MAX = 20;

export const nameOf = ({ address, link }: Stop): string => (link === null ? address : `${address} link ${link}`);

/** Opens pages of a site, a few at a time, until each is idle. @returns observations by `nameOf` */
export async function visitPages(
  browser: Browser,
  origin: string,
  stops: Iterable<Stop>,
): Promise<ReadonlyMap<string, PageVisit>> {
  const visits = new Map<string, PageVisit>();
  const tabs = await Promise.all(Array.from({ length: TABS }, () => Tab.open(browser, origin)));
  const free = [...tabs];
  try {
    await sideBySide(stops, TABS, async (stop) => {
      const tab = free.pop();
      if (tab === undefined) throw new Error('more pages than tabs');
      visits.set(nameOf(stop), await tab.visit(stop));
      free.push(tab);
    });
  } finally {
    for (const tab of tabs) await tab.close();
  }
  return visits;
}

/** Joins all visits of each page: the last text, and all errors. */
export function withLaterVisits(
  first: ReadonlyMap<string, PageVisit>,
  second: ReadonlyMap<string, PageVisit>,
): ReadonlyMap<string, PageVisit> {
  const both = new Map(first);
  for (const [name, { text, ...again }] of second) {
    const before = first.get(name);
    const all = (what: 'failed' | 'outside' | 'complaints') => [...(before?.[what] ?? []), ...again[what]];
    both.set(name, { text, failed: all('failed'), outside: all('outside'), complaints: all('complaints') });
  }
  return both;
}

/** Index of the first link of a page to each address. */
export async function linksTo(
  browser: Browser,
  origin: string,
  address: string,
  wanted: ReadonlySet<string>,
): Promise<Stop[]> {
  const page = await browser.newPage();
  try {
    await page.goto(origin + address, { waitUntil: 'networkidle', timeout: STEP_MS_MAX });
    const hrefs = await page.evaluate(() =>
      Array.from(document.querySelectorAll('a'), ({ href, target }) => (target === '' ? href : '')),
    );
    const places = new Map<string, number>();
    for (const [place, href] of hrefs.entries()) {
      const { origin: host, pathname } = URL.parse(href) ?? { origin: '', pathname: '' };
      if (host === origin && pathname !== address && wanted.has(pathname) && !places.has(pathname))
        places.set(pathname, place);
    }
    return [...places.values()].map((link) => ({ address, link }));
  } finally {
    await page.close();
  }
}

/** A page with a separate browser profile. */
class Tab {
  readonly #page: Page;
  readonly #origin: string;
  #failed = new Set<string>();
  #outside = new Set<string>();
  #complaints = new Set<string>();

  private constructor(page: Page, origin: string) {
    this.#page = page;
    this.#origin = origin;
  }

  static async open(browser: Browser, origin: string): Promise<Tab> {
    const context = await browser.newContext();
    const tab = new Tab(await context.newPage(), origin);
    tab.#page.setDefaultTimeout(STEP_MS_MAX);
    tab.#watch();
    return tab;
  }

  async visit({ address, link }: Stop): Promise<PageVisit> {
    const [failed, outside, complaints] = [new Set<string>(), new Set<string>(), new Set<string>()];
    this.#failed = failed;
    this.#outside = outside;
    this.#complaints = complaints;
    await this.#page.goto(this.#origin + address, { waitUntil: 'load' });
    await this.#page.waitForLoadState('networkidle');
    if (link !== null) await this.#click(link);
    const text = (await this.#settledText()).replaceAll(this.#origin, '');
    return { text, failed: [...failed], outside: [...outside], complaints: [...complaints] };
  }

  close(): Promise<void> {
    return this.#page.context().close();
  }

  /** Clicks by script, because menus hide links. Waits for the next page, however it is loaded. */
  async #click(link: number): Promise<void> {
    const before = new URL(this.#page.url()).pathname;
    await Promise.all([
      this.#page.waitForURL(({ pathname }) => pathname !== before, { waitUntil: 'load' }),
      this.#page.evaluate((place) => document.querySelectorAll('a')[place]?.click(), link),
    ]);
    await this.#page.waitForLoadState('networkidle');
  }

  /** Text of the page after it stays the same, because scripts still run after the last response. */
  async #settledText(): Promise<string> {
    let text = '';
    for (let look = 0; look < LOOKS_MAX; look += 1) {
      const before = text;
      text = await this.#page.evaluate(() => document.body.innerText);
      if (text === before && look > 0) break;
      await sleep(LOOK_MS);
    }
    return text;
  }

  #watch(): void {
    this.#page.on('request', (request) => {
      const { origin, protocol, host } = new URL(request.url());
      if (protocol.startsWith('http') && origin !== this.#origin) this.#outside.add(host);
    });
    this.#page.on('requestfailed', (request) => {
      const why = request.failure()?.errorText ?? 'failed';
      // Pages abort some requests themselves. Next.js cancels its HEAD requests after the headers.
      if (why !== 'net::ERR_ABORTED') this.#fail(request.url());
    });
    this.#page.on('response', (response) => {
      if (response.status() >= 400) this.#fail(response.url());
    });
    this.#page.on('pageerror', (error) => this.#complain(String(error)));
    this.#page.on('console', (message) => {
      // Failed requests are already in `failed` or `outside`.
      const isAboutLoading = message.text().startsWith('Failed to load resource');
      if (message.type() === 'error' && !isAboutLoading) this.#complain(message.text());
    });
  }

  #fail(url: string): void {
    const { origin, pathname, search } = new URL(url);
    if (origin === this.#origin) this.#failed.add(pathname + search);
  }

  #complain(text: string): void {
    this.#complaints.add(text.replaceAll(this.#origin, ''));
  }
}
