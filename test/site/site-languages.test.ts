import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Files, releases, serve } from './helpers.ts';

const page = (attributes: string) => `<!doctype html><html ${attributes}><title>Home</title>`;
/** One site in many languages, in the layouts of generators. */
const SITE: Files = {
  'index.html': page('lang="de-DE"'),
  'guide/deep/page.html': page('lang="fr"'),
  'ja.html': page('lang="ja"'),
  'ja/a.html': page('lang="ja"'),
  'fa/index.html': page('lang="fa-IR" dir="rtl"'),
  'fa/guide/index.html': page(''),
  'zh-tw/index.html': page('lang="zh-TW"'),
  'it/index.html': page('lang="de"'),
};

const languageOf = async (response: Response) => {
  const { headers } = response;
  const opened = /<html [^>]*>/.exec(await response.text())?.[0];
  return [response.status, opened, headers.get('content-language'), headers.get('vary')];
};

describe('built-in 404 page of docshelf', () => {
  it.each([
    ['/nowhere', 'de', 'ltr'],
    ['/guide/deep/nowhere', 'de', 'ltr'],
    ['/ja/nowhere', 'ja', 'ltr'],
    ['/fa/nowhere', 'fa', 'rtl'],
    ['/fa/guide/not/here', 'fa', 'rtl'],
    ['/zh-tw/nowhere', 'de', 'ltr'],
    ['/it/nowhere', 'de', 'ltr'],
  ])(
    'uses for the path %s the language "%s" of the start page in the nearest parent folder',
    async (path, tag, direction) => {
      const { send } = serve([releases.make(SITE)]);
      const answer = await languageOf(await send(path, { 'accept-language': 'ru' }));
      expect(answer).toEqual([404, `<html lang="${tag}" dir="${direction}">`, tag, 'Accept-Encoding']);
    },
  );

  it.each<[string, Files, string]>([
    [
      'a root that only redirects to a language',
      { 'index.html': '<meta http-equiv="refresh" content="0;url=es/">', 'es/index.html': page('lang=es') },
      'es',
    ],
    ['a start page without a language', { 'index.html': page('') }, 'en'],
    ['no start page', { 'a.html': page('lang=ru') }, 'en'],
    ['a language that docshelf does not support', { 'index.html': page('lang=sv') }, 'en'],
  ])('uses the language of the start page, or English, for a site with %s', async (_name, files, tag) => {
    const { send } = serve([releases.make(files)]);
    expect((await send('/nowhere')).headers.get('content-language')).toBe(tag);
  });

  it('is one line in the language of the site for a missing picture', async () => {
    const { send } = serve([releases.make(SITE)]);
    expect(await (await send('/fa/not/here.png')).text()).toBe('پیدا نشد\n');
  });
});

describe('built-in error responses of docshelf', () => {
  it('use the language of the site, and are a page for browsers and one line of text for other clients', async () => {
    const { send } = serve([releases.make(SITE)]);
    expect((await languageOf(await send('/%zz'))).slice(0, 3)).toEqual([400, '<html lang="de" dir="ltr">', 'de']);
    const reader = await send('/a', { accept: 'text/html,*/*;q=0.8' }, 'POST');
    expect(await languageOf(reader)).toEqual([405, '<html lang="de" dir="ltr">', 'de', 'Accept-Encoding, Accept']);
    expect(reader.headers.get('allow')).toBe('GET, HEAD');
    expect(await (await send('/a', {}, 'POST')).text()).toBe('Diese Seite kann nur gelesen werden\n');
  });

  it('do not show details of a storage error to readers', async () => {
    const release = releases.make(SITE);
    const faults: string[] = [];
    const { send } = serve([release], { events: { onFault: ({ code }) => faults.push(code) } });
    await send('/nowhere');
    rmSync(release.siteDir, { recursive: true });
    const response = await send('/ja/a');
    const html = await response.text();
    expect([response.status, response.headers.get('retry-after'), faults]).toEqual([503, '5', ['cannot_read']]);
    expect(html).toContain('<h1>Diese Seite kann im Moment nicht gezeigt werden</h1>');
    expect(html).not.toMatch(/cannot_read|503|docshelf/);
  });
});

describe('search on the built-in 404 page', () => {
  const search = { address: '/docs/_docshelf/search', version: null };
  const form = { trailingSlash: 'always', basePath: '/docs/' } as const;

  it('is a form in the language of the site, and the Content-Security-Policy of the page allows this form', async () => {
    const { send } = serve([releases.make(SITE)], { ...form, search });
    const { headers, text } = await asked(send('/nowhere'));
    expect(text).toContain('<form role="search" action="/docs/_docshelf/search"><label for="q">Diese Dokumentation');
    expect(headers.get('content-security-policy')).toContain("form-action 'self'");
    expect((await asked(send('/nowhere.css'))).text).toBe('Nicht gefunden\n');
  });

  it('searches the version that the reader is viewing', async () => {
    const { send } = serve([releases.make(SITE)], { ...form, search: { ...search, version: '1"0' } });
    const hidden = '<input type="hidden" name="version" value="1&quot;0">';
    expect((await asked(send('/nowhere'))).text).toContain(hidden);
  });

  it.each([null, undefined])('is not offered if the site has no search: %s', async (none) => {
    const { send } = serve([releases.make(SITE)], { ...form, ...(none === null && { search: null }) });
    const { headers, text } = await asked(send('/nowhere'));
    expect([text.includes('<form'), headers.get('content-security-policy')?.includes("form-action 'none'")]).toEqual([
      false,
      true,
    ]);
  });
});

async function asked(answer: Promise<Response>) {
  const response = await answer;
  return { headers: response.headers, text: await response.text() };
}
