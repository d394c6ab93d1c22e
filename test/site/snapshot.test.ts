import { describe, expect, it } from 'vitest';
import { DocshelfError } from '../../src/domain/errors.ts';
import { FORMS } from '../../src/site/encoding.ts';
import { SiteSnapshot } from '../../src/site/index.ts';
import { SiteFile } from '../../src/site/site-file.ts';
import { kept, releases } from './helpers.ts';

const AUTO = { trailingSlash: 'auto' } as const;

const IMMUTABLE = 'public, max-age=31536000, immutable';

async function cacheControl(snapshot: SiteSnapshot, path: string): Promise<string | undefined> {
  const found = await snapshot.find(path);
  if (found.kind !== 'file') return found.kind;
  return found.file instanceof SiteFile ? found.file.validatorHeaders(FORMS.identity)['Cache-Control'] : 'not made yet';
}

describe('SiteSnapshot (files that a site serves)', () => {
  it('keeps files unchanged if the site is served at the base path that it was built for', async () => {
    for (const [builtFor, basePath] of [
      ['/', undefined],
      ['/', '/'],
      ['/docs/', '/docs/'],
    ] as const) {
      const release = releases.make({ 'a.html': '<a href="/b">' }, { builtFor });
      const snapshot = new SiteSnapshot(release, [], { trailingSlash: 'auto', ...(basePath && { basePath }) });
      const found = await snapshot.find('a');
      expect(found.kind === 'file' && found.file).toBeInstanceOf(SiteFile);
    }
  });

  it('marks file names that contain a hash as immutable, except names of pages', async () => {
    const active = releases.make({ 'a.5b0e4cfb.js': '1', 'a.js': '1', 'p.5b0e4cfb.html': '1' });
    const snapshot = new SiteSnapshot(active, [], AUTO);
    expect(await cacheControl(snapshot, 'a.5b0e4cfb.js')).toBe(IMMUTABLE);
    expect(await cacheControl(snapshot, 'a.js')).toBe('no-cache');
    expect(await cacheControl(snapshot, 'p.5b0e4cfb.html')).toBe('no-cache');
  });

  it('does not mark a file name as immutable if another release has other bytes for this name', async () => {
    const active = releases.make({ 'same.5b0e4cfb.js': '1', 'other.5b0e4cfb.js': 'new' });
    const older = releases.make({ 'same.5b0e4cfb.js': '1', 'other.5b0e4cfb.js': 'old' });
    const snapshot = new SiteSnapshot(active, [kept(older)], AUTO);
    expect(await cacheControl(snapshot, 'same.5b0e4cfb.js')).toBe(IMMUTABLE);
    expect(await cacheControl(snapshot, 'other.5b0e4cfb.js')).toBe('no-cache');
  });

  it('marks no file as immutable if another release cannot be read', async () => {
    const older = { ...kept(releases.make({})), find: () => Promise.reject(new Error('EIO')) };
    const snapshot = new SiteSnapshot(releases.make({ 'a.5b0e4cfb.js': '1' }), [older], AUTO);
    expect(await cacheControl(snapshot, 'a.5b0e4cfb.js')).toBe('no-cache');
  });

  it('serves page assets of formerly active releases, newest first, and no other files of these releases', async () => {
    const active = releases.make({ 'index.html': 'new' });
    const last = releases.make({ 'gone.5b0e4cfb.js': 'newer', 'plain.css': 'x', 'payload.txt': 'x', 'page.html': 'x' });
    const first = releases.make({
      'gone.5b0e4cfb.js': 'oldest',
      '.dot.5b0e4cfb.js': 'x',
      'once.5b0e4cfb.css': 'x',
      'sw.js': 'x',
      'data.json': 'x',
      'feed.xml': 'x',
      'all.zip': 'x',
    });
    const staged = releases.make({ 'gone.5b0e4cfb.js': 'staged', 'never.js': 'x' });
    const snapshot = new SiteSnapshot(active, [kept(last), kept(first), kept(staged, null)], AUTO);
    expect(await snapshot.find('gone.5b0e4cfb.js')).toMatchObject({ kind: 'file', file: { size: 5 } });
    expect(await cacheControl(snapshot, 'gone.5b0e4cfb.js')).toBe('no-cache');
    expect(await cacheControl(snapshot, 'once.5b0e4cfb.css')).toBe(IMMUTABLE);
    expect(await cacheControl(snapshot, 'plain.css')).toBe('no-cache');
    const others = [
      'payload.txt',
      'page.html',
      'page',
      '.dot.5b0e4cfb.js',
      'sw.js',
      'data.json',
      'feed.xml',
      'all.zip',
    ];
    for (const path of [...others, 'never.js']) expect((await snapshot.find(path)).kind, path).toBe('missing');
  });

  it('skips a damaged release, and responds with 503 if the storage fails', async () => {
    const fails = (code: 'release_damaged' | 'cannot_read') => ({
      ...kept(releases.make({})),
      find: () => Promise.reject(new DocshelfError(code, 'of the test')),
    });
    const [active, whole] = [releases.make({}), kept(releases.make({ 'a.css': 'old' }))];
    expect((await new SiteSnapshot(active, [fails('release_damaged'), whole], AUTO).find('a.css')).kind).toBe('file');
    await expect(new SiteSnapshot(active, [fails('cannot_read'), whole], AUTO).find('a.css')).rejects.toMatchObject({
      code: 'cannot_read',
    });
  });

  it('prefers a file of the active release to the same file of an older release', async () => {
    const active = releases.make({ 'a.5b0e4cfb.js': 'active' });
    const older = releases.make({ 'a.5b0e4cfb.js': 'old' });
    expect(await new SiteSnapshot(active, [kept(older)], AUTO).find('a.5b0e4cfb.js')).toMatchObject({
      file: { size: 6 },
    });
  });

  it('uses the trailing slash setting of the release, unless the config overrides this setting', async () => {
    const active = releases.make({ 'a/index.html': '1' }, { trailingSlash: 'never' });
    expect((await new SiteSnapshot(active, [], AUTO).find('a')).kind).toBe('file');
    expect((await new SiteSnapshot(active, [], { trailingSlash: 'always' }).find('a')).kind).toBe('redirect');
  });

  it('responds with the root 404 page to a path that cannot be a file name', async () => {
    const snapshot = new SiteSnapshot(releases.make({ 'index.html': '1', '404.html': 'gone' }), [], AUTO);
    expect(await snapshot.find(null)).toMatchObject({ kind: 'missing', isAsset: false, page: { path: '404.html' } });
  });
});
