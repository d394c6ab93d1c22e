import { tmpdir } from 'node:os';
import type { BrowserContext } from 'playwright-core';
import type { EgressPolicy } from './egress.ts';

interface ChromiumLaunch {
  readonly program: string;
  readonly profileDir: string;
  readonly hasSandbox: boolean;
  readonly path: string;
}

const VIEWPORT = { width: 1280, height: 1024 };
const LAUNCH_MS_MAX = 30_000;

/** Starts Chromium without network access. The caller must intercept and serve its requests. @throws errors of playwright */
export async function launchChromium(policy: EgressPolicy, launch: ChromiumLaunch): Promise<BrowserContext> {
  const { program, profileDir, hasSandbox, path } = launch;
  const { chromium } = await import('playwright-core');
  return chromium.launchPersistentContext(profileDir, {
    executablePath: program,
    chromiumSandbox: hasSandbox,
    args: [...CHROMIUM_FLAGS, ...policy.browserFlags],
    ignoreDefaultArgs: UNWANTED_FLAGS,
    // Pass no secrets of the environment. Set TMPDIR, because a socket path in the data folder can exceed 107 bytes (unix(7)).
    env: { PATH: path, HOME: profileDir, TMPDIR: tmpdir(), LANG: 'C.UTF-8' },
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    timeout: LAUNCH_MS_MAX,
    viewport: VIEWPORT,
    acceptDownloads: false,
    serviceWorkers: 'block',
  });
}

const CHROMIUM_FLAGS = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-domain-reliability',
  '--disable-sync',
  '--no-pings',
  '--mute-audio',
  // Use a process per site, so that a page that controls its renderer process finds no data of other sites in that process.
  '--site-per-process',
  // Disable prerendering, because docshelf cannot assign the frames of a prerendered page to a tab.
  '--disable-features=Prerender2,SpeculationRulesPrefetchProxy',
  '--disk-cache-size=1',
  // Maximum memory of scripts in MiB. A page that exceeds the maximum crashes.
  '--js-flags=--max-old-space-size=512',
  '--hide-scrollbars',
];

const UNWANTED_FLAGS = ['--disable-popup-blocking'];
