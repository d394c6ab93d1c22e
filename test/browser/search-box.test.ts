import type { BrowserContextOptions } from 'playwright-core';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { PAGE_LANGUAGES } from '../../src/web/words/index.ts';
import { reportViolations } from '../helpers/accessibility.ts';
import { hasChromium, useChromium, whyNoChromium } from './reader.ts';
import { type BoxPage, SearchBoxSite } from './search-box-site.ts';

function result(path: string, title: string, content: string, word = 'keys', headings: readonly string[] = [title]) {
  const highlights = [...content.matchAll(new RegExp(word, 'g'))].map(({ index }) => ({
    start: index,
    end: index + word.length,
  }));
  return {
    path,
    content,
    metadata: {
      score: 0.5,
      title,
      headings,
      version: null,
      language: 'en',
      tags: [],
      highlights,
      code: codeIn(content),
    },
  };
}

/** Position of the code, which begins with `import` and is the last block. */
function codeIn(content: string) {
  const start = content.indexOf('import');
  return start === -1 ? [] : [{ start, end: content.length }];
}

const KEYS = [
  result('/docs/keys#rotate', 'Keys', 'How to rotate keys in a running daemon.', 'keys', ['Keys', 'Rotate']),
  result('/docs/other', 'Other', 'Some text before.\n\nimport { keys } from "a";\nconst b = keys();\n'),
  result('/docs/keys#make', 'Keys', 'Make keys.', 'keys', ['Keys', 'Make']),
];
const PHONE: BrowserContextOptions = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

describe.skipIf(!hasChromium)(`the search box in a browser${whyNoChromium}`, () => {
  const chromium = useChromium();
  let site: SearchBoxSite;
  let count = 0;

  beforeAll(async () => {
    site = await SearchBoxSite.start();
  });
  afterEach(async () => {
    site.questions.length = 0;
  });

  async function open(written: BoxPage = {}, profile: BrowserContextOptions = {}) {
    count += 1;
    const path = site.add(`${written.name ?? 'page'}-${count}`, written);
    const reader = await chromium.open(site.origin, profile);
    await reader.load(path);
    const { page } = reader;
    const status = (text: string | RegExp) => page.getByRole('status').filter({ hasText: text }).waitFor();
    /** Opens the box by its key, and types a query. */
    const ask = async (query: string): Promise<void> => {
      await page.keyboard.press('Control+k');
      await page.getByRole('dialog').waitFor();
      await page.keyboard.type(query);
    };
    return {
      reader,
      page,
      path,
      status,
      button: page.locator('docshelf-search').getByRole('link'),
      box: page.getByRole('combobox', { name: 'Search this documentation' }),
      options: page.getByRole('option'),
      ask,
      /** Asks for a query, and sends one response. */
      find: async (query: string, results: readonly object[] = KEYS) => {
        await ask(query);
        (await site.question({ q: query, legs: 'words' })).answer({ results });
        await status(/\d|“/);
      },
      expectQuiet: () => expect([reader.failures, reader.complaints, reader.blocked]).toEqual([[], [], []]),
    };
  }

  it.each([
    ['Control+k', 'Control+k'],
    ['Meta+k', 'Meta+k'],
    ['/', '/'],
  ])(
    'opens on %s, keeps text that is typed while it loads, and returns the focus when it closes',
    async (_name, key) => {
      const { page, box, expectQuiet } = await open({ body: '<h1>A page</h1><a id="here" href="#x">x</a>' });
      await page.locator('#here').focus();
      await page.keyboard.press(key);
      await page.keyboard.type('abc');
      await box.waitFor();
      await page.keyboard.type('def');
      await site.question({ q: 'abcdef' });
      expect(await box.inputValue()).toBe('abcdef');
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.waitForFunction("document.activeElement.id === 'here'");
      expectQuiet();
    },
  );

  it.each([
    ['its button', "querySelector('.head button').click()"],
    ['Escape', "querySelector('dialog').dispatchEvent(new Event('cancel', { cancelable: true }))"],
  ])(
    'returns the focus immediately when %s closes it, so that the page receives the next key',
    async (_name, close) => {
      const { page, box } = await open({ body: '<h1>A page</h1><a id="here" href="#x">x</a>' });
      await page.locator('#here').focus();
      await page.keyboard.press('/');
      await box.waitFor();
      const closed = `(document.querySelector('docshelf-search-dialog').shadowRoot.${close}, document.activeElement.id)`;
      expect(await page.evaluate(closed)).toBe('here');
      await page.keyboard.press('/');
      await box.waitFor();
    },
  );

  it('ignores its shortcut keys while the user types in a field of the page', async () => {
    const { page } = await open({ body: '<h1>A</h1><input aria-label="a"><div contenteditable>b</div>' });
    for (const field of ['input', '[contenteditable]']) {
      await page.locator(field).focus();
      await page.keyboard.type('a/b');
    }
    expect([await page.locator('input').inputValue(), await page.locator('[contenteditable]').innerText()]).toEqual([
      'a/b',
      'a/bb',
    ]);
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it('shows the rows of a table on separate lines, and links to the words of the cell with the hit', async () => {
    const { find, options } = await open();
    await find('keys', [result('/docs/table', 'Table', 'Name · Meaning\nstore · where keys are · the data folder')]);
    expect(await options.first().getAttribute('href')).toBe(`${site.origin}/docs/table#:~:text=where-,keys,-are`);
    expect(await options.first().innerText()).toBe('Name · Meaning\nstore · where keys are · the data folder');
  });

  it('groups results by page, marks hits, formats code, and links to the section with the found words', async () => {
    const { page, find, options, expectQuiet } = await open();
    await find('keys');
    await page.getByRole('status').filter({ hasText: 'Results: 3' }).waitFor();
    expect(await page.locator('[role=group] > .page').allInnerTexts()).toEqual(['Keys', 'Other']);
    expect(await options.locator('.place').allInnerTexts()).toEqual(['Rotate', 'Make']);
    expect(await page.locator('mark').allInnerTexts()).toEqual(['keys', 'keys', 'keys', 'keys']);
    expect(await page.locator('.code').innerText()).toBe('import { keys } from "a";\nconst b = keys();');
    expect(await options.first().getAttribute('href')).toBe(
      `${site.origin}/docs/keys#rotate:~:text=How%20to%20rotate-,keys,-in%20a%20running`,
    );
    expectQuiet();
  });

  it('works with the keyboard alone: arrow keys, Enter, a new tab', async () => {
    const target = site.add('keys', { body: '<h1>Keys</h1><p>Make keys.</p>' });
    const { page, find, options } = await open();
    await find('keys');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    expect(await options.evaluateAll((all) => all.map((each) => each.getAttribute('aria-selected')))).toEqual([
      'false',
      'false',
      'true',
    ]);
    await page.keyboard.press('ArrowUp');
    const [tab] = await Promise.all([page.context().waitForEvent('page'), page.keyboard.press('Control+Enter')]);
    await tab.waitForURL(`**${target}*`);
    await tab.close();
    await page.keyboard.press('Enter');
    await page.waitForURL(`**${target}*`);
    expect(await page.locator('h1').innerText()).toBe('Keys');
  });

  it('opens the first result of the typed text, even if the user presses Enter before the results arrive', async () => {
    const target = site.add('keys', { body: '<h1>Keys</h1>' });
    const { page, box } = await open();
    await page.keyboard.press('/');
    await box.waitFor();
    await page.keyboard.type('keys');
    await page.keyboard.press('Enter');
    (await site.question({ q: 'keys' })).answer({ results: KEYS });
    await page.waitForURL(`**${target}*`);
  });

  it('adds results by meaning below the result that the user has selected', async () => {
    const { page, options, status, ask } = await open();
    const meant = result('/docs/meant', 'Meant', 'Something else.', 'none');
    const place = () => options.first().evaluate((node) => node.getBoundingClientRect().y);
    await ask('keys');
    (await site.question({ q: 'keys', legs: 'words' })).answer({ results: KEYS, semantic: true });
    await status('Results: 3');
    await page.keyboard.press('ArrowDown');
    const before = await place();
    (await site.question({ q: 'keys', legs: 'all' })).answer({ results: [meant, ...KEYS], semantic: true });
    await status('Results: 4');
    expect([await page.locator('.page').allInnerTexts(), await place()]).toEqual([['Keys', 'Other', 'Meant'], before]);
    expect(await page.locator('[aria-selected=true] .place').innerText()).toBe('Make');
  });

  it('does not move results while the pointer rests on a result', async () => {
    const { page, options, status, ask } = await open();
    const meant = result('/docs/meant', 'Meant', 'Something else.', 'none');
    await ask('keys');
    (await site.question({ q: 'keys', legs: 'words' })).answer({ results: KEYS, semantic: true });
    await status('Results: 3');
    await options.nth(1).hover();
    const before = await options.nth(1).boundingBox();
    (await site.question({ q: 'keys', legs: 'all' })).answer({ results: [meant, ...KEYS], semantic: true });
    await status('Results: 4');
    expect([await page.locator('.page').allInnerTexts(), await options.nth(1).boundingBox()]).toEqual([
      ['Keys', 'Other', 'Meant'],
      before,
    ]);
  });

  it('sends one request for text typed without a pause, and cancels the request if the user continues typing', async () => {
    const { page, box } = await open();
    const aborted: string[] = [];
    page.on('requestfailed', (request) => {
      aborted.push(`${new URL(request.url()).searchParams.get('q')} ${request.failure()?.errorText}`);
    });
    await page.keyboard.press('/');
    await box.waitFor();
    await box.evaluate((element) => {
      const input = element as unknown as { value: string; dispatchEvent(event: object): void };
      for (const text of ['k', 'ke', 'key', 'keys']) {
        input.value = text;
        input.dispatchEvent(new Event('input'));
      }
    });
    await site.question({ q: 'keys' });
    expect(site.questions).toEqual([]);
    await box.fill('other');
    await site.question({ q: 'other' });
    await expect.poll(() => aborted).toEqual(['keys net::ERR_ABORTED']);
  });

  it('keeps the focus within the dialog with Tab and Shift+Tab, and returns the focus when the dialog closes', async () => {
    const { page, box } = await open({
      body: '<h1>A</h1><a id="before" href="#b">b</a><a id="here" href="#x">x</a>',
      attributes: 'data-shelf="true"',
    });
    await page.locator('#here').focus();
    await page.keyboard.press('/');
    await box.waitFor();
    const focused = async (key: string): Promise<string[]> => {
      const seen: string[] = [];
      for (let times = 0; times < 8; times += 1) {
        await page.keyboard.press(key);
        seen.push(
          (await page.evaluate(
            `document.activeElement.shadowRoot?.activeElement?.localName ?? document.activeElement.localName`,
          )) as string,
        );
      }
      return seen;
    };
    for (const key of ['Tab', 'Shift+Tab']) {
      const seen = await focused(key);
      expect(seen).toEqual(expect.arrayContaining(['input', 'button', 'select']));
      // The body has the focus while the browser's own toolbar has it.
      expect(seen.filter((name) => !['input', 'button', 'select', 'body'].includes(name))).toEqual([]);
    }
    await page.keyboard.press('Escape');
    await page.waitForFunction("document.activeElement.id === 'here'");
  });

  it('scrolls to the found words, however far they are below the heading', async () => {
    const filler = '<p>Nothing of it here.</p>'.repeat(300);
    site.add('long', { body: `<h2 id="make">Make</h2>${filler}<p id="hit">Make keys at last.</p>${filler}` });
    const { page, find } = await open();
    await find('keys', [result('/docs/long#make', 'Long', 'Make keys at last.')]);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/long*');
    await page.waitForFunction(`{
      const { top, bottom } = document.getElementById('hit').getBoundingClientRect();
      top >= 0 && bottom <= innerHeight;
    }`);
  });

  it('uses plain colours if the user prefers more contrast, and no animation if the user prefers reduced motion', async () => {
    const { page, find } = await open({}, { contrast: 'more', reducedMotion: 'reduce' });
    await find('keys');
    const colours = await page
      .getByRole('dialog')
      .evaluate((dialog) =>
        [dialog, ...dialog.querySelectorAll('.place, .told, .keys')].map((node) => getComputedStyle(node).color),
      );
    expect(new Set(colours).size).toBe(1);
    expect(await page.evaluate('document.getAnimations().length')).toBe(0);
  });

  it('never shows the response to an earlier query', async () => {
    const { page, options, status, ask } = await open();
    await ask('first');
    const first = await site.question({ q: 'first' });
    await page.getByRole('combobox').fill('second');
    (await site.question({ q: 'second' })).answer({ results: [result('/docs/b', 'Second', 'b')] });
    await status('Results: 1');
    first.answer({ results: [result('/docs/a', 'First', 'a'), result('/docs/c', 'C', 'c')] });
    await page.getByRole('combobox').fill('third');
    (await site.question({ q: 'third' })).answer({ results: [result('/docs/d', 'Third', 'd')] });
    await page.locator('.page', { hasText: 'Third' }).waitFor();
    expect(await options.count()).toBe(1);
  });

  it('removes the number of earlier results while it searches by meaning for a query without results by words', async () => {
    const { page, status, ask } = await open({ lang: '' });
    await ask('keys');
    (await site.question({ q: 'keys', legs: 'words' })).answer({ results: KEYS });
    await status('Results: 3');
    await page.getByRole('combobox').fill('TS9999');
    (await site.question({ q: 'TS9999', legs: 'words' })).answer({ results: [], semantic: true });
    await site.question({ q: 'TS9999', legs: 'all' });
    await page.getByRole('status').filter({ hasText: /^$/ }).waitFor({ state: 'attached' });
  });

  it('suggests the corrected word, and searches for this word on request', async () => {
    const { page, status, ask } = await open();
    await ask('kyes');
    (await site.question({ q: 'kyes' })).answer({ results: [] });
    // The box removes the filter for the page's language before it shows no results.
    const again = await site.question({ q: 'kyes' });
    expect(again.parameters.language).toBe(undefined);
    again.answer({ results: [], corrected: 'keys' });
    await status('Nothing found for “kyes”');
    await page.getByRole('button', { name: 'Did you mean keys?' }).click();
    (await site.question({ q: 'keys' })).answer({ results: KEYS });
    await status('Results: 3');
  });

  it.each([
    [401, 'You are no longer signed in'],
    [429, 'Too many searches'],
    [503, 'not ready yet'],
    [500, 'did not respond'],
  ])('shows an error message if the search responds with %i', async (code, sentence) => {
    const { status, ask } = await open();
    await ask('keys');
    (await site.question({ q: 'keys' })).answer(code);
    await status(sentence);
  });

  it.each([
    ['states', 'page', '<meta name="docsearch:version" content="2.0,latest">', '2.0'],
    ['has in its address', 'folder/2.0/page', '', undefined],
  ])(
    'searches in the language of the page and the version that the page %s, until the reader selects other values',
    async (_, name, head, expected) => {
      const { page, status, ask } = await open({ lang: 'de', head, name });
      await ask('keys');
      const facets = { languages: ['en', 'de'], versions: ['1.0', '2.0'], tags: [] };
      const first = await site.question({ q: 'keys' });
      expect({ ...first.parameters }).toMatchObject({ language: 'de', ...(expected && { version: expected }) });
      first.answer({ results: KEYS, facets });
      if (expected === undefined)
        (await site.question({ q: 'keys', version: '2.0' })).answer({ results: KEYS, facets });
      await status('Ergebnisse: 3');
      expect(await page.getByLabel('Version').inputValue()).toBe('2.0');
      expect(await page.getByLabel('Sprache').inputValue()).toBe('de');
      await page.getByLabel('Version').selectOption('');
      await page.getByPlaceholder('durchsuchen').fill('keyring');
      const all = await site.question({ q: 'keyring', language: 'de' });
      expect(all.parameters.version).toBe(undefined);
      all.answer({ results: KEYS, facets });
      await status('Ergebnisse: 3');
    },
  );

  it('searches in the version of the current page of a single-page application', async () => {
    const { page, status, ask } = await open({ head: '<meta name="docusaurus_version" content="1.0">' });
    const facets = { languages: [], versions: ['1.0', '2.0'], tags: [] };
    for (const version of ['1.0', '2.0']) {
      await page.evaluate((next) => {
        history.pushState(null, '', `?of=${next}`);
        history.pushState(null, '', `/docs/moved-${next}`);
        document.querySelector('meta[name=docusaurus_version]')?.setAttribute('content', next);
      }, version);
      await ask(`keys${version}`);
      (await site.question({ q: `keys${version}`, version })).answer({ results: KEYS, facets });
      await status('Results: 3');
      expect(await page.getByLabel('Version').inputValue()).toBe(version);
      await page.keyboard.press('Escape');
    }
  });

  it('offers filters for site, language, version and tag if several values exist', async () => {
    const { page, status, ask } = await open({ attributes: 'data-shelf="true"' });
    await ask('keys');
    const facets = { languages: ['en', 'de'], versions: ['1', '2'], tags: ['guide', 'reference'] };
    const own = await site.question({ q: 'keys' });
    expect(own.parameters).toEqual({ q: 'keys', view: 'box', limit: '30', legs: 'words', language: 'en' });
    own.answer({ results: KEYS, facets });
    await status('Results: 3');
    expect(await page.locator('label > span').allInnerTexts()).toEqual(['Where', 'Language', 'Version', 'Tag']);
    await page.getByLabel('Language').selectOption({ label: 'German' });
    expect((await site.question({ q: 'keys', language: 'de' })).parameters.version).toBe(undefined);
    await page.getByLabel('Version').selectOption('2');
    await site.question({ q: 'keys', language: 'de', version: '2' });
    await page.getByLabel('Tag').selectOption('reference');
    await site.question({ q: 'keys', language: 'de', version: '2', tag: 'reference' });
    await page.getByLabel('Where').selectOption('all');
    const elsewhere = { ...KEYS[0], site: { domain: 'b', title: 'Site B', address: 'https://b.test/docs/' } };
    (await site.question({ q: 'keys', scope: 'all' })).answer({ results: [elsewhere], facets });
    await status('Results: 1');
    expect(await page.locator('[role=option]').getAttribute('href')).toMatch(/^https:\/\/b\.test\/docs\/keys#rotate/);
    expect(await page.locator('.fact').innerText()).toBe('Site B');
  });

  it('stores queries that led to a page, and deletes them on request', async () => {
    site.add('keys', { body: '<h1>Keys</h1>' });
    const { page, find, reader, path } = await open();
    await find('keys');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/keys*');
    await reader.load(path);
    await page.keyboard.press('/');
    await page.getByRole('option', { name: 'keys' }).waitFor();
    await page.keyboard.press('Enter');
    expect(await page.getByRole('combobox').inputValue()).toBe('');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    (await site.question({ q: 'keys' })).answer({ results: KEYS });
    await page.getByRole('combobox').fill('');
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('option').waitFor({ state: 'detached' });
  });

  it('works on pages that freeze prototypes, set a base URL, block storage or block custom elements', async () => {
    const hostile = site.addScript(
      'hostile.js',
      `for (const each of [Object, Array, Function, Promise, String, HTMLElement, Element, Node, EventTarget, Document])
         Object.freeze(each.prototype);
       for (const name of ['localStorage', 'customElements'])
         Object.defineProperty(window, name, { get() { throw new Error('none of that here'); } });
       for (const type of ['keydown', 'keyup', 'keypress'])
         document.addEventListener(type, (event) => { if (event.key === 'a') event.preventDefault(); });`,
    );
    site.add('keys', { body: '<h1>Keys</h1>' });
    const { page, find, button, expectQuiet } = await open({
      head: `<base href="/elsewhere/x/"><script src="${site.origin}${hostile}"></script>`,
    });
    await button.waitFor();
    await find('banana', KEYS);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${site.origin}/docs/keys*`);
    expectQuiet();
  });

  it('escapes markup in text from a page', async () => {
    const hostile = '"><img src=x onerror=alert(1)><script>alert(2)</script>';
    const { page, find, expectQuiet } = await open();
    await find('keys', [result('//evil.test/x', hostile, hostile, 'img', [hostile, hostile])]);
    expect(await page.getByRole('option').getAttribute('href')).toMatch(`${site.origin}/evil.test/x`);
    expect(await page.locator('.page').innerText()).toBe(hostile);
    expectQuiet();
  });

  it('appears only once if the page contains a placeholder or a docshelf-search element', async () => {
    const { page, button } = await open({ body: '<h1>A</h1><p><span data-docshelf-search></span></p>' });
    await page.locator('[data-docshelf-search] docshelf-search, p docshelf-search').waitFor();
    await button.click();
    await page.getByRole('dialog').waitFor();
    const body = '<h1>A</h1><p id="own"><docshelf-search></docshelf-search></p>';
    const own = await open({ body, lang: 'de', isByHand: true });
    await own.page.locator('#own docshelf-search').getByRole('link', { name: 'Suchen' }).click();
    await own.page.getByRole('dialog').waitFor();
    expect(await own.page.locator('docshelf-search').count()).toBe(1);
  });

  it('replaces the element that the attribute data-replace selects', async () => {
    const { page, button } = await open({
      attributes: 'data-replace=".theirs, #gone"',
      body: '<h1>A</h1><p>text <button class="theirs">Their search</button> more</p>',
    });
    await button.waitFor();
    const boxOf = (selector: string) =>
      page.locator(selector).evaluate((node) => node.getBoundingClientRect().toJSON());
    const [theirs, ours] = [await boxOf('.theirs'), await boxOf('docshelf-search')];
    expect([Math.round(ours.x), Math.round(ours.y)]).toEqual([Math.round(theirs.x), Math.round(theirs.y)]);
    expect(await page.getByRole('button', { name: 'Their search' }).count()).toBe(0);
  });

  it.each([
    ['ltr', 'en', {}],
    ['rtl', 'he', {}],
    ['rtl', 'ar', PHONE],
  ] as const)(
    'is a link at the end of the first heading if the page has no header: %s, %s',
    async (dir, lang, profile) => {
      const body = `<div style="direction:${dir}"></div><a href="#a"><h1>A title</h1></a><p>A text of the page.</p><h1>B</h1>`;
      const { page, button } = await open({ lang, dir, body }, profile);
      await button.waitFor();
      const [link, title, text] = await Promise.all(
        [button, page.locator('h1').first(), page.locator('p')].map((each) => each.boundingBox()),
      );
      if (!link || !title || !text) throw new Error('an element has no place');
      expect(link.y + link.height).toBeLessThanOrEqual(text.y);
      expect(link.y).toBeLessThan(title.y + title.height);
      const [start, end] = [link.x - title.x, title.x + title.width - link.x - link.width].map(Math.round);
      expect([start, end].indexOf(4)).toBe(dir === 'rtl' ? 0 : 1);
      expect(await button.evaluate((node) => getComputedStyle(node).color)).toBe(
        await page.locator('p').evaluate((node) => getComputedStyle(node).color),
      );
      await page.emulateMedia({ media: 'print' });
      expect(await button.isVisible()).toBe(false);
    },
  );

  it.each([
    ['a row', 'display:flex', '<h1>A</h1><p id="b">b</p>', 'h1,p,docshelf-search'],
    ['a column', 'display:flex;flex-direction:column', '<h1>A</h1><p id="b">b</p>', 'docshelf-search/h1/p'],
    ['a grid', 'display:grid;grid-template-columns:1fr 1fr', '<h1>A</h1><p id="b">b</p>', 'docshelf-search/h1,p'],
    ['a block without a heading', 'display:block', '<p>a</p><p id="b">b</p>', 'p,docshelf-search/p'],
    ['the title block of Doxygen', '', '<div class="headertitle"><p>a</p></div><h1>A</h1>', 'p,docshelf-search/h1'],
  ])('covers no text of a page whose layout is %s', async (_, style, inner, expected) => {
    const styles = site.addScript('room.js', `document.querySelector('main > div').style.cssText = '${style}'`);
    const { page, button } = await open({ body: `<div>${inner}</div><script src="${styles}"></script>` });
    await button.waitFor();
    const order = await page.evaluate(() => {
      const nodes = [...document.querySelectorAll('docshelf-search, h1, p')].map((node) => {
        const { x, y, width, height } = (node.shadowRoot?.querySelector('a') ?? node).getBoundingClientRect();
        return { name: node.localName, x, middle: y + height / 2, top: y, bottom: y + height, width };
      });
      const lines: (typeof nodes)[] = [];
      for (const node of nodes.sort((a, b) => a.middle - b.middle)) {
        const line = lines.at(-1);
        if (line !== undefined && (line[0]?.bottom ?? 0) > node.middle) line.push(node);
        else lines.push([node]);
      }
      return lines.map((line) => line.sort((a, b) => a.x - b.x).map(({ name }) => name)).join('/');
    });
    expect(order).toBe(expected);
  });

  it('appears again, and only once, each time that scripts replace the content of the page', async () => {
    const { page, button } = await open();
    await button.waitFor();
    for (let at = 0; at < 3; at += 1) {
      await page.evaluate("document.body.replaceChildren(document.createElement('main'))");
      await button.waitFor();
    }
    expect(await page.locator('docshelf-search').count()).toBe(1);
  });

  it('moves no element of the page, also in a header with gaps between its items', async () => {
    const style = site.addScript(
      'gaps.js',
      "for (const each of document.querySelectorAll('.navbar, .navbar__items--right')) each.style.cssText = 'display:flex;gap:20px;justify-content:end'",
    );
    const { page, button } = await open({
      body: `<nav class="navbar"><div class="navbar__items--right"><a href="#a">a</a></div></nav><script src="${style}"></script><h1>A</h1>`,
    });
    await button.waitFor();
    await page.evaluate(`{
      window.shifts = 0;
      new PerformanceObserver((list) => { for (const { value } of list.getEntries()) window.shifts += value; })
        .observe({ type: 'layout-shift' });
    }`);
    const place = `document.querySelector('.navbar__items--right').getBoundingClientRect().x`;
    expect(await page.evaluate(`${place} - (document.querySelector('docshelf-search').remove(), ${place})`)).toBe(0);
    await button.waitFor();
    await button.click();
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    expect(await page.evaluate('window.shifts')).toBe(0);
  });

  it.each(PAGE_LANGUAGES.map((each) => [each.tag, each] as const))(
    'is translated to the language %s',
    async (tag, { words, direction }) => {
      const { page, button, expectQuiet } = await open({ lang: tag, dir: direction });
      expect(await button.innerText()).toBe(words.searchBox.open);
      await button.click();
      const dialog = page.getByRole('dialog', { name: words.searchBox.label });
      expect([await dialog.getAttribute('lang'), await dialog.getAttribute('dir')]).toEqual([tag, direction]);
      await page.keyboard.type('keys');
      (await site.question({ q: 'keys' })).answer({ results: KEYS });
      await page
        .getByRole('status')
        .filter({ hasText: words.searchBox.found.replace('{count}', '3') })
        .waitFor();
      expectQuiet();
    },
  );

  it.each([
    ['light', {}],
    ['dark', { colorScheme: 'dark' }],
    ['forced colours', { forcedColors: 'active' }],
    ['a phone', PHONE],
    ['right to left', { lang: 'fa', dir: 'rtl' }],
  ] as const)('passes the accessibility checks: %s', async (name, profile) => {
    const isRtl = 'lang' in profile;
    const dark = site.addScript('dark.js', "document.documentElement.style.cssText = 'background:#111;color:#eee'");
    const style = name === 'dark' ? `<script src="${dark}"></script>` : '';
    const written = { head: style, ...(isRtl ? profile : {}), attributes: 'data-shelf="true"' };
    const { page, button } = await open(written, isRtl ? {} : (profile as BrowserContextOptions));
    // With forced colors, axe reads the original colors.
    const isForced = name === 'forced colours';
    const expectNone = async () =>
      expect((await reportViolations(page)).filter((each) => !isForced || !each.startsWith('color-contrast'))).toEqual(
        [],
      );
    await button.waitFor();
    await expectNone();
    await button.click();
    await page.getByRole('dialog').waitFor();
    await expectNone();
    await page.keyboard.type('keys');
    const facets = { languages: ['en', 'de', 'fa'], versions: ['1', '2'], tags: ['a', 'b'] };
    (await site.question({ q: 'keys' })).answer({ results: KEYS, facets });
    await page.locator('.page').first().waitFor();
    await expectNone();
    await page.getByRole('dialog').getByRole('combobox').first().fill('nothing');
    (await site.question({ q: 'nothing' })).answer({ results: [], facets, corrected: 'something' });
    await page.getByRole('button', { name: 'something' }).waitFor();
    await expectNone();
  });

  it('fills the screen of a phone, and keeps the focus while the user scrolls and taps', async () => {
    const { page, button, status } = await open({}, PHONE);
    await button.tap();
    await page.getByRole('dialog').waitFor();
    await page.keyboard.type('keys');
    (await site.question({ q: 'keys' })).answer({ results: KEYS });
    await status('Results: 3');
    const dialog = await page.getByRole('dialog').boundingBox();
    expect(dialog).toEqual({ x: 0, y: 0, width: 390, height: 844 });
    await page.locator('.page').first().tap();
    expect(await page.getByRole('combobox').evaluate((node) => node.matches(':focus'))).toBe(true);
  });
});
