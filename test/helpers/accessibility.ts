import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface ReadingScope {
  /** True checks only the contrast, the only thing that another color scheme changes. */
  readonly isContrastOnly?: boolean;
  /** Maximum number of checked rows per table. The rows of a long table are alike, and each takes time. */
  readonly rowsMax?: number;
  /** Selector of our part of a page that is not ours. Only the rules of axe that can decide apply to it. */
  readonly part?: string;
}

/**
 * Returns accessibility problems, one line each: all stable rules of axe up to WCAG 2.2 AA and best practice, also contrast that
 * axe cannot decide. Adds checks that axe lacks: edges of inputs (1.4.11) and reflow (1.4.10).
 */
export async function reportViolations(page: Page, scope: ReadingScope = {}): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(AXE);
  return page.evaluate(readingOf(scope));
}

/**
 * Options of axe, except for pseudo elements: the pseudo element over a card has no background and makes the whole card a link.
 */
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

/** Runs in the page. It is a string, because the tests have no types of the DOM. */
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
