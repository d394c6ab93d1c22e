import type { BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importSite } from '../../scripts/screenshots/import-site.ts';
import { renderFolder, writeTree } from '../export/markdown/render-folder.ts';
import { reportViolations } from '../helpers/accessibility.ts';
import { openBench } from '../helpers/daemon.ts';
import { hasChromium, type Reader, useChromium, whyNoChromium } from './reader.ts';

const TEXT = 'Text that nothing may cover.\n\n'.repeat(60);
const SITE = {
  'index.md': `# Home\n\n${TEXT}`,
  'install.md': `# Install\n\n${TEXT}`,
  'ar/index.md': `# مرحبا\n\n${TEXT}`,
  'docs.json': {
    name: 'The handbook of the docs team',
    links: [{ label: 'Support', href: 'https://support.example' }],
  },
};
const SCREENS = [
  [1280, 'light'],
  [1280, 'dark'],
  [360, 'light'],
  [360, 'dark'],
] as const;
/** Bounds of the visible parts of the header in pixels, in document order. */
const PARTS = `[...document.querySelectorAll('.top > :not(.space, .visually-hidden)')]
  .map((node) => [node.className || node.localName, node.getBoundingClientRect()])
  .filter(([, { width, height }]) => width > 0 && height > 0)
  .map(([name, { left, right, top, bottom }]) => ({ name, left, right, top, bottom }))`;

interface Part {
  readonly name: string;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

describe.skipIf(!hasChromium)(`the theme of Markdown sites in a browser${whyNoChromium}`, () => {
  const bench = openBench(afterAll);
  const chromium = useChromium();
  let origin: string;

  beforeAll(async () => {
    const daemon = await bench.start({ search: { widget: true }, log: { access: false } });
    origin = daemon.site;
    const { files } = await renderFolder(writeTree(SITE), { version: '2026-11-01' });
    await importSite(bench, daemon, { files, version: '2026-11-01' });
  });

  const open = async (path: string, profile: BrowserContextOptions): Promise<Reader> => {
    const reader = await chromium.open(origin, profile);
    await reader.load(path);
    return reader;
  };
  const partsOf = async ({ page }: Reader): Promise<readonly Part[]> => page.evaluate(PARTS);

  /** Names of parts that overlap or are outside of the header. */
  function misplaced(parts: readonly Part[], width: number): string[] {
    const height = 56;
    const outside = parts.filter(
      (each) => each.left < 0 || each.right > width || each.top < 0 || each.bottom > height + 1,
    );
    const overlapping = parts.filter((each, at) =>
      parts.slice(at + 1).some((other) => each.left < other.right - 0.5 && other.left < each.right - 0.5),
    );
    return [...outside, ...overlapping].map(({ name }) => name);
  }

  it.each(['/', '/ar/'].flatMap((path) => SCREENS.map(([width, colorScheme]) => [path, width, colorScheme] as const)))(
    'shows the search box in the header of %s at %i px, %s',
    async (path, width, colorScheme) => {
      const reader = await open(path, { viewport: { width, height: 700 }, colorScheme });
      const { page } = reader;
      const button = page.locator('docshelf-search').getByRole('link');
      await button.waitFor();
      expect(await page.locator('.top docshelf-search').count()).toBe(1);
      expect(misplaced(await partsOf(reader), width)).toEqual([]);
      expect((await partsOf(reader)).some(({ name }) => name === 'search')).toBe(true);
      expect(await reportViolations(page)).toEqual([]);
      await button.click();
      await page.getByRole('dialog').waitFor();
      await page.keyboard.press('Escape');
      await page.keyboard.press('Control+k');
      await page.getByRole('dialog').waitFor();
      expect([reader.failures, reader.complaints]).toEqual([[], []]);
    },
  );

  it('does not move other parts of the header when the search box appears', async () => {
    const reader = await open('/', { viewport: { width: 1280, height: 700 } });
    await reader.page.locator('docshelf-search').getByRole('link').waitFor();
    const others = (parts: readonly Part[]) => parts.filter(({ name }) => name !== 'search');
    const shown = others(await partsOf(reader));
    await reader.page.evaluate("document.querySelector('docshelf-search').remove()");
    expect(others(await partsOf(reader))).toEqual(shown);
  });

  it('shows no search box without JavaScript, and no header in print', async () => {
    for (const width of [1280, 360]) {
      const reader = await open('/', { javaScriptEnabled: false, viewport: { width, height: 700 } });
      const parts = await partsOf(reader);
      expect(misplaced(parts, width)).toEqual([]);
      expect(parts.map(({ name }) => name)).not.toContain('search');
      await reader.page.emulateMedia({ media: 'print' });
      expect(await reader.page.locator('.top').isVisible()).toBe(false);
    }
  });
});
