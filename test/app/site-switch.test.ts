import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { SiteSwitch } from '../../src/app/sites/site-switch.ts';
import type { KeptRelease, ReleaseView } from '../../src/domain/release.ts';
import { FORMS } from '../../src/serve/encoding.ts';
import type { SiteServer, SiteSnapshot, SnapshotForm } from '../../src/serve/index.ts';
import { SiteFile } from '../../src/serve/site-file.ts';
import type { PageAdditions } from '../../src/web/additions/page-additions.ts';

/** What pages of a language get into their heads. */
function headIn(tag: string, additions: PageAdditions | undefined): string {
  return (additions?.head ?? []).map((piece) => (typeof piece === 'string' ? piece : piece[tag])).join('');
}

it('serves by the form that holds at the swap, where a reload came between', async () => {
  const swap = vi.fn<(snapshot: SiteSnapshot | null) => void>();
  const site = new SiteSwitch({ swap } as unknown as SiteServer, { trailingSlash: 'never', basePath: '/' });
  const entry = { path: 'a/index.html', type: 'text/html', size: 1, sha256: 'ab'.repeat(32) };
  const release = { builtFor: '/', createdAt: '2026-01-01T00:00:00Z', files: new Map([[entry.path, entry]]) };
  const commit = await site.prepare(release as unknown as ReleaseView, []);
  site.use({ trailingSlash: 'always', basePath: '/' });
  void commit();
  expect(swap.mock.lastCall?.[0]?.find('a')).toEqual({ kind: 'redirect', status: 308, location: 'a/' });
});

it.each([
  ['has no index.html', ['guide.html'], null, true],
  ['has one in a folder alone', ['site/index.html', 'other/index.html'], null, true],
  ['has one', ['index.html', 'guide.html'], null, false],
  ['redirects it', ['guide.html'], '/ /guide 302', false],
  ['rewrites it', ['guide.html'], '/ /guide 200', false],
  ['rewrites it to a missing page', ['guide.html'], '/ /start 200', true],
])('reports a missing start page of a version that %s: %#', async (_case, paths, redirects, isReported) => {
  const siteDir = await mkdtemp(join(tmpdir(), 'docshelf-switch-'));
  try {
    const rules = redirects === null ? [] : [['_redirects', redirects] as const];
    for (const [path, text] of rules) await writeFile(join(siteDir, path), text);
    const entry = (path: string, text = '') =>
      [path, { path, type: 'text/html', size: text.length, sha256: 'ab'.repeat(32) }] as const;
    const files = new Map([...paths.map((path) => entry(path)), ...rules.map(([path, text]) => entry(path, text))]);
    const facts = { version: 'v9', builtFor: '/', createdAt: '2026-01-01T00:00:00Z', siteDir, digest: 'd', files };
    const site = new SiteSwitch({ swap: () => undefined } as unknown as SiteServer, { trailingSlash: 'never' });
    expect(await site.notices()).toEqual([]);
    await (await site.prepare(facts as unknown as ReleaseView, []))();
    const about = (await site.notices()).filter((notice) => notice.includes('start page of version "v9"'));
    expect(about).toHaveLength(isReported ? 1 : 0);
  } finally {
    await rm(siteDir, { recursive: true });
  }
});

it('tells of each swap with the form that it is by, also of a reload', async () => {
  const told: unknown[] = [];
  const server = { swap: () => undefined } as unknown as SiteServer;
  const site = new SiteSwitch(server, { trailingSlash: 'auto', basePath: '/' }, ({ active }, { basePath }) =>
    told.push([active.digest, basePath]),
  );
  const release = { builtFor: '/', createdAt: '2026-01-01T00:00:00Z', siteDir: '/', digest: 'd', files: new Map() };
  const commit = await site.prepare(release as unknown as ReleaseView, []);
  expect(told).toEqual([]);
  await commit();
  site.use({ trailingSlash: 'auto', basePath: '/docs/' });
  expect(told).toEqual([
    ['d', '/'],
    ['d', '/docs/'],
  ]);
});

it('judges by releases that come after the swap, too', async () => {
  const swap = vi.fn<(snapshot: SiteSnapshot | null) => void>();
  const site = new SiteSwitch({ swap } as unknown as SiteServer, { trailingSlash: 'never', basePath: '/' });
  const entry = { path: 'a.5b0e4cfb.js', type: 'text/javascript', size: 1, sha256: 'ab'.repeat(32) };
  const release = { builtFor: '/', createdAt: '2026-01-01T00:00:00Z', siteDir: '/', digest: 'd' };
  const active = { ...release, files: new Map([[entry.path, entry]]) };
  await (await site.prepare(active as unknown as ReleaseView, []))();
  const cacheControl = async () => {
    const found = await swap.mock.lastCall?.[0]?.find(entry.path);
    return found?.kind === 'file' && found.file instanceof SiteFile
      ? found.file.validatorHeaders(FORMS.identity)['Cache-Control']
      : null;
  };
  expect(await cacheControl()).toContain('immutable');
  const staged = { ...release, digest: 'e', servedAt: null, find: async () => ({ ...entry, sha256: 'cd'.repeat(32) }) };
  site.useOthers([staged as unknown as KeptRelease]);
  expect(await cacheControl()).toBe('no-cache');
});

it('has a switcher on its pages as long as there are other versions, and the bundle has none of its own', async () => {
  const heads: string[] = [];
  const server = { swap: () => undefined } as unknown as SiteServer;
  let survey = { hasOthers: true, own: [] as string[] };
  const onServed = vi.fn((_: unknown, { additions }: SnapshotForm) => void heads.push(headIn('en', additions)));
  const site = new SiteSwitch(server, { trailingSlash: 'auto' }, onServed, async () => survey);
  const entry = { path: 'index.html', type: 'text/html', size: 1, sha256: 'ab'.repeat(32) };
  const files = new Map([[entry.path, entry]]);
  const release = { builtFor: '/', version: 'v"2', siteDir: '/', digest: 'd', files };
  await (await site.prepare(release as unknown as ReleaseView, []))();
  const untilServed = (count: number) => vi.waitUntil(() => onServed.mock.calls.length === count, { timeout: 30_000 });
  const switcher = { script: '/a.js', style: '/a.css' };
  site.use({ trailingSlash: 'auto', switcher });
  // At once, and when the versions are known.
  await untilServed(3);
  survey = { hasOthers: false, own: [] };
  site.useOthers([]);
  await untilServed(5);
  survey = { hasOthers: true, own: ['1.0/', '2.0/', '3.0/'] };
  site.useOthers([]);
  await untilServed(7);
  const tag = '<script type="module" src="/a.js" data-version="v&quot;2" data-active="v&quot;2"></script>';
  expect(heads).toEqual(['', '', tag, tag, '', '', '']);
  expect(await site.notices()).toEqual([
    'The pages of version "v"2" have no switcher of docshelf\'s: the bundle holds versions of its own (1.0/, 2.0/ and 1 more).',
  ]);
  site.use({ trailingSlash: 'auto', switcher: null });
  expect(await site.notices()).toEqual([]);
});

it('labels the search box in the language of the page', async () => {
  const served: SnapshotForm[] = [];
  const server = { swap: () => undefined } as unknown as SiteServer;
  const searchBox = { scripts: { loader: '/l.js', replacing: '/r.js' }, replaces: false, isOfShelf: true };
  const onServed = (_: unknown, form: SnapshotForm) => void served.push(form);
  const site = new SiteSwitch(server, { trailingSlash: 'auto', searchBox }, onServed);
  const release = { builtFor: '/', version: 'v1', siteDir: '/', digest: 'd', files: new Map() };
  await (await site.prepare(release as unknown as ReleaseView, []))();
  expect(['en', 'de', 'ja'].map((tag) => headIn(tag, served[0]?.additions))).toEqual([
    '<script type="module" src="/l.js" data-shelf></script>',
    '<script type="module" src="/l.js" data-shelf data-label="Suchen"></script>',
    '<script type="module" src="/l.js" data-shelf data-label="&#26908;&#32034;"></script>',
  ]);
});

it.each([
  ["script-src 'nonce-a' 'strict-dynamic'", 1],
  ["script-src 'self'", 0],
])('says that a policy keeps the search box away: %s', async (policy, count) => {
  const server = { swap: () => undefined } as unknown as SiteServer;
  const searchBox = { scripts: { loader: '/l.js', replacing: '/r.js' }, replaces: false, isOfShelf: false };
  const headers = { preset: 'none', set: { 'content-security-policy': policy }, policy: {} } as const;
  const release = { builtFor: '/', version: 'v1', siteDir: '/', digest: 'd', pages: 0, files: new Map() };
  for (const [box, notices] of [
    [searchBox, count],
    [null, 0],
  ] as const) {
    const site = new SiteSwitch(server, { trailingSlash: 'auto', headers, searchBox: box });
    await (await site.prepare(release as unknown as ReleaseView, []))();
    expect((await site.notices()).filter((notice) => notice.includes('the search box stays away'))).toHaveLength(
      notices,
    );
  }
});

it('puts the search box in the place of one that asks a service elsewhere, and says so', async () => {
  const siteDir = await mkdtemp(join(tmpdir(), 'docshelf-own-search-'));
  await writeFile(join(siteDir, 'index.html'), '<!doctype html><div id="docsearch"></div>');
  const heads: string[] = [];
  const onServed = vi.fn((_: unknown, { additions }: SnapshotForm) => void heads.push(headIn('en', additions)));
  const server = { swap: () => undefined } as unknown as SiteServer;
  const box = { scripts: { loader: '/l.js', replacing: '/r.js' }, replaces: true, isOfShelf: false };
  const site = new SiteSwitch(server, { trailingSlash: 'auto', searchBox: box }, onServed);
  const files = new Map([['index.html', { path: 'index.html' }]]);
  const release = { builtFor: '/', version: 'v2', siteDir, digest: 'd', pages: 1, files };
  await (await site.prepare(release as unknown as ReleaseView, []))();
  const said = 'The search box of version "v2" (DocSearch) asks a service elsewhere, *.algolia.net';
  expect(await site.notices()).toEqual([`${said}: docshelf's stands in its place.`]);
  site.use({ trailingSlash: 'auto', searchBox: { ...box, replaces: false } });
  await vi.waitUntil(() => heads.length === 3, { timeout: 30_000 });
  expect(await site.notices()).toEqual([`${said}: "search.widget: replace" puts docshelf's in its place.`]);
  const tag = '<script type="module" src="/l.js"></script>';
  expect(heads).toEqual([
    '<script type="module" src="/r.js" data-replace=".DocSearch-Button,#docsearch"></script>',
    // At once, by what was known; then by what the form asks for.
    tag,
    tag,
  ]);
  await rm(siteDir, { recursive: true });
});
