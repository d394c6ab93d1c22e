import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { reportViolations } from '../helpers/accessibility.ts';
import { Reader } from './reader.ts';

/** Widths of a phone, a laptop and a wall display. */
const WIDTHS = [390, 1280, 2560] as const;
const SCHEMES = ['light', 'dark'] as const;
const HEIGHT = 844;
const TABS_MAX = 100;

type Role = 'button' | 'link' | 'textbox' | 'searchbox' | 'combobox';

interface Entry extends BrowserContextOptions {
  readonly token: string;
  /** First path in the console, without a leading slash. */
  readonly path?: string;
}

/** Operator who uses only the keyboard. It records all errors of the pages. */
export class ConsoleOperator {
  readonly reader: Reader;
  readonly page: Page;

  private constructor(reader: Reader) {
    this.reader = reader;
    this.page = reader.page;
  }

  /** @param admin origin of the admin listener */
  static async open(browser: Browser, admin: string, profile: BrowserContextOptions = {}): Promise<ConsoleOperator> {
    return new ConsoleOperator(await Reader.open(browser, admin, profile));
  }

  /** Signs in from a page of the console, and returns to it. */
  static async signedIn(browser: Browser, admin: string, { token, path = '', ...profile }: Entry) {
    const operator = await ConsoleOperator.open(browser, admin, profile);
    await operator.show(path);
    await operator.page.getByRole('banner').getByRole('link', { name: 'Sign in' }).press('Enter');
    await operator.page.getByLabel('Admin token').fill(token);
    await operator.page.keyboard.press('Enter');
    await operator.page.getByRole('button', { name: 'Sign out' }).waitFor();
    expect(new URL(operator.page.url()).pathname).toBe(`/${path}`);
    return operator;
  }

  /** Waits until the page has loaded. It never becomes idle, because its event stream does not end. */
  async show(path: string): Promise<void> {
    await this.page.goto(`${this.reader.site}/${path}`);
  }

  /** Finds only elements that the keyboard reaches and presses. */
  readonly press = async (role: Role, name: string | RegExp): Promise<void> => {
    await this.page.getByRole(role, { name, exact: true }).focus();
    await this.page.keyboard.press('Enter');
  };

  readonly untilMessage = (text: string | RegExp): Promise<void> => this.page.getByText(text).first().waitFor();

  /** Opens the content of a closed `summary`. */
  async unfold(selector: string): Promise<void> {
    await this.page.locator(`${selector} summary`).focus();
    await this.page.keyboard.press('Enter');
  }

  /** Presses Tab from the current focus until the element has it. */
  async tabTo(role: Role, name: string, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
    const wanted = this.page.getByRole(role, { name, exact: true });
    for (let tabs = 0; tabs < TABS_MAX; tabs += 1) {
      if (await wanted.evaluate((element) => element === document.activeElement)) return;
      await this.page.keyboard.press(key);
    }
    throw new Error(`${TABS_MAX} times ${key} do not lead to the ${role} "${name}"`);
  }

  /**
   * Checks a page at three widths and in both color schemes: axe reports nothing, no table column is cut off or outside, the
   * page does not scroll sideways, identifiers do not wrap, and lines of a cell are aligned. @param rowsMax number of rows per
   * table that axe checks
   */
  async looksWell(name: string, { rowsMax }: { readonly rowsMax?: number } = {}): Promise<void> {
    const scope = rowsMax === undefined ? {} : { rowsMax };
    for (const [at, width] of WIDTHS.entries()) {
      await this.page.setViewportSize({ width, height: HEIGHT });
      for (const colorScheme of SCHEMES) {
        await this.page.emulateMedia({ colorScheme });
        const isContrastOnly = colorScheme !== SCHEMES[at % SCHEMES.length];
        const breaches = await reportViolations(this.page, { ...scope, isContrastOnly });
        expect({ name, width, colorScheme, breaches }).toEqual({ name, width, colorScheme, breaches: [] });
      }
      const outside = await this.page.evaluate(OUTSIDE);
      expect({ name, width, outside }).toEqual({ name, width, outside: [] });
      const misset = await this.page.evaluate(MISSET);
      expect({ name, width, misset }).toEqual({ name, width, misset: [] });
    }
  }

  /** @param failures paths and statuses of expected failures */
  async leave(failures: readonly string[] = []): Promise<void> {
    const { blocked, complaints } = this.reader;
    expect({ blocked, complaints }).toEqual({ blocked: [], complaints: [] });
    // The script requests the page of an error again.
    expect([...new Set(this.reader.failures.map(({ path, why }) => `${why} /${path}`))]).toEqual(failures);
    await this.reader.close();
  }
}

/** Runs in the page: table cells outside the window, and content that is cut off in them. */
const OUTSIDE = `(() => {
  const found = [];
  for (const cell of document.querySelectorAll('td, tbody th')) {
    const { left, right } = cell.getBoundingClientRect();
    const end = cell.closest('.table')?.getBoundingClientRect().right ?? innerWidth;
    if (left < 0 || right > end + 1 || cell.scrollWidth > cell.clientWidth + 1)
      found.push(cell.outerHTML.slice(0, 120) + ': ' + left + ' to ' + right);
  }
  const { scrollWidth } = document.documentElement;
  if (scrollWidth !== innerWidth) found.push('the page is ' + scrollWidth + ' wide');
  return found;
})()`;

/**
 * Runs in the page: identifiers that wrap, and lines that begin to the left of the first line in cells with a column label. An
 * identifier is a `mark`, a one-word `code`, or a word with a digit or underscore, of at most 24 characters.
 */
const MISSET = `(() => {
  const found = new Set();
  const range = document.createRange();
  const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    const isMarked = text.parentElement.closest('.name, code:not(pre *)') !== null && !/\\s/.test(text.nodeValue);
    for (const { 0: word, index } of text.nodeValue.matchAll(isMarked ? /[^\\s]{4,}/g : /[\\w.]{6,}/g)) {
      if (word.length > 24 || !(isMarked || /[\\d_]/.test(word))) continue;
      range.setStart(text, index);
      range.setEnd(text, index + word.length);
      if (new Set(Array.from(range.getClientRects(), ({ bottom }) => Math.round(bottom))).size > 1)
        found.add(word + ' breaks inside: ' + text.parentElement.outerHTML.slice(0, 120));
    }
  }
  for (const cell of document.querySelectorAll('td[data-column]')) {
    if (getComputedStyle(cell, '::before').content === 'none') continue;
    range.selectNodeContents(cell);
    const [first, ...others] = [...range.getClientRects()].filter(({ width, height }) => width > 0 && height > 0);
    if (others.some(({ left }) => left < first.left - 1))
      found.add('a line is below the label: ' + cell.outerHTML.slice(0, 120));
  }
  return [...found];
})()`;
