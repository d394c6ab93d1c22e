import { afterEach, describe, expect, it } from 'vitest';
import { SiteSnapshot } from '../../src/serve/index.ts';
import { SiteFile } from '../../src/serve/site-file.ts';
import { TestReleases } from './helpers.ts';

const releases = new TestReleases();
afterEach(() => releases.remove());

const AUTO = { trailingSlash: 'auto' } as const;

const IMMUTABLE = 'public, max-age=31536000, immutable';

function cacheControl(snapshot: SiteSnapshot, path: string): string | undefined {
  const found = snapshot.find(path);
  if (found.kind !== 'file') return found.kind;
  return found.file instanceof SiteFile ? found.file.validatorHeaders('identity')['Cache-Control'] : 'not made yet';
}

describe('SiteSnapshot', () => {
  it('leaves files as they are where the site is mounted at the base path that it was built for', () => {
    for (const [builtFor, basePath] of [
      ['/', undefined],
      ['/', '/'],
      ['/docs/', '/docs/'],
    ] as const) {
      const release = releases.make({ 'a.html': '<a href="/b">' }, { builtFor });
      const found = new SiteSnapshot(release, [], { trailingSlash: 'auto', ...(basePath && { basePath }) }).find('a');
      expect(found.kind === 'file' && found.file).toBeInstanceOf(SiteFile);
    }
  });

  it('makes immutable what carries a hash, never pages and plain names', () => {
    const active = releases.make({ 'a.5b0e4cfb.js': '1', 'a.js': '1', 'p.5b0e4cfb.html': '1' });
    const snapshot = new SiteSnapshot(active, [], AUTO);
    expect(cacheControl(snapshot, 'a.5b0e4cfb.js')).toBe(IMMUTABLE);
    expect(cacheControl(snapshot, 'a.js')).toBe('no-cache');
    expect(cacheControl(snapshot, 'p.5b0e4cfb.html')).toBe('no-cache');
  });

  it('does not make immutable what another release has with other bytes', () => {
    const active = releases.make({ 'same.5b0e4cfb.js': '1', 'other.5b0e4cfb.js': 'new' });
    const older = releases.make({ 'same.5b0e4cfb.js': '1', 'other.5b0e4cfb.js': 'old' });
    const snapshot = new SiteSnapshot(active, [older], AUTO);
    expect(cacheControl(snapshot, 'same.5b0e4cfb.js')).toBe(IMMUTABLE);
    expect(cacheControl(snapshot, 'other.5b0e4cfb.js')).toBe('no-cache');
  });

  it("answers older releases' hashed assets, the newest first, and nothing else of theirs", () => {
    const active = releases.make({ 'index.html': 'new' });
    const newer = releases.make({ 'gone.5b0e4cfb.js': 'newer', 'plain.js': 'x', 'payload.txt': 'x', 'page.html': 'x' });
    const oldest = releases.make({ 'gone.5b0e4cfb.js': 'oldest', '.dot.5b0e4cfb.js': 'x', 'once.5b0e4cfb.css': 'x' });
    const snapshot = new SiteSnapshot(active, [newer, oldest], AUTO);
    const gone = snapshot.find('gone.5b0e4cfb.js');
    expect(gone).toMatchObject({ kind: 'file', file: { size: 5 } });
    expect(cacheControl(snapshot, 'gone.5b0e4cfb.js')).toBe('no-cache');
    expect(cacheControl(snapshot, 'once.5b0e4cfb.css')).toBe(IMMUTABLE);
    for (const path of ['plain.js', 'payload.txt', 'page.html', 'page', '.dot.5b0e4cfb.js']) {
      expect(snapshot.find(path).kind, path).toBe('missing');
    }
  });

  it("prefers the active release's file", () => {
    const active = releases.make({ 'a.5b0e4cfb.js': 'active' });
    const older = releases.make({ 'a.5b0e4cfb.js': 'old' });
    expect(new SiteSnapshot(active, [older], AUTO).find('a.5b0e4cfb.js')).toMatchObject({ file: { size: 6 } });
  });

  it('asks the release for its trailing slash, unless the setting overrules it', () => {
    const active = releases.make({ 'a/index.html': '1' }, { trailingSlash: 'never' });
    expect(new SiteSnapshot(active, [], AUTO).find('a').kind).toBe('file');
    expect(new SiteSnapshot(active, [], { trailingSlash: 'always' }).find('a').kind).toBe('redirect');
  });

  it('finds nothing for what names nothing, and gives the root 404 page', () => {
    const snapshot = new SiteSnapshot(releases.make({ 'index.html': '1', '404.html': 'gone' }), [], AUTO);
    expect(snapshot.find(null)).toMatchObject({ kind: 'missing', isAsset: false, page: { path: '404.html' } });
  });
});
