import { accessSync, constants } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import type { Browser, BrowserContext, CDPSession } from 'playwright-core';
import type { BrowserSettings } from '../../domain/crawl.ts';
import { DocshelfError } from '../../domain/errors.ts';
import { launchChromium } from '../../net/chromium.ts';
import type { EgressPolicy } from '../../net/egress.ts';
import { Scheduler } from '../../threads/scheduler.ts';
import type { AnswerRequest, BrowserPage, RenderOptions } from '../render/rendered-page.ts';
import { ChromiumRequests, type OwnersOf } from './chromium-requests.ts';
import { ChromiumTab } from './chromium-tab.ts';

export interface ChromiumSettings extends Omit<BrowserSettings, 'verify'> {
  readonly policy: EgressPolicy;
  readonly env: NodeJS.ProcessEnv;
  readonly tempDir: string;
}

const STARTS_IN_VAIN_MAX = 3;

export type OpenBrowser = (answer: AnswerRequest) => Promise<ChromiumSession>;

export const browserOpener =
  (browser: BrowserSettings, policy: EgressPolicy, workDir: string): OpenBrowser =>
  (answer) =>
    ChromiumSession.open({ ...browser, policy, env: process.env, tempDir: join(workDir, 'browser') }, answer);

/** A browser with separate cookies and storage. Starts again if its process ends. */
export class ChromiumSession {
  readonly tabs: number;
  readonly #settings: ChromiumSettings;
  readonly #answer: AnswerRequest;
  readonly #idle: ChromiumTab[] = [];
  readonly #scheduler: Scheduler;
  #browser: Promise<ChromiumBrowser> | null = null;
  #startsInVain = 0;
  #isClosed = false;

  static async open(settings: ChromiumSettings, answer: AnswerRequest): Promise<ChromiumSession> {
    const session = new ChromiumSession(settings, answer);
    await session.#running();
    return session;
  }

  private constructor(settings: ChromiumSettings, answer: AnswerRequest) {
    this.tabs = settings.tabs;
    this.#scheduler = new Scheduler(settings.tabs);
    this.#settings = settings;
    this.#answer = answer;
  }

  /**
   * Loads a page. The `state` of the result reports errors of the page.
   * @throws DocshelfError `browser_failed` if the browser keeps ending; the signal's reason if it aborts
   */
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
    const browser = await this.#running();
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

  async #running(): Promise<ChromiumBrowser> {
    const started = this.#browser;
    const last = await started;
    if (last !== null && !last.isGone) return last;
    return this.#browser === started ? this.#restart(last) : this.#running();
  }

  #restart(last: ChromiumBrowser | null): Promise<ChromiumBrowser> {
    if (this.#isClosed) throw new Error('the session is closed');
    if (this.#startsInVain === STARTS_IN_VAIN_MAX) {
      const message = `Cannot render pages: the browser ended ${STARTS_IN_VAIN_MAX} times in a row`;
      const next = 'Check whether the machine or container has enough memory and shared memory (/dev/shm).';
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
  const nothing = { dom: null, failures: [], consoleErrors: [], screenshot: null };
  return { url, state: 'crashed', reason: 'the browser has ended', ...nothing };
}

class ChromiumBrowser {
  readonly #browser: Browser;
  readonly #context: BrowserContext;
  readonly #profileDir: string;
  readonly #pageTimeoutMs: number;
  readonly #tabs = new Set<ChromiumTab>();
  readonly #closing = new AbortController();

  static async launch(settings: ChromiumSettings, answer: AnswerRequest): Promise<ChromiumBrowser> {
    const { policy, env, sandbox, tempDir, pageTimeoutMs } = settings;
    const program = findChromium(env);
    if (sandbox === 'auto' && process.getuid?.() === 0) throw noSandboxAsRoot(program);
    await mkdir(tempDir, { recursive: true });
    const profileDir = await mkdtemp(join(tempDir, 'chromium-'));
    try {
      const context = await launchChromium(policy, {
        program,
        profileDir,
        hasSandbox: sandbox === 'auto',
        path: env.PATH ?? '',
      });
      const browser = new ChromiumBrowser(context, profileDir, pageTimeoutMs);
      await browser.#intercept(answer);
      return browser;
    } catch (error) {
      await rm(profileDir, { recursive: true, force: true });
      throw new DocshelfError('browser_failed', `Cannot start "${program}": it ended or did not respond`, {
        next: 'Start the program manually to see its error. In a container without user namespaces, set exportApi.browser.sandbox to off.',
        cause: error,
      });
    }
  }

  private constructor(context: BrowserContext, profileDir: string, pageTimeoutMs: number) {
    const browser = context.browser();
    if (browser === null) throw new Error('a persistent context has its browser');
    this.#browser = browser;
    this.#context = context;
    this.#profileDir = profileDir;
    this.#pageTimeoutMs = pageTimeoutMs;
  }

  get isGone(): boolean {
    return !this.#browser.isConnected();
  }

  async openTab(): Promise<ChromiumTab> {
    const tab = await ChromiumTab.open(this.#context, this.#pageTimeoutMs);
    this.#tabs.add(tab);
    return tab;
  }

  async closeTab(tab: ChromiumTab): Promise<void> {
    this.#tabs.delete(tab);
    await tab.close();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#context.close().catch(() => undefined);
    await rm(this.#profileDir, { recursive: true, force: true, maxRetries: 3 });
  }

  async #intercept(answer: AnswerRequest): Promise<void> {
    const cdp = await this.#browser.newBrowserCDPSession();
    const endWatch = watchMemory(cdp);
    this.#browser.on('disconnected', endWatch);
    cdp.on('Target.targetCreated', ({ targetInfo: { type, targetId, parentFrameId = '' } }) => {
      if (type === 'iframe') for (const tab of this.#tabs) tab.adoptFrame(targetId, parentFrameId);
    });
    await cdp.send('Target.setDiscoverTargets', { discover: true, filter: [{ type: 'iframe' }] });
    await new ChromiumRequests(cdp, answer, this.#ownersOf, this.#closing.signal).start();
  }

  /** A request without a tab, such as a request of a shared worker, counts as a request of every tab. */
  readonly #ownersOf: OwnersOf = (frameId) => {
    const tabs = [...this.#tabs];
    const own = tabs.find((tab) => tab.hasFrame(frameId));
    const visits = (own === undefined ? tabs : [own]).flatMap(({ visit }) => visit ?? []);
    return { visits, isMainFrame: own?.mainFrameId === frameId };
  };
}

function noSandboxAsRoot(program: string): DocshelfError {
  return new DocshelfError('browser_failed', `Cannot start "${program}": as root, Chromium has no sandbox`, {
    next: 'Run docshelf as another user ("User=docshelf" in a systemd unit, "user: 65532" in a container). If you trust every site that docshelf crawls, set exportApi.browser.sandbox to off.',
  });
}

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** Path of Chromium: DOCSHELF_CHROMIUM, else the first of `NAMES` on PATH. @throws DocshelfError `browser_missing` */
function findChromium(env: NodeJS.ProcessEnv): string {
  const named = env.DOCSHELF_CHROMIUM;
  if (named !== undefined && named !== '') {
    if (isAbsolute(named) && isExecutable(named)) return named;
    throw missing(
      `"${named}"`,
      'DOCSHELF_CHROMIUM is not the path of an executable program',
      'Set DOCSHELF_CHROMIUM to the absolute path of a Chromium, or unset it.',
    );
  }
  const folders = (env.PATH ?? '').split(delimiter).filter(isAbsolute);
  const found = NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
  if (found !== undefined) return found;
  const next = 'Install the package chromium, or set DOCSHELF_CHROMIUM to the path of a Chromium.';
  throw missing('Chromium', 'it is not installed', next);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const missing = (thing: string, state: string, next: string): DocshelfError =>
  new DocshelfError('browser_missing', `Cannot start ${thing}: ${state}`, { next });

/** Maximum memory of a page's process. Heavy documentation pages take 300 MiB. */
const RENDERER_BYTES_MAX = 1024 ** 3;
const LOOK_EVERY_MS = 500;
/** Unit of `/proc/PID/statm`: one memory page (proc(5)). On ARM machines with larger pages, the actual limit is higher. */
const MEMORY_PAGE_BYTES = 4096;

/** Kills page processes that use more than RENDERER_BYTES_MAX, including memory outside of V8's heap. Needs `/proc`. */
function watchMemory(browser: CDPSession): () => void {
  const timer = setInterval(() => void endLarge(browser).catch(() => undefined), LOOK_EVERY_MS);
  return () => clearInterval(timer);
}

async function endLarge(browser: CDPSession): Promise<void> {
  const { processInfo } = await browser.send('SystemInfo.getProcessInfo');
  for (const { type, id } of processInfo) {
    if (type === 'renderer' && (await residentBytes(id)) > RENDERER_BYTES_MAX) process.kill(id, 'SIGKILL');
  }
}

async function residentBytes(pid: number): Promise<number> {
  const statm = await readFile(`/proc/${pid}/statm`, 'utf8').catch(() => '');
  return Number(statm.split(' ')[1] ?? 0) * MEMORY_PAGE_BYTES;
}
