import { describe, expect, it } from 'vitest';
import { LINES, wordsOf } from '../../../src/export/markdown/languages.ts';
import { attribute, type RenderedSite, render, textOf } from './render-folder.ts';

const alternates = (site: RenderedSite, path: string) =>
  Object.fromEntries(
    site
      .elements(path, 'link')
      .filter((each) => attribute(each, 'hreflang') !== null)
      .map((each) => [attribute(each, 'hreflang'), attribute(each, 'href')]),
  );
const languageOf = (site: RenderedSite, path: string) => {
  const html = site.element(path, 'html');
  return [attribute(html, 'lang'), attribute(html, 'dir'), site.meta(path, 'docsearch:language')];
};
const switchOf = (site: RenderedSite, path: string) => site.links(path, 'details', 'languages');

describe('Markdown site in several languages', () => {
  const tree = {
    'index.md': '# Home\n',
    'guide.md': '# Guide\n',
    'only-here.md': '# Only here\n',
    'fr/index.md': '# Accueil\n\n[guide](guide.md)\n',
    'fr/guide.md': '# Le guide\n',
    'ar/index.md': '# مرحبا\n',
    'ar/guide.md': '# الدليل\n',
    'go/index.md': '# The Go API\n',
    'docs.json': { url: 'https://x.dev' },
  };

  it('sets the language and the text direction of each page', async () => {
    const site = await render(tree);
    expect(languageOf(site, 'guide.html')).toEqual(['en', 'ltr', 'en']);
    expect(languageOf(site, 'fr/guide.html')).toEqual(['fr', 'ltr', 'fr']);
    expect(languageOf(site, 'ar/guide.html')).toEqual(['ar', 'rtl', 'ar']);
    expect(languageOf(site, 'go/index.html')[0]).toBe('en');
  });

  it('links the translations of each page', async () => {
    const site = await render(tree);
    expect(alternates(site, 'fr/guide.html')).toEqual({
      en: 'https://x.dev/guide',
      'x-default': 'https://x.dev/guide',
      fr: 'https://x.dev/fr/guide',
      ar: 'https://x.dev/ar/guide',
    });
    expect(alternates(site, 'only-here.html')).toEqual({});
  });

  it('links to the same page in another language, or to the start page of that language if there is no translation', async () => {
    const site = await render(tree);
    expect(switchOf(site, 'fr/guide.html').sort()).toEqual(['../ar/guide.html', '../guide.html', 'guide.html']);
    expect(switchOf(site, 'only-here.html').sort()).toEqual(['ar/index.html', 'fr/index.html', 'only-here.html']);
    const names = site.elements('index.html', 'details', 'languages').map(textOf).join();
    for (const name of ['English', 'Français', 'العربية']) expect(names).toContain(name);
  });

  it('has a navigation, a 404 page and theme texts for each language', async () => {
    const site = await render(tree);
    expect(site.links('fr/guide.html', 'nav', 'navigation')).toEqual(['index.html', 'guide.html']);
    expect(attribute(site.element('fr/404.html', 'html'), 'lang')).toBe('fr');
    expect(textOf(site.element('fr/404.html', 'h1'))).toBe('Page introuvable');
    expect(textOf(site.element('404.html', 'h1'))).toBe('Page not found');
  });

  it('treats folders as languages only if their pages are translations', async () => {
    const site = await render({ 'index.md': '# H\n', 'a.md': '# A\n', 'is/b.md': '# B\n', 'cs/c.md': '# C\n' });
    expect(languageOf(site, 'is/b.html')[0]).toBe('en');
    expect(switchOf(site, 'index.html')).toEqual([]);
  });

  it('uses the languages of docs.json, each with its own navigation', async () => {
    const docs = {
      languages: [
        { code: 'de', name: 'Schweizerdeutsch' },
        { code: 'pt-BR', navigation: [{ group: 'Guias', pages: ['guide'] }, 'nowhere'] },
      ],
      navigation: [{ group: 'Führer', pages: ['guide', 'index'] }],
    };
    const page = '# X\n';
    const site = await render({
      'de/index.md': page,
      'de/guide.md': page,
      'pt-br/index.md': page,
      'pt-br/guide.md': page,
      'docs.json': docs,
    });
    expect(languageOf(site, 'de/guide.html')[0]).toBe('de');
    expect(languageOf(site, 'pt-br/guide.html')[0]).toBe('pt-BR');
    expect(site.links('de/guide.html', 'nav', 'navigation')).toEqual(['guide.html', 'index.html']);
    expect(site.links('pt-br/guide.html', 'nav', 'navigation')).toEqual(['guide.html']);
    expect(site.found('missing_page')).toHaveLength(1);
    expect(textOf(site.element('de/index.html', 'details', 'languages'))).toContain('Schweizerdeutsch');
    expect(site.text('index.html')).toContain('url=de/index.html');
  });

  it('lists translated pages in the order of the navigation of the site', async () => {
    const docs = { navigation: [{ group: 'All', pages: ['guide', 'only-here', 'index'] }] };
    const site = await render({ ...tree, 'docs.json': docs });
    expect(site.links('fr/guide.html', 'nav', 'navigation')).toEqual(['guide.html', 'index.html']);
    expect(site.found('missing_page')).toEqual([]);
  });

  it('uses the language in the front matter of a page', async () => {
    const site = await render({
      'index.md': '# H\n',
      'guide.md': '# Guide\n',
      'guide.he.md': '---\nlanguage: he\n---\n# מדריך\n',
      'docs.json': { url: 'https://x.dev' },
    });
    expect(languageOf(site, 'guide.he.html')).toEqual(['he', 'rtl', 'he']);
    expect(alternates(site, 'guide.html')).toMatchObject({ he: 'https://x.dev/guide.he', en: 'https://x.dev/guide' });
    expect(site.links('index.html', 'nav', 'navigation')).toEqual(['index.html', 'guide.html']);
  });

  it('redirects the root to a page of another language if the default language has no page', async () => {
    const site = await render({ 'guide.md': '---\nlanguage: fr\n---\n# Bonjour\n' });
    expect(site.text('index.html')).toContain('url=guide.html');
  });

  it('uses the default language of docs.json', async () => {
    const site = await render({ 'index.md': '# Start\n', 'docs.json': { language: 'de' } });
    expect(languageOf(site, 'index.html')[0]).toBe('de');
    expect(textOf(site.element('404.html', 'h1'))).toBe('Seite nicht gefunden');
  });
});

describe('theme texts', () => {
  it.each(Object.keys(LINES))('are complete in %s', (code) => {
    const words = wordsOf(code);
    expect(Object.keys(words)).toEqual(Object.keys(wordsOf('en')));
    expect(Object.entries(words).filter(([, word]) => word === '')).toEqual([]);
  });

  it('are English for an unknown language, and are shared by all regions of a known language', () => {
    expect(wordsOf('sw')).toEqual(wordsOf('en'));
    expect(wordsOf('pt-BR')).toEqual(wordsOf('pt'));
  });
});

it('collectMarkdown() accepts a language tag with an extension, and writes the whole tag to the page', async () => {
  const site = await render({
    'index.md': '# Home\n',
    'de.md': '---\nlang: de-u-co-phonebk\n---\n\n# Start\n',
    'x.md': '---\nlang: en-x-acme\n---\n\n# Own\n',
  });
  expect(languageOf(site, 'de.html')[0]).toBe('de-u-co-phonebk');
  expect(languageOf(site, 'x.html')[0]).toBe('en-x-acme');
});
