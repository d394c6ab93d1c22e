import type { Page } from 'playwright-core';
import { CONSOLE_EXAMPLES } from './console-examples.ts';
import { startExample } from './start-example.ts';

/** Daemons that run while the pictures are taken, by the name of the example. */
export const EXAMPLES = { shelf: startExample, ...CONSOLE_EXAMPLES };

export interface Picture {
  /** File name without `.png`. */
  readonly name: string;
  readonly example: keyof typeof EXAMPLES;
  /** Listener of the page. Pages of the admin listener are shown to a signed-in user. */
  readonly listener: 'site' | 'admin';
  /** Path under the listener's origin. */
  readonly path: string;
  readonly width: number;
  readonly height: number;
  readonly colorScheme: 'light' | 'dark';
  /** Actions of a reader until the page shows what the picture needs. */
  readonly prepare?: (page: Page) => Promise<void>;
}

const FOUND = 'docshelf-search-dialog a[role=option]';
const SCREEN = { example: 'shelf', listener: 'site', width: 1200, height: 760, colorScheme: 'light' } as const;

const CONSOLE = { listener: 'admin', path: '/', width: 1280, height: 800, colorScheme: 'light' } as const;
/** Size of a picture with a form and the list under the form. */
const LIST = { example: 'whole', height: 1000 } as const;

export const PICTURES: readonly Picture[] = [
  {
    ...SCREEN,
    name: 'search-box',
    path: '/manual/versions',
    prepare: async (page) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('dialog').waitFor();
      await page.keyboard.type('roll back to an older ver');
      await page.locator(FOUND).nth(2).waitFor();
    },
  },
  {
    ...SCREEN,
    name: 'search-box-phone',
    path: '/manual/versions',
    width: 390,
    height: 760,
    colorScheme: 'dark',
    prepare: async (page) => {
      await page.locator('docshelf-search a').click();
      await page.keyboard.type('air gap');
      await page.locator(FOUND).nth(2).waitFor();
    },
  },
  {
    ...SCREEN,
    name: 'version-switcher',
    path: '/manual/_docshelf/v/2026-10-01/install',
    prepare: async (page) => {
      await page.locator('docshelf-versions summary').click();
      await page.locator('docshelf-versions li a').first().waitFor();
    },
  },
  { ...SCREEN, name: 'search-results', path: '/manual/_docshelf/search?q=sign+in+with+passwords' },
  { ...SCREEN, name: 'shelf', path: '/', height: 400 },
  { ...CONSOLE, name: 'console-site', example: 'whole', height: 900, colorScheme: 'dark' },
  { ...CONSOLE, name: 'console-phone', example: 'whole', width: 390, height: 844 },
  { ...CONSOLE, ...LIST, name: 'console-jobs', path: '/jobs' },
  { ...CONSOLE, ...LIST, name: 'console-keys', path: '/organizations/acme-inc/keys', colorScheme: 'dark' },
  { ...CONSOLE, ...LIST, name: 'console-audit', path: '/audit' },
  { ...CONSOLE, name: 'console-search', example: 'whole', path: '/sites/acme/search?q=roll+back+a+version' },
  { ...CONSOLE, name: 'console-diff', example: 'whole', path: '/sites/acme/diff?from=2026-10-01&to=2026-11-01' },
  { ...CONSOLE, name: 'console-review', example: 'whole', path: '/sites/acme/review?version=2026-10-01' },
  { ...CONSOLE, name: 'console-waiting', example: 'waiting' },
  { ...CONSOLE, name: 'console-stale', example: 'stale' },
  { ...CONSOLE, name: 'console-refused', example: 'refused', colorScheme: 'dark' },
  { ...CONSOLE, name: 'console-off', example: 'off' },
  {
    ...CONSOLE,
    name: 'console-damaged',
    example: 'damaged',
    prepare: async (page) => {
      await page.getByRole('link', { name: 'Activate 2026-10-01' }).click();
      await page.getByRole('button', { name: 'Activate 2026-10-01' }).click();
      await page.locator('#message').waitFor();
    },
  },
  {
    ...CONSOLE,
    name: 'console-air-gapped',
    example: 'airGapped',
    prepare: (page) => page.locator('#features').evaluate((heading) => heading.scrollIntoView()),
  },
  { ...CONSOLE, name: 'console-wall', example: 'wall', width: 2560, height: 1440, colorScheme: 'dark' },
];
