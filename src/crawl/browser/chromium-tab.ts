import { addAbortListener } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { BrowserContext, CDPSession, Page } from 'playwright-core';
import { unlessAborted } from '../../files/lanes.ts';
import type { BrowserPage, PageState, RenderOptions, SettledDom } from '../render/rendered-page.ts';
import { Visit } from './chromium-requests.ts';

interface SnapshotBounds {
  readonly htmlCharactersMax: number;
  readonly textCharactersMax: number;
  readonly linksMax: number;
}

// The functions from `scrollToEnd` to `snapshot` run in the page. The browser gets their source text, so they must not use names
// from outside.

/** Loads the lazy parts of a page: scrolls one screen at a time for intersection observers, and loads lazy pictures and iframes. */
async function scrollToEnd(stepsMax: number): Promise<void> {
  // A busy machine can take a second for an animation frame. After 2 s without a frame, wait only 100 ms for each further frame.
  let frameMsMax = 2_000;
  // Intersection observers see only one scroll position per frame, so scroll once per frame.
  const inNextFrame = (act: () => void) =>
    new Promise<void>((resolve) => {
      const run = () => {
        clearTimeout(timer);
        cancelAnimationFrame(frame);
        act();
        resolve();
      };
      const timer = setTimeout(() => {
        frameMsMax = 100;
        run();
      }, frameMsMax);
      const frame = requestAnimationFrame(run);
    });
  const wakeLazy = () => {
    for (const element of document.querySelectorAll('img[loading=lazy], iframe[loading=lazy]')) {
      const written = element.getAttribute('loading') ?? 'lazy';
      element.setAttribute('loading', 'eager');
      element.setAttribute('loading', written);
    }
  };
  wakeLazy();
  for (let step = 0, before = -1; step < stepsMax; step++) {
    const root = document.scrollingElement;
    if (root === null || root.scrollTop === before) break;
    before = root.scrollTop;
    await inNextFrame(() => root.scrollTo({ top: before + innerHeight, behavior: 'instant' }));
  }
  wakeLazy();
  document.scrollingElement?.scrollTo({ top: 0, behavior: 'instant' });
}

function untilUnchanged(quietMs: number, msMax: number): Promise<void> {
  return new Promise((resolve) => {
    const startedAt = performance.now();
    let changedAt = startedAt;
    const observer = new MutationObserver(() => {
      changedAt = performance.now();
    });
    observer.observe(document, { subtree: true, childList: true, characterData: true });
    const look = () => {
      const now = performance.now();
      if (now - changedAt < quietMs && now - startedAt < msMax) {
        setTimeout(look, quietMs / 4);
        return;
      }
      observer.disconnect();
      resolve();
    };
    setTimeout(look, quietMs);
  });
}

/** Waits with a timer of the page, not of Node. While a script blocks the page, this timer waits too. */
const tick = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function snapshot({ htmlCharactersMax, textCharactersMax, linksMax }: SnapshotBounds) {
  const roots: ShadowRoot[] = [];
  const collect = (within: Document | ShadowRoot) => {
    for (const element of within.querySelectorAll('*')) {
      if (element.shadowRoot === null) continue;
      roots.push(element.shadowRoot);
      collect(element.shadowRoot);
    }
  };
  collect(document);

  const { doctype, documentElement, body } = document;
  const start =
    doctype === null
      ? ''
      : `<!DOCTYPE ${doctype.name}${doctype.publicId === '' ? '' : ` PUBLIC "${doctype.publicId}"`}${
          doctype.systemId === '' ? '' : `${doctype.publicId === '' ? ' SYSTEM' : ''} "${doctype.systemId}"`
        }>\n`;
  // Take the tags of the `html` element from outerHTML, because getHTML returns only its content.
  const tag = (documentElement?.cloneNode(false) as Element | undefined)?.outerHTML ?? '';
  const end = tag.lastIndexOf('</');
  const html = `${start}${tag.slice(0, end)}${documentElement?.getHTML({ shadowRoots: roots }) ?? ''}${tag.slice(end)}\n`;

  const texts = [body?.innerText ?? ''];
  for (const root of roots) {
    // Skip elements that browsers never show, because their `innerText` is their source text.
    for (const child of root.children)
      if (child instanceof HTMLElement && !child.matches('style, script, template')) texts.push(child.innerText);
  }
  const links = new Set<string>();
  for (const anchor of document.querySelectorAll('a[href], area[href]')) {
    const { href } = anchor as HTMLAnchorElement | HTMLAreaElement;
    if (/^https?:/.test(href)) links.add(href.replace(/#.*$/, ''));
    if (links.size === linksMax) break;
  }
  return {
    html: html.length > htmlCharactersMax ? null : html,
    text: texts.join('\n').slice(0, textCharactersMax),
    links: [...links],
  };
}

const SCREENS_MAX = 100;
const BOUNDS = { htmlCharactersMax: 16 * 1024 ** 2, textCharactersMax: 2 * 1024 ** 2, linksMax: 20_000 };
const QUIET_MS = 200;
const OWN_TIME_MS = 50;
/** Maximum wait for a page that keeps changing, such as a page with a clock, or for a busy worker. */
const CHANGING_MS_MAX = 1_000;
const DIALOGS_MAX = 20;
/** Number of pages after which a tab is replaced, because pages leak some memory in their tab. */
const PAGES_MAX = 150;
const POLL_MS = 10;
const LEAVING_MS_MAX = 1_000;
/** Maximum time to open a tab. Opening or closing a tab takes about 50 ms. */
const OPEN_MS_MAX = 10_000;
const CLOSE_MS_MAX = 3_000;

class PageEnd extends Error {
  readonly state: 'left' | 'failed' | 'hung' | 'crashed';

  constructor(state: PageEnd['state'], message: string) {
    super(message);
    this.state = state;
  }
}

export class ChromiumTab {
  readonly #page: Page;
  readonly #cdp: CDPSession;
  readonly #pageTimeoutMs: number;
  readonly mainFrameId: string;
  readonly #frameIds = new Set<string>();
  visit: Visit | null = null;
  #loaderIds: string[] = [];
  #url = '';
  #loadedId = '';
  #pages = 0;
  #end: (reason: unknown) => void = () => undefined;
  #hasEnded = false;

  static async open(context: BrowserContext, pageTimeoutMs: number): Promise<ChromiumTab> {
    const page = await unlessAborted(context.newPage(), AbortSignal.timeout(OPEN_MS_MAX));
    const cdp = await context.newCDPSession(page);
    const { frameTree } = await cdp.send('Page.getFrameTree');
    const tab = new ChromiumTab(page, cdp, frameTree.frame.id, pageTimeoutMs);
    await cdp.send('Page.enable');
    await cdp.send('Page.setLifecycleEventsEnabled', { enabled: true });
    return tab;
  }

  private constructor(page: Page, cdp: CDPSession, mainFrameId: string, pageTimeoutMs: number) {
    this.#page = page;
    this.#cdp = cdp;
    this.mainFrameId = mainFrameId;
    this.#pageTimeoutMs = pageTimeoutMs;
    this.#watchFrames();
    this.#watchPage();
  }

  hasFrame(frameId: string): boolean {
    return frameId === this.mainFrameId || this.#frameIds.has(frameId);
  }

  /** Adds an iframe of this page that runs in another process. The events of this tab do not report such an iframe. */
  adoptFrame(frameId: string, parentFrameId: string): void {
    if (this.hasFrame(parentFrameId)) this.#frameIds.add(frameId);
  }

  get isSpent(): boolean {
    return this.#hasEnded || this.#pages >= PAGES_MAX;
  }

  async render(url: string, { signal, withScreenshot = false }: RenderOptions): Promise<BrowserPage> {
    this.#pages += 1;
    const { promise: ended, reject } = Promise.withResolvers<never>();
    ended.catch(() => undefined);
    this.#end = (reason) => {
      this.#hasEnded = true;
      reject(reason);
    };
    const hang = (message: string): void => this.#end(new PageEnd('hung', message));
    const visit = new Visit(url, () => hang('it wrote too much to its console'));
    using _ = addAbortListener(signal, () => this.#end(signal.reason));
    const timer = setTimeout(() => hang('its scripts block the page'), this.#pageTimeoutMs);
    this.visit = visit;
    const { failures, consoleErrors } = visit;
    const base = { failures, consoleErrors, screenshot: null, dom: null };
    try {
      signal.throwIfAborted();
      const settled = await Promise.race([this.#settle(url, visit, withScreenshot, signal), ended]);
      if (settled.state === 'unsettled') await Promise.race([this.#silence(), ended]);
      return { ...base, ...settled };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof PageEnd) {
        const { state, message: reason } = error;
        return { ...base, url: state === 'left' ? this.#url : url, state, reason };
      }
      this.#hasEnded = true;
      return { ...base, url, state: 'crashed', reason: 'its tab was closed' };
    } finally {
      clearTimeout(timer);
      this.visit = null;
    }
  }

  async close(): Promise<void> {
    this.#hasEnded = true;
    const closing = this.#page.close().catch(() => undefined);
    await unlessAborted(closing, AbortSignal.timeout(CLOSE_MS_MAX)).catch(() => {
      // Crash a page that does not close in time, because a page that navigates constantly may never close.
      void this.#cdp.send('Page.crash').catch(() => undefined);
    });
  }

  async #settle(url: string, visit: Visit, withScreenshot: boolean, signal: AbortSignal) {
    const loaderId = await this.#navigate(url, visit);
    const isLoaded = await this.#untilLoaded(loaderId);
    const onDocument = async <Result>(act: () => Promise<Result>): Promise<Result> => {
      const result = await act().catch(async (error: unknown) => {
        await this.#untilLeft(loaderId);
        throw error;
      });
      this.#checkStays(loaderId);
      return result;
    };
    const isQuiet = await onDocument(() => this.#whenQuiet(visit, signal));
    const { html, text, links } = await onDocument(() => this.#run(snapshot, BOUNDS));
    if (html === null) throw new PageEnd('failed', 'its document is too large');
    const dom: SettledDom = { html, text, links };
    const png = withScreenshot ? await this.#cdp.send('Page.captureScreenshot', { format: 'png' }) : null;
    const screenshot = png && Buffer.from(png.data, 'base64');
    const state: PageState = isLoaded && isQuiet ? 'settled' : 'unsettled';
    const cause = isLoaded ? 'it continued to send requests' : 'it did not finish loading';
    const reason = state === 'settled' ? null : cause;
    return { url: this.#url, state, reason, dom, screenshot };
  }

  async #navigate(url: string, visit: Visit): Promise<string> {
    this.#loaderIds = [];
    const { errorText, loaderId, isDownload } = await this.#cdp.send('Page.navigate', { url });
    if (isDownload === true) throw new PageEnd('failed', 'it is a download');
    if (errorText !== undefined || loaderId === undefined) {
      const [failure] = visit.failures;
      throw new PageEnd('failed', failure?.why ?? errorText ?? 'no document arrived');
    }
    return loaderId;
  }

  async #silence(): Promise<void> {
    this.visit = null;
    await this.#cdp.send('Page.navigate', { url: 'about:blank' });
  }

  async #untilLoaded(loaderId: string): Promise<boolean> {
    const deadline = performance.now() + this.#pageTimeoutMs / 2;
    while (this.#loadedId !== loaderId) {
      if (performance.now() > deadline) return false;
      this.#checkStays(loaderId);
      await delay(POLL_MS);
    }
    return true;
  }

  async #whenQuiet(visit: Visit, signal: AbortSignal): Promise<boolean> {
    const msMax = this.#pageTimeoutMs / 6;
    await this.#run(scrollToEnd, SCREENS_MAX);
    await this.#run(untilUnchanged, QUIET_MS, CHANGING_MS_MAX);
    const deadline = performance.now() + 2 * msMax;
    for (let hadTimeAt = performance.now(); performance.now() < deadline; hadTimeAt = performance.now()) {
      if (!(await visit.quiet(QUIET_MS, msMax, signal))) return false;
      await this.#untilWorkersStarted();
      if (hadTimeAt - visit.lastChangeAt >= OWN_TIME_MS) return true;
      await this.#run(tick, OWN_TIME_MS);
    }
    return false;
  }

  /**
   * Waits until the web workers of the page have run their scripts, which can send requests. Limits the wait, because a worker can
   * stay busy.
   */
  async #untilWorkersStarted(): Promise<void> {
    const started = this.#page.workers().map((worker) => worker.evaluate(tick, 0));
    await unlessAborted(Promise.allSettled(started), AbortSignal.timeout(CHANGING_MS_MAX)).catch(() => undefined);
  }

  /** After an error, waits for the browser to report a navigation, which can be the cause of the error. @throws PageEnd */
  async #untilLeft(loaderId: string): Promise<void> {
    const deadline = performance.now() + LEAVING_MS_MAX;
    while (performance.now() < deadline) {
      this.#checkStays(loaderId);
      await delay(POLL_MS);
    }
  }

  #checkStays(loaderId: string): void {
    const isLeft = this.#loaderIds.includes(loaderId) && this.#loaderIds.at(-1) !== loaderId;
    if (isLeft) throw new PageEnd('left', `its scripts navigated to ${this.#url}`);
  }

  async #run<Given extends unknown[], Result>(script: (...given: Given) => Result, ...given: Given) {
    const { executionContextId } = await this.#cdp.send('Page.createIsolatedWorld', {
      frameId: this.mainFrameId,
      worldName: 'docshelf',
    });
    const { result, exceptionDetails } = await this.#cdp.send('Runtime.callFunctionOn', {
      functionDeclaration: String(script),
      executionContextId,
      arguments: given.map((value) => ({ value })),
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception?.description ?? 'a script failed');
    return result.value as Awaited<Result>;
  }

  #watchFrames(): void {
    this.#cdp.on('Page.frameAttached', ({ frameId }) => this.#frameIds.add(frameId));
    this.#cdp.on('Page.frameDetached', ({ frameId, reason }) => {
      // An iframe that is detached with the reason `swap` still exists, but moves to another process.
      if (reason !== 'swap') this.#frameIds.delete(frameId);
    });
    this.#cdp.on('Page.frameNavigated', ({ frame }) => {
      if (frame.id !== this.mainFrameId) return;
      this.#loaderIds.push(frame.loaderId);
      this.#url = frame.url;
    });
    this.#cdp.on('Page.lifecycleEvent', ({ frameId, loaderId, name }) => {
      if (name === 'load' && frameId === this.mainFrameId) this.#loadedId = loaderId;
    });
  }

  #watchPage(): void {
    let dialogs = 0;
    const page = this.#page;
    page.on('crash', () => this.#end(new PageEnd('crashed', 'its tab crashed')));
    page.on('close', () => this.#end(new PageEnd('crashed', 'its tab was closed')));
    page.on('popup', (popup) => void popup.close().catch(() => undefined));
    page.on('dialog', (dialog) => {
      dialogs += 1;
      if (dialogs > DIALOGS_MAX) this.#end(new PageEnd('hung', 'it opened too many dialogs'));
      const answered = dialog.type() === 'beforeunload' ? dialog.accept() : dialog.dismiss();
      answered.catch(() => undefined);
    });
    page.on('pageerror', (error) => this.visit?.hear(String(error)));
    page.on('console', (message) => {
      // Skip messages about failed requests, which `failures` already lists.
      const isError = message.type() === 'error' && !message.text().startsWith('Failed to load resource');
      this.visit?.hear(isError ? message.text() : null);
    });
  }
}
