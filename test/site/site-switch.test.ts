import { expect, it, vi } from 'vitest';
import type { KeptRelease, ReleaseView } from '../../src/domain/release.ts';
import { FORMS } from '../../src/site/encoding.ts';
import { BodyCache, type SiteForm, type SiteSnapshot, SiteSwitch, type VersionSurvey } from '../../src/site/index.ts';
import { SiteFile } from '../../src/site/site-file.ts';
import { LazyTransform } from '../../src/site/transform/make-file.ts';
import { releases } from './helpers.ts';

const NOW = '2026-01-01T00:00:00Z';

const page = (language = 'en', body = '') =>
  `<!doctype html><html lang="${language}"><head></head><body>${body}</body></html>`;

const BOX = {
  scripts: { loader: '/l.js', replacing: '/r.js' },
  replaces: false,
  isOfShelf: false,
  page: '/_docshelf/search',
};

/** Text that the snapshot adds to the head of a page. */
async function headOf(snapshot: SiteSnapshot | null | undefined, path = 'index.html'): Promise<string> {
  const found = await snapshot?.find(path);
  if (found?.kind !== 'file') throw new Error(`the snapshot has no ${path}`);
  const file = found.file instanceof LazyTransform ? await found.file.make(new BodyCache(1024 ** 2)) : found.file;
  return /<head>(.*)<\/head>/s.exec((await file.read()).toString())?.[1] ?? '';
}

/** A switch, and the snapshots that it has served. */
function recorded(form: SiteForm, surveyVersions?: () => Promise<VersionSurvey>) {
  const served: (SiteSnapshot | undefined)[] = [];
  const site = new SiteSwitch({
    settings: { form },
    ...(surveyVersions && { surveyVersions }),
    onChange: (former, { version }) => {
      if (former.version !== version) served.push(version?.snapshot);
    },
  });
  const heads = () => Promise.all(served.map((snapshot) => headOf(snapshot)));
  return { served, heads, site, use: (next: SiteForm) => site.applySettings({ form: next }) };
}

it('SiteSwitch (activation of a release for a site) uses the settings at the time of the swap if the config is reloaded before the swap', async () => {
  const { site, use } = recorded({ trailingSlash: 'never', basePath: '/' });
  const entry = { path: 'a/index.html', type: 'text/html', size: 1, sha256: 'ab'.repeat(32) };
  const release = { builtFor: '/', createdAt: '2026-01-01T00:00:00Z', files: new Map([[entry.path, entry]]) };
  const commit = await site.prepare(release as unknown as ReleaseView, []);
  use({ trailingSlash: 'always', basePath: '/' });
  void commit(NOW);
  expect(site.current?.find('a')).toEqual({ kind: 'redirect', status: 308, location: 'a/' });
});

it.each([
  ['has no index.html', ['guide.html'], null, true],
  ['has an index.html only in a folder', ['site/index.html', 'other/index.html'], null, true],
  ['has a start page', ['index.html', 'guide.html'], null, false],
  ['redirects the start page', ['guide.html'], '/ /guide 302', false],
  ['rewrites the start page', ['guide.html'], '/ /guide 200', false],
  ['rewrites the start page to a missing page', ['guide.html'], '/ /start 200', true],
])(
  'SiteSwitch (activation of a release for a site) adds a notice of a missing start page only if the root address returns no page, for a version that %s (%#)',
  async (_case, paths, redirects, isReported) => {
    const files = Object.fromEntries(paths.map((path) => [path, page()]));
    const release = releases.make(redirects === null ? files : { ...files, _redirects: redirects }, { version: 'v9' });
    const { site } = recorded({ trailingSlash: 'never' });
    expect(await site.notices()).toEqual([]);
    await (await site.prepare(release, []))(NOW);
    const about = (await site.notices()).filter((notice) => notice.includes('start page of version "v9"'));
    expect(about).toHaveLength(isReported ? 1 : 0);
  },
);

it('SiteSwitch (activation of a release for a site) no longer sends immutable for a file after the import of a release with other bytes for the same name', async () => {
  const { site } = recorded({ trailingSlash: 'never', basePath: '/' });
  const entry = { path: 'a.5b0e4cfb.js', type: 'text/javascript', size: 1, sha256: 'ab'.repeat(32) };
  const release = { builtFor: '/', createdAt: '2026-01-01T00:00:00Z', siteDir: '/', digest: 'd' };
  const active = { ...release, files: new Map([[entry.path, entry]]) };
  await (await site.prepare(active as unknown as ReleaseView, []))(NOW);
  const cacheControl = async () => {
    const found = await site.current?.find(entry.path);
    return found?.kind === 'file' && found.file instanceof SiteFile
      ? found.file.validatorHeaders(FORMS.identity)['Cache-Control']
      : null;
  };
  expect(await cacheControl()).toContain('immutable');
  const staged = { ...release, digest: 'e', servedAt: null, find: async () => ({ ...entry, sha256: 'cd'.repeat(32) }) };
  site.updateRetained([staged as unknown as KeptRelease]);
  expect(await cacheControl()).toBe('no-cache');
});

it('SiteSwitch (activation of a release for a site) adds a version switcher to pages if other versions exist and the bundle contains no version switcher', async () => {
  let survey = { hasOthers: true, own: [] as string[] };
  const { served, heads, site, use } = recorded({ trailingSlash: 'auto' }, async () => survey);
  const release = releases.make({ 'index.html': page() }, { version: 'v"2' });
  await (await site.prepare(release, []))(NOW);
  const untilServed = (count: number) => vi.waitUntil(() => served.length === count, { timeout: 30_000 });
  const switcher = { script: '/a.js', style: '/a.css' };
  use({ trailingSlash: 'auto', switcher });
  // Each change serves the release at once, and again when the versions are known.
  await untilServed(3);
  survey = { hasOthers: false, own: [] };
  site.updateRetained([]);
  await untilServed(5);
  survey = { hasOthers: true, own: ['1.0/', '2.0/', '3.0/'] };
  site.updateRetained([]);
  await untilServed(7);
  const tag = '<script type="module" src="/a.js" data-version="v&quot;2" data-active="v&quot;2"></script>';
  expect(await heads()).toEqual(['', '', tag, tag, '', '', '']);
  expect(await site.notices()).toEqual([
    'docshelf adds no version switcher to version "v"2", because the bundle itself contains several versions (1.0/, 2.0/ and 1 more).',
  ]);
  use({ trailingSlash: 'auto', switcher: null });
  expect(await site.notices()).toEqual([]);
});

it.each([
  ['/internal/* /404 404!', { '404.html': '' }, 0],
  ['/internal/* /404 404!', {}, 1],
  ['/internal/* /404 404', {}, 0],
  ['/a/* /404 404!\n/b/* /404 404!\n/c/* /gone 404!', {}, 2],
])(
  'SiteSwitch (activation of a release for a site) adds a notice if rules hide no pages because their 404 page is missing: rules %j, files %j, %i notices',
  async (rules, files, count) => {
    const { site } = recorded({ trailingSlash: 'never', basePath: '/' });
    const release = releases.make({ 'index.html': page(), ...files, _redirects: rules }, { version: 'v9' });
    await (await site.prepare(release, []))(NOW);
    const notices = await site.notices();
    expect(notices.filter((notice) => notice.includes('hide no pages'))).toHaveLength(count);
    expect(notices).toHaveLength(count);
  },
);

it('SiteSwitch (activation of a release for a site) labels the search box in the language of the page', async () => {
  const { site } = recorded({ trailingSlash: 'auto', searchBox: { ...BOX, isOfShelf: true } });
  const pages = Object.fromEntries(['en', 'de', 'ja'].map((tag) => [`${tag}.html`, page(tag)]));
  await (await site.prepare(releases.make(pages), []))(NOW);
  const head = (tag: string) => headOf(site.current, `${tag}.html`);
  expect(await Promise.all(['en', 'de', 'ja'].map(head))).toEqual([
    '<script type="module" src="/l.js" data-shelf></script>',
    '<script type="module" src="/l.js" data-shelf data-label="Suchen"></script>',
    '<script type="module" src="/l.js" data-shelf data-label="&#26908;&#32034;"></script>',
  ]);
});

it.each([
  ["script-src 'nonce-a' 'strict-dynamic'", 1],
  ["script-src 'self'", 0],
])(
  'SiteSwitch (activation of a release for a site) adds a notice if a Content-Security-Policy blocks the search box: %s',
  async (policy, count) => {
    const headers = { preset: 'none', set: { 'content-security-policy': policy }, policy: {} } as const;
    const release = { builtFor: '/', version: 'v1', siteDir: '/', digest: 'd', pages: 0, files: new Map() };
    for (const [box, notices] of [
      [BOX, count],
      [null, 0],
    ] as const) {
      const { site } = recorded({ trailingSlash: 'auto', headers, searchBox: box });
      await (await site.prepare(release as unknown as ReleaseView, []))(NOW);
      expect((await site.notices()).filter((notice) => notice.includes('blocks the search box'))).toHaveLength(notices);
    }
  },
);

it('SiteSwitch (activation of a release for a site) replaces a search box that uses an external service, and adds a notice for the operator', async () => {
  const { served, heads, site, use } = recorded({ trailingSlash: 'auto', searchBox: { ...BOX, replaces: true } });
  const release = releases.make({ 'index.html': page('en', '<div id="docsearch"></div>') }, { version: 'v2' });
  await (await site.prepare(release, []))(NOW);
  const said = 'The search box of version "v2" (DocSearch) needs an external service, *.algolia.net';
  expect(await site.notices()).toEqual([`${said}; docshelf replaces it with its own search box.`]);
  use({ trailingSlash: 'auto', searchBox: BOX });
  await vi.waitUntil(() => served.length === 3, { timeout: 30_000 });
  expect(await site.notices()).toEqual([`${said}; to replace it, set "search.widget: replace".`]);
  const tag = '<script type="module" src="/l.js"></script>';
  expect(await heads()).toEqual([
    '<script type="module" src="/r.js" data-replace=".DocSearch-Button,#docsearch"></script>',
    // The change serves the release at once, and again after a new survey of the bundle.
    tag,
    tag,
  ]);
});
