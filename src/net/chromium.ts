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

/** Starts the installed Chromium without network access. The caller responds to its requests. @throws errors of playwright */
export async function launchChromium(policy: EgressPolicy, launch: ChromiumLaunch): Promise<BrowserContext> {
  const { program, profileDir, hasSandbox, path } = launch;
  const { chromium } = await import('playwright-core');
  return chromium.launchPersistentContext(profileDir, {
    executablePath: program,
    chromiumSandbox: hasSandbox,
    args: [...CHROMIUM_FLAGS, ...policy.browserFlags],
    ignoreDefaultArgs: UNWANTED_FLAGS,
    // docshelf's environment can contain secrets. A socket in a data folder can have a path of more than 107 bytes (unix(7)).
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
  // A page that breaks out of its renderer process finds no data of other sites in that process.
  '--site-per-process',
  // Prerendered pages have separate frames, which belong to no tab.
  '--disable-features=Prerender2,SpeculationRulesPrefetchProxy',
  '--disk-cache-size=1',
  // Limit for the memory of a script in MiB. Above this limit, its page crashes.
  '--js-flags=--max-old-space-size=512',
  '--hide-scrollbars',
];

const UNWANTED_FLAGS = ['--disable-popup-blocking'];
