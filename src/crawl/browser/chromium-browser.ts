import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, BrowserContext } from 'playwright-core';
import type { BrowserSettings } from '../../domain/crawl.ts';
import { DocshelfError } from '../../domain/errors.ts';
import { launchChromium } from '../../net/chromium.ts';
import type { EgressPolicy } from '../../net/egress.ts';
import type { AnswerRequest } from '../render/rendered-page.ts';
import { findChromium, watchMemory } from './chromium-program.ts';
import { ChromiumRequests, type OwnersOf } from './chromium-requests.ts';
import { ChromiumTab } from './chromium-tab.ts';

export interface ChromiumSettings extends Omit<BrowserSettings, 'verify'> {
  readonly policy: EgressPolicy;
  readonly env: NodeJS.ProcessEnv;
  readonly tempDir: string;
}

/** One process with a profile of its own, cut off from the network: `answer` answers for all of it. */
export class ChromiumBrowser {
  readonly #browser: Browser;
  readonly #context: BrowserContext;
  readonly #profileDir: string;
  readonly #pageTimeoutMs: number;
  readonly #tabs = new Set<ChromiumTab>();
  readonly #closing = new AbortController();

  /** @throws DocshelfError `browser_missing`, `browser_failed` */
  static async launch(settings: ChromiumSettings, answer: AnswerRequest): Promise<ChromiumBrowser> {
    const { policy, env, sandbox, tempDir, pageTimeoutMs } = settings;
    const program = findChromium(env);
    if (sandbox === 'auto' && process.getuid?.() === 0) throw noSandboxAsRoot(program);
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
      throw new DocshelfError('browser_failed', `Cannot start "${program}": it ended, or did not answer`, {
        next: 'Start the program by hand to see what it lacks. In a container without user namespaces it needs its sandbox turned off.',
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
    // A frame of another site has a process, and a target, of its own.
    cdp.on('Target.targetCreated', ({ targetInfo: { type, targetId, parentFrameId = '' } }) => {
      if (type === 'iframe') for (const tab of this.#tabs) tab.adoptFrame(targetId, parentFrameId);
    });
    await cdp.send('Target.setDiscoverTargets', { discover: true, filter: [{ type: 'iframe' }] });
    await new ChromiumRequests(cdp, answer, this.#ownersOf, this.#closing.signal).start();
  }

  /** Requests of no tab, as a shared worker's, belong to all tabs. */
  readonly #ownersOf: OwnersOf = (frameId) => {
    const tabs = [...this.#tabs];
    const own = tabs.find((tab) => tab.hasFrame(frameId));
    const visits = (own === undefined ? tabs : [own]).flatMap(({ visit }) => visit ?? []);
    return { visits, isMainFrame: own?.mainFrameId === frameId };
  };
}

function noSandboxAsRoot(program: string): DocshelfError {
  return new DocshelfError('browser_failed', `Cannot start "${program}": as root it has no sandbox`, {
    next: 'Run docshelf as another user ("User=docshelf" in a systemd unit, "user: 65532" in a container); where every site that it opens is trusted, set exportApi.browser.sandbox to off.',
  });
}
