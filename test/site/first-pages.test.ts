import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { firstPages } from '../../src/site/first-pages.ts';
import { releases, tableOf } from './helpers.ts';

const titled = (title: string, more = '') => `<html lang="en"><title>${title}</title>${more}`;
const refresh = (url: string) => titled('Redirecting', `<meta http-equiv="refresh" content="0; url=${url}">`);

describe('firstPages() (titles of start pages)', () => {
  it('reads the page at the root', async () => {
    const release = releases.make({ 'index.html': titled('Acme'), 'a/index.html': titled('A') });
    expect(await firstPages()(release)).toMatchObject({ title: 'Acme', language: 'en' });
  });

  it.each(['en/', './en', '/en/index.html', 'en/?a#b'])('follows a redirect from the start page to %s', async (url) => {
    const release = releases.make({ 'index.html': refresh(url), 'en/index.html': titled('Acme') });
    expect((await firstPages()(release)).title).toBe('Acme');
  });

  it('follows a redirect from the start page of a site that was built for a base path', async () => {
    const files = { 'index.html': refresh('/docs/en/'), 'en/index.html': titled('Acme') };
    const release = releases.make(files, { builtFor: '/docs/' });
    expect((await firstPages()(release)).title).toBe('Acme');
  });

  it.each(['https://elsewhere.dev/', '//elsewhere.dev/', 'gone/', '/%zz'])(
    'returns no title if the start page redirects to %j, which is outside the site or missing',
    async (url) => {
      const release = releases.make({ 'index.html': refresh(url) });
      expect((await firstPages()(release)).title).toBeNull();
    },
  );

  it('stops if two pages redirect to each other', async () => {
    const release = releases.make({ 'index.html': refresh('/b.html'), 'b.html': refresh('/') });
    expect((await firstPages()(release)).title).toBeNull();
  });

  it.each(['', '/', 'index.html'])('reads a start page that redirects to itself: %j', async (url) => {
    const release = releases.make({ 'index.html': refresh(url) });
    expect((await firstPages()(release)).title).toBe('Redirecting');
  });

  it('does not read a page that readers cannot request', async () => {
    const release = releases.make({ 'index.html': refresh('/.git/x.html'), '.git/x.html': titled('secret') });
    expect((await firstPages()(release)).title).toBeNull();
  });

  it('returns no title for a site without a start page', async () => {
    const nothing = { title: null, description: null, language: null, refresh: null };
    expect(await firstPages()(releases.make({ 'guide.html': titled('Guide') }))).toEqual(nothing);
  });

  it('reads a page once per release', async () => {
    const pages = firstPages();
    const release = releases.make({ 'index.html': titled('First') });
    expect((await pages(release)).title).toBe('First');
    writeFileSync(join(release.siteDir, 'index.html'), titled('Changed'));
    expect((await pages(release)).title).toBe('First');
  });

  it('retries a page that could not be read', async () => {
    const pages = firstPages();
    const release = releases.make({ 'index.html': titled('Acme') });
    rmSync(join(release.siteDir, 'index.html'));
    expect((await pages(release)).title).toBeNull();
    writeFileSync(join(release.siteDir, 'index.html'), titled('Acme'));
    expect((await pages(release)).title).toBe('Acme');
  });

  it('reads the head of a large page in its charset', async () => {
    const release = releases.make({
      'index.html': Buffer.from(`<title>Caf\u00e9</title><body>${'x'.repeat(2_000_000)}`, 'latin1'),
    });
    const files = tableOf(
      [...release.files.values()].map((entry) => ({ ...entry, type: 'text/html; charset=iso-8859-1' })),
    );
    expect((await firstPages()({ ...release, files })).title).toBe('Caf\u00e9');
  });
});
