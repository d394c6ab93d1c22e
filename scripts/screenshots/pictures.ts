import type { Page } from 'playwright-core';

export interface Picture {
  /** Of the file, without `.png`. */
  readonly name: string;
  readonly listener: 'site' | 'admin';
  /** Below the listener's origin. @see startExample */
  readonly path: string;
  readonly width: number;
  readonly height: number;
  readonly colorScheme: 'light' | 'dark';
  /** Acts as a reader does, until what is shown is there. */
  readonly prepare?: (page: Page) => Promise<void>;
}

const FOUND = 'docshelf-search-dialog a[role=option]';
const SCREEN = { listener: 'site', width: 1200, height: 760, colorScheme: 'light' } as const;

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
      await page.locator('docshelf-search').getByRole('button').click();
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
];
