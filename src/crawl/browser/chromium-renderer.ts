import { mkdir } from 'node:fs/promises';
import type { BrowserSettings } from '../../domain/crawl.ts';
import { DocshelfError } from '../../domain/errors.ts';
import type { EgressPolicy } from '../../net/egress.ts';
import { Scheduler } from '../../threads/scheduler.ts';
import type { AnswerRequest, BrowserPage, RenderOptions, RenderSession } from '../render/rendered-page.ts';
import { ChromiumBrowser, type ChromiumSettings } from './chromium-browser.ts';
import type { ChromiumTab } from './chromium-tab.ts';

/** Starts in a row that render no page. */
const STARTS_IN_VAIN_MAX = 3;

export class ChromiumRenderer {
  readonly #settings: ChromiumSettings;

  constructor(settings: ChromiumSettings) {
    this.#settings = settings;
  }

  static async make(policy: EgressPolicy, settings: BrowserSettings, tempDir: string): Promise<ChromiumRenderer> {
    await mkdir(tempDir, { recursive: true });
    return new ChromiumRenderer({ ...settings, policy, env: process.env, tempDir });
  }

  async open(answer: AnswerRequest): Promise<RenderSession> {
    const session = new ChromiumSession(this.#settings, answer);
    await session.start();
    return session;
  }
}

class ChromiumSession implements RenderSession {
  readonly tabs: number;
  readonly #settings: ChromiumSettings;
  readonly #answer: AnswerRequest;
  readonly #idle: ChromiumTab[] = [];
  readonly #scheduler: Scheduler;
  #browser: Promise<ChromiumBrowser> | null = null;
  #startsInVain = 0;
  #isClosed = false;

  constructor(settings: ChromiumSettings, answer: AnswerRequest) {
    this.tabs = settings.tabs;
    this.#scheduler = new Scheduler(settings.tabs);
    this.#settings = settings;
    this.#answer = answer;
  }

  async start(): Promise<void> {
    await this.#living();
  }

  async render(url: string, options: RenderOptions): Promise<BrowserPage> {
    return this.#scheduler.run(async () => {
      const first = await this.#attempt(url, options);
      return first.state === 'crashed' ? this.#attempt(url, options) : first;
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const browser = await this.#browser?.catch(() => null);
    await browser?.close();
  }

  async #attempt(url: string, options: RenderOptions): Promise<BrowserPage> {
    options.signal.throwIfAborted();
    const browser = await this.#living();
    const tab = await this.#takeTab(browser);
    if (tab === null) return crashed(url);
    try {
      const page = await tab.render(url, options);
      if (page.state !== 'crashed') this.#startsInVain = 0;
      return page;
    } finally {
      if (tab.isSpent || browser.isGone) await browser.closeTab(tab);
      else this.#idle.push(tab);
    }
  }

  async #takeTab(browser: ChromiumBrowser): Promise<ChromiumTab | null> {
    const idle = this.#idle.pop();
    if (idle !== undefined && !idle.isSpent) return idle;
    return browser.openTab().catch(() => null);
  }

  async #living(): Promise<ChromiumBrowser> {
    const started = this.#browser;
    const last = await started;
    if (last !== null && !last.isGone) return last;
    // Of all who find it gone, one starts another.
    return this.#browser === started ? this.#restart(last) : this.#living();
  }

  #restart(last: ChromiumBrowser | null): Promise<ChromiumBrowser> {
    if (this.#isClosed) throw new Error('the session is closed');
    if (this.#startsInVain === STARTS_IN_VAIN_MAX) {
      const message = `Cannot render pages: the browser ended ${STARTS_IN_VAIN_MAX} times in a row`;
      const next = 'Look whether the machine has memory and shared memory enough for a browser.';
      throw new DocshelfError('browser_failed', message, { next });
    }
    this.#startsInVain += 1;
    this.#idle.length = 0;
    const starting = (async () => {
      await last?.close();
      return ChromiumBrowser.launch(this.#settings, this.#answer);
    })();
    this.#browser = starting;
    return starting;
  }
}

function crashed(url: string): BrowserPage {
  const nothing = { dom: null, answered: [], failures: [], consoleErrors: [], screenshot: null };
  return { url, state: 'crashed', reason: 'the browser is gone', ...nothing };
}
