import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ReleaseView } from '../../src/domain/release.ts';
import { SamePages } from '../../src/site/index.ts';
import { releases } from './helpers.ts';

const titled = (title: string): string => `<!doctype html><title>${title}</title>`;

function versions(): { readonly old: ReleaseView; readonly next: ReleaseView } {
  const shared = { 'index.html': titled('Home'), 'guides/index.html': titled('Guides') };
  const old = releases.make({
    ...shared,
    'guides/start.html': titled('Start'),
    'guides/deep/keys/index.html': titled('Rotate keys | Acme'),
    'guides/gone.html': titled('Gone'),
    'a/overview.html': titled('Overview'),
    'b/same/overview.html': titled('Overview of it'),
  });
  const next = releases.make({
    ...shared,
    'guides/start/index.html': titled('Begin'),
    'admin/keys.html': titled('Rotate keys | Acme Docs'),
    'x/overview/it.html': titled('Overview'),
    'y/overview/it.html': titled('Overview'),
    'b/other/overview.html': titled('Overview of it'),
    'c/else/one.html': titled('Overview of it'),
    '404.html': titled('Gone'),
  });
  return { old, next };
}

describe('SamePages, finding the same page in another version', () => {
  it.each([
    ['', ''],
    ['guides/', 'guides/'],
    // A file in one version, a folder in the other.
    ['guides/start', 'guides/start/'],
    ['guides/start.html', 'guides/start/'],
    ['guides/deep/keys/', 'admin/keys'],
    ['guides/deep/keys/index.html', 'admin/keys.html'],
    // Not found by the title of a 404 page, or by a title of two equally near pages.
    ['guides/gone', 'guides/'],
    ['a/overview', ''],
    ['b/same/overview', 'b/other/overview'],
    ['nowhere/at/all', ''],
    ['guides/none/at/all.png', 'guides/'],
  ])('returns for the path "%s" of the old version the path "%s" of the new version', async (path, expected) => {
    const { old, next } = versions();
    expect(await new SamePages().find(path, old, next)).toBe(expected);
  });

  it('returns the nearest parent folder if the files of a release are deleted', async () => {
    const { old, next } = versions();
    for (const { releaseDir } of [old, next]) rmSync(releaseDir, { recursive: true });
    expect(await new SamePages().find('guides/deep/keys/', old, next)).toBe('guides/');
  });
});
