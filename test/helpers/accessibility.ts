import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface ReadingScope {
  /** The contrast alone: all that another colour scheme changes. */
  readonly isContrastOnly?: boolean;
  /** Rows that are read of each table: those of a long one are alike, and each costs. */
  readonly rowsMax?: number;
  /** A selector, where the rest of the page is not ours: the rules of axe alone, as far as it can decide them. */
  readonly part?: string;
}

/**
 * What keeps a page from being read by everyone, one line each: all stable rules of axe up to WCAG 2.2 AA and of best practice,
 * with contrast that it cannot decide; and what axe has no rule for, edges of inputs (1.4.11) and reflow (1.4.10).
 */
export async function tellBreaches(page: Page, scope: ReadingScope = {}): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(AXE);
  return page.evaluate(readingOf(scope));
}

/** As axe has it, but for pseudo elements. Ours have no ground: the one over a card makes all of it its link. */
const CONTRAST = {
  ignorePseudo: true,
  ignoreUnicode: true,
  ignoreLength: false,
  boldValue: 700,
  boldTextPt: 14,
  largeTextPt: 18,
  contrastRatio: { normal: { expected: 4.5 }, large: { expected: 3 } },
  shadowOutlineEmMax: 0.2,
  textStrokeEmMin: 0.03,
};

/** Runs in the page. A string, since the tests have no types of the DOM. */
const readingOf = ({ isContrastOnly = false, rowsMax, part }: ReadingScope): string => `(async () => {
  const part = ${JSON.stringify(part)};
  axe.configure({ checks: [{ id: 'color-contrast', options: ${JSON.stringify(CONTRAST)} }] });
  const scope = ${rowsMax === undefined ? 'part ?? document' : `{ exclude: [['tbody tr:nth-child(n + ${rowsMax + 1})']] }`};
  const { violations, incomplete } = await axe.run(scope, {
    resultTypes: ['violations', 'incomplete'],
    ${isContrastOnly ? "runOnly: ['color-contrast']" : "rules: { 'target-size': { enabled: true } }"},
  });
  const undecided = part === undefined ? incomplete.filter(({ id }) => id === 'color-contrast') : [];
  const found = [...violations, ...undecided].flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, any, all, none }) => {
      const why = [...any, ...all, ...none].map(({ message }) => message).join('; ');
      return id + ': ' + help + ': ' + html.slice(0, 120).replace(/\\s+/g, ' ') + ': ' + why;
    }),
  );

  if (part !== undefined) return found;
  const luminance = (colour) => {
    const [red, green, blue] = colour.match(/[\\d.]+/g).map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const ground = getComputedStyle(document.body).backgroundColor;
  for (const input of document.querySelectorAll('input')) {
    const [dark, light] = [getComputedStyle(input).borderTopColor, ground].map(luminance).sort((a, b) => a - b);
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < 3) found.push(input.outerHTML.slice(0, 120) + ': an edge with contrast ' + ratio.toFixed(2));
  }
  const { scrollWidth } = document.documentElement;
  if (scrollWidth > innerWidth) found.push('wider than the window: ' + scrollWidth + ' of ' + innerWidth);
  return found;
})()`;
