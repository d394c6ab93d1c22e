import type { BrowserContextOptions } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { SearchResult } from '../../src/domain/search.ts';
import { untilClientLeaves } from '../../src/http/listener/request.ts';
import type { ListedSite } from '../../src/http/site/shelf.ts';
import type { AnswerSiteSearch } from '../../src/http/site/site-search.ts';
import { reportViolations } from '../helpers/accessibility.ts';
import { waitFor } from '../helpers/wait-for.ts';
import { HOSTILE, listed, SITES, shelfWith } from '../http/site/shelf-example.ts';
import { hasChromium, listenWith, useChromium, whyNoChromium } from './reader.ts';

type ShelfResult = SearchResult & { readonly site: string };

function result(site: string, path: string, title: string, content: string, word = title): ShelfResult {
  const start = content.indexOf(word);
  const highlights = start === -1 ? [] : [{ start, end: start + word.length }];
  const metadata = {
    score: 0.5,
    title,
    headings: [title, 'Part'],
    version: null,
    language: 'en',
    tags: [],
    highlights,
  };
  return { site, path, content, metadata };
}

/** Request of the search. The test responds to it. */
interface Question {
  readonly query: string | null;
  readonly signal: AbortSignal;
  readonly answer: (list: readonly ShelfResult[] | Response) => void;
}

const PHONE: BrowserContextOptions = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

describe.skipIf(!hasChromium)(`the shelf page (list of all sites) in a browser${whyNoChromium}`, () => {
  const chromium = useChromium();

  async function open({
    sites = SITES,
    search = true,
    ...profile
  }: BrowserContextOptions & { sites?: readonly ListedSite[]; search?: boolean } = {}) {
    const questions: Question[] = [];
    const answerSearch: AnswerSiteSearch = (request, env) =>
      new Promise((resolve) => {
        questions.push({
          query: new URL(request.url).searchParams.get('q'),
          signal: untilClientLeaves(request, env).signal,
          answer: (list) => resolve(list instanceof Response ? list : Response.json(list)),
        });
      });
    const app = shelfWith(sites, { search: search ? answerSearch : null });
    const reader = await chromium.open(await listenWith(app), profile);
    await reader.load('/');
    const { page } = reader;
    return {
      reader,
      page,
      questions,
      box: page.getByRole('searchbox'),
      /** Titles of the visible sites. */
      shown: () => page.locator('#sites > li:visible h2').allInnerTexts(),
      status: (text: string) =>
        page
          .getByRole('status')
          .filter({ hasText: new RegExp(`^${text}$`) })
          .waitFor(),
      question: (query: string) =>
        waitFor(
          () => questions.find((each) => each.query === query) ?? null,
          () => `"${query}" was not asked; asked: ${questions.map((each) => each.query)}`,
        ),
    };
  }

  it('shows the list and a search form without JavaScript', async () => {
    const { reader, page, shown, status, box } = await open({ javaScriptEnabled: false });
    expect(await shown()).toEqual(['Acme Docs', 'Café Handbuch', 'Coming']);
    await box.fill('cafe');
    await page.getByRole('button', { name: 'Find' }).click();
    await status('Sites: 1 of 3');
    expect([new URL(page.url()).search, await shown()]).toEqual(['?q=cafe', ['Café Handbuch']]);
    await page.getByRole('link', { name: 'Café Handbuch' }).waitFor();
    expect([reader.failures, reader.complaints]).toEqual([[], []]);
  });

  it('filters sites while the user types, and shows all sites again when the field is cleared', async () => {
    const { reader, page, shown, status, box, questions } = await open({ search: false });
    await box.pressSequentially('ROCK anv');
    await status('Sites: 1 of 3');
    expect(await shown()).toEqual(['Acme Docs']);
    await box.fill('nothing has this');
    await status('Sites: 0 of 3');
    expect(await shown()).toEqual([]);
    await box.fill('');
    await status('Sites: 3');
    expect(await shown()).toHaveLength(3);
    expect([questions, new URL(page.url()).search]).toEqual([[], '']);
    expect([reader.failures, reader.complaints]).toEqual([[], []]);
  });

  it('keeps the filter text after a reload of the page', async () => {
    const { page, shown, status, box } = await open({ search: false });
    await box.fill('handbuch');
    await status('Sites: 1 of 3');
    await page.waitForURL(/\?q=handbuch$/);
    await page.reload();
    expect([await shown(), await box.inputValue()]).toEqual([['Café Handbuch'], 'handbuch']);
    await box.fill('');
    await status('Sites: 3');
  });

  it('searches the pages of all sites, grouped by site in the order of their best result', async () => {
    const { reader, page, box, question, status } = await open();
    await box.fill('keys');
    const text = `${'before '.repeat(60)}of keys and ${'after '.repeat(200)}`;
    (await question('keys')).answer([
      result('cafe', '/schluessel#neu', 'Schlüssel', 'rotate keys here', 'keys'),
      result('acme', '/acme/guides/keys', 'Keys', text, 'keys'),
      result('cafe', '/mehr', 'Mehr', 'no word'),
      result('gone', '/x', 'Of a site that is not listed', ''),
      result('soon', '/x', 'Of a site that is not there yet', ''),
    ]);
    await status('Sites: 0 of 3 · Pages found: 3');
    const found = page.getByRole('region', { name: 'Results in pages' });
    expect(await found.getByRole('heading', { level: 3 }).allInnerTexts()).toEqual(['Café Handbuch', 'Acme Docs']);
    const links = await found.getByRole('link').all();
    expect(await Promise.all(links.map((link) => link.getAttribute('href')))).toEqual([
      'https://docs.cafe.internal/schluessel#neu',
      'https://docs.cafe.internal/mehr',
      '/acme/guides/keys',
    ]);
    expect(await found.locator('mark').allInnerTexts()).toEqual(['keys', 'keys']);
    expect(await found.locator('li').nth(2).innerText()).toMatch(/^Keys\s+Part\s+… (?:before )+of keys and after/);
    expect([reader.failures, reader.complaints]).toEqual([[], []]);
  });

  it('shows a hit in code as code, and a hit in prose without the adjacent code', async () => {
    const { page, box, question, status } = await open();
    await box.fill('keys');
    const text = 'make keys now\n\nkeys();\n\nuse keys';
    const withHitAt = (start: number) => {
      const { metadata, ...found } = result('acme', `/acme/${start}`, 'Keys', text);
      const highlights = [{ start, end: start + 4 }];
      return { ...found, metadata: { ...metadata, highlights, code: [{ start: 15, end: 22 }] } };
    };
    (await question('keys')).answer([5, 15, 28].map(withHitAt));
    await status('Sites: 0 of 3 · Pages found: 3');
    const excerpts = page.locator('#results .text');
    expect(await excerpts.allInnerTexts()).toEqual(['make keys now', 'keys();', '… use keys']);
    expect(await excerpts.locator('code').allInnerTexts()).toEqual(['keys();']);
  });

  it('sends a request when the user stops typing, and cancels an earlier request without showing its response', async () => {
    const { page, box, question, questions, status } = await open();
    await box.pressSequentially('ke');
    const first = await question('ke');
    await box.pressSequentially('ys');
    const second = await question('keys');
    await waitFor(
      () => (first.signal.aborted ? true : null),
      () => 'the first question was not given up',
    );
    second.answer([result('acme', '/second', 'Second', 'second')]);
    await page.getByRole('link', { name: 'Second' }).waitFor();
    first.answer([result('acme', '/first', 'First', 'first')]);
    // A third query and its response. Effects of the first response would be visible by then.
    await box.fill('third');
    (await question('third')).answer([result('acme', '/third', 'Third', 'third')]);
    await status('Sites: 0 of 3 · Pages found: 1');
    expect(await page.locator('#results a').allInnerTexts()).toEqual(['Third']);
    expect(questions.map(({ query }) => query)).toEqual(['ke', 'keys', 'third']);
  });

  it('shows only the response to the last query, in whatever order responses arrive', async () => {
    const { page, box, status } = await open();
    // Makes the browser abort no request, so that a late response arrives after the next query.
    await page.evaluate(`{
      window.answers = new Map();
      window.fetch = (address) => new Promise((resolve) => {
        const q = new URL(address, location.href).searchParams.get('q');
        window.answers.set(q, (list) => resolve(Response.json(list)));
      });
    }`);
    const searchFor = async (query: string): Promise<void> => {
      await box.fill(query);
      await waitFor(
        async () => ((await page.evaluate(`window.answers.has('${query}')`)) === true ? true : null),
        () => `"${query}" was not asked`,
      );
    };
    const answer = (query: string): Promise<unknown> =>
      page.evaluate(`window.answers.get('${query}')(${JSON.stringify([result('acme', '/x', query, query)])})`);
    await searchFor('first');
    await searchFor('second');
    await answer('second');
    await page.getByRole('link', { name: 'second' }).waitFor();
    await answer('first');
    await page.evaluate('new Promise((resolve) => setTimeout(resolve))');
    expect(await page.locator('#results a').allInnerTexts()).toEqual(['second']);
    await status('Sites: 0 of 3 · Pages found: 1');
  });

  it.each([
    [429, 'Too many searches at the moment. Try again shortly.'],
    [503, 'The search is not ready yet. Try again shortly.'],
    [500, 'The search did not respond. Try again shortly.'],
  ])('shows an error message if the search responds with %i, and still filters', async (status, sentence) => {
    const { page, box, question, status: said, shown } = await open();
    await box.fill('acme');
    (await question('acme')).answer(Response.json({ error: 'x' }, { status }));
    await said(`Sites: 1 of 3 · ${sentence}`);
    expect(await shown()).toEqual(['Acme Docs']);
    await box.fill('acme docs');
    (await question('acme docs')).answer([result('acme', '/a', 'A', 'a')]);
    await page.getByRole('link', { name: 'A', exact: true }).waitFor();
  });

  it('links to no other host and runs no script, whatever the titles of sites and pages are', async () => {
    const sites = [listed('evil', { title: HOSTILE, description: HOSTILE, version: HOSTILE, address: '/' })];
    const { reader, page, box, question, status } = await open({ sites });
    await box.fill('document');
    (await question('document')).answer(
      ['//elsewhere.dev/', '/\\elsewhere.dev', '\\\\elsewhere.dev', 'javascript:alert(1)'].map((path) =>
        result('evil', path, HOSTILE, HOSTILE, 'script'),
      ),
    );
    await status('Sites: 1 of 1 · Pages found: 4');
    const links = page.locator('#results a');
    const origins = await links.evaluateAll((all) =>
      all.map((link) => new URL((link as { href?: string }).href ?? '').origin),
    );
    expect(new Set(origins)).toEqual(new Set([new URL(page.url()).origin]));
    expect(await links.first().innerText()).toBe(HOSTILE);
    expect([await page.title(), await page.locator('#results script, #results img').count()]).toEqual([
      'Documentation',
      0,
    ]);
    await box.fill('');
    await status('Sites: 1');
    expect([reader.blocked, reader.failures, reader.complaints]).toEqual([[], [], []]);
  });

  it('works with the keyboard alone', async () => {
    const { page, box, status } = await open({ search: false });
    await page.keyboard.press('/');
    expect(await box.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
    await page.keyboard.type('a/b');
    expect(await box.inputValue()).toBe('a/b');
    await page.keyboard.press('/');
    expect(await box.inputValue()).toBe('a/b/');
    await status('Sites: 0 of 3');
    await page.keyboard.press('Escape');
    await status('Sites: 3');
    expect(await box.inputValue()).toBe('');
    await box.fill('acme');
    await status('Sites: 1 of 3');
    await page.keyboard.press('Tab');
    const link = page.getByRole('link', { name: 'Acme Docs' });
    const outline = await link.evaluate((element) => {
      const view = element.ownerDocument.defaultView;
      const style = view?.getComputedStyle(element, '::after');
      return [element === element.ownerDocument.activeElement, style?.outlineStyle, style?.outlineWidth];
    });
    expect(outline).toEqual([true, 'solid', '3px']);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/acme/');
  });

  it('works with the keyboard alone without JavaScript, with a visible focus in visual order', async () => {
    const { page, box } = await open({ javaScriptEnabled: false });
    const stops = [
      box,
      page.getByRole('button', { name: 'Find' }),
      page.getByRole('link', { name: 'Acme Docs' }),
      page.getByRole('link', { name: 'Café Handbuch' }),
    ];
    for (const stop of stops) {
      await page.keyboard.press('Tab');
      const isSeen = await stop.evaluate((element) => {
        const view = element.ownerDocument.defaultView;
        const outlines = [null, '::after'].map((part) => view?.getComputedStyle(element, part).outlineStyle);
        return element === element.ownerDocument.activeElement && outlines.includes('solid');
      });
      expect([stop.toString(), isSeen]).toEqual([stop.toString(), true]);
    }
  });

  it('opens a site on a click anywhere on its card', async () => {
    const { page } = await open();
    const card = page.locator('#sites > li').first();
    await card.click({ position: { x: 8, y: 8 } });
    await page.waitForURL('**/acme/');
  });

  const SCHEMES = ['light', 'dark'] as const;
  const WINDOWS = { wide: { viewport: { width: 1280, height: 900 } }, phone: PHONE };
  it.each(
    SCHEMES.flatMap((colorScheme) => Object.entries(WINDOWS).map(([name, window]) => ({ name, colorScheme, window }))),
  )('passes the accessibility checks: $name, $colorScheme', async ({ colorScheme, window }) => {
    const { page, box, question, status } = await open({ colorScheme, ...window });
    expect(await reportViolations(page)).toEqual([]);
    await box.fill('acme');
    (await question('acme')).answer([result('acme', '/a', 'Keys', `the word Keys ${'x'.repeat(300)}`)]);
    await status('Sites: 1 of 3 · Pages found: 1');
    expect(await reportViolations(page)).toEqual([]);
    await box.fill('nothing');
    (await question('nothing')).answer([]);
    await status('Sites: 0 of 3 · No page found');
    expect(await reportViolations(page)).toEqual([]);
    const ground = await page.locator('body').evaluate((body) => {
      const view = body.ownerDocument.defaultView;
      return view?.getComputedStyle(body).backgroundColor;
    });
    expect(ground).toBe(colorScheme === 'light' ? 'rgb(245, 246, 248)' : 'rgb(16, 19, 24)');
  });

  it('passes the accessibility checks without scripts, whatever the titles of sites are', async () => {
    const sites = [
      ...SITES,
      listed('long', { title: 'The handbook of all things '.repeat(12), description: 'x'.repeat(400) }),
      listed('rtl', { title: 'دليل المستخدم للإصدار 2.0', description: 'كل شيء عن الصواريخ', language: 'ar' }),
      listed('hostile', { title: HOSTILE, description: HOSTILE, version: HOSTILE }),
    ];
    const { page, box } = await open({ sites, ...PHONE });
    // axe needs scripts, so block only those of the page.
    await page.route('**/*.js', (route) => route.abort());
    await page.reload();
    expect(await reportViolations(page)).toEqual([]);
    const direction = await page.getByRole('heading', { name: 'دليل' }).evaluate((title) => {
      const view = title.ownerDocument.defaultView;
      return view?.getComputedStyle(title).direction;
    });
    expect(direction).toBe('rtl');
    await box.fill('rtl');
    await box.press('Enter');
    await page.waitForURL('**/?q=rtl');
    expect(await reportViolations(page)).toEqual([]);
  });

  it('shows a message if there is no site', async () => {
    const { reader, page, status } = await open({ sites: [] });
    await status('There is no documentation here yet.');
    await page.keyboard.press('/');
    expect(await reportViolations(page)).toEqual([]);
    expect([reader.failures, reader.complaints]).toEqual([[], []]);
  });

  it('filters two hundred sites without delay', async () => {
    const sites = Array.from({ length: 200 }, (_, at) =>
      listed(`site-${at}`, { description: `Number ${at} of many words` }),
    );
    const { page, box, shown, status } = await open({ sites, search: false });
    const medianMs = await box.evaluate((element) => {
      const input = element as unknown as { value: string; dispatchEvent(event: unknown): void; offsetHeight: number };
      const times = Array.from({ length: 21 }, (_, at) => {
        const startMs = performance.now();
        input.value = at % 2 === 0 ? 'number 1' : '';
        input.dispatchEvent(new Event('input'));
        // Include the layout that the browser computes.
        void input.offsetHeight;
        return performance.now() - startMs;
      });
      return times.sort((one, other) => one - other)[10] ?? 0;
    });
    // A frame takes 17 ms. Test machines can be busy.
    expect(medianMs).toBeLessThan(100);
    await box.fill('site-19 number');
    await status('Sites: 11 of 200');
    expect(await shown()).toHaveLength(11);
    await page.getByRole('link', { name: 'site-199' }).waitFor();
  });
});
