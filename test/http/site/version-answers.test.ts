import { describe, expect, it, vi } from 'vitest';
import { type OpenedVersion, versionAnswer } from '../../../src/http/site/version-answers.ts';
import type { SiteRequest } from '../../../src/site/index.ts';

const request = (target: string): SiteRequest => ({ method: 'GET', target, header: () => undefined, id: () => null });
const source = (opened: OpenedVersion | null) => ({
  list: async () => [],
  open: async () => opened,
  samePage: async (path: string, from: string) => (from === 'v1' ? `same/${path}` : null),
});
const KEPT = {
  kind: 'kept',
  server: { respond: async () => new Response(null) },
  isStaged: false,
  canonical: async () => null,
} as const;
const location = async (target: string, basePath = '/') =>
  (await versionAnswer(request(target), source({ kind: 'active' }), basePath))?.headers.get('location');

describe('versionAnswer() for /_docshelf/v/{version}/', () => {
  it.each([
    ['/_docshelf/v/v2', '/'],
    ['/_docshelf/v/v2/a/b?c=d#e', '/a/b?c=d'],
    ['/_docshelf/v/v2//evil.example/a', '/evil.example/a'],
    ['/_docshelf/v/v2/\\evil.example', '/evil.example'],
    ['/_docshelf/v/v2/\t//evil.example', '/evil.example'],
    ['http://docs.example/_docshelf/v/v2/a', '/a'],
  ])('redirects to the regular page if the version is active: %j', async (target, expected) => {
    expect(await location(target)).toBe(expected);
    expect(await location(target, '/docs/')).toBe(`/docs${expected}`);
  });

  it.each([
    ['/_docshelf/v/v2/a/b?docshelf-from=v1', '/same/a/b', '/_docshelf/v/v2/same/a/b'],
    ['/_docshelf/v/v2?docshelf-from=v1', '/same/', '/_docshelf/v/v2/same/'],
    // A version that the reader may not see, and a missing version.
    ['/_docshelf/v/v2/a%20b?docshelf-from=v9', '/a%20b', '/_docshelf/v/v2/a%20b'],
    ['/_docshelf/v/v2//evil.example?docshelf-from=', '/evil.example', '/_docshelf/v/v2/evil.example'],
    ['/_docshelf/v/v2/\\evil.example?docshelf-from=..', '/evil.example', '/_docshelf/v/v2/evil.example'],
  ])(
    'redirects a reader who comes from another version to the corresponding page: %j',
    async (target, ofActive, ofKept) => {
      const kept = { ...KEPT, server: { respond: vi.fn() } };
      expect(await location(target)).toBe(ofActive);
      const answer = await versionAnswer(request(target), source(kept), '/docs/');
      expect([answer?.status, answer?.headers.get('location')]).toEqual([302, `/docs${ofKept}`]);
      const staged = await versionAnswer(request(target), source({ ...kept, isStaged: true }), '/');
      expect(staged?.headers.get('cache-control')).toBe('no-store');
      expect(kept.server.respond).not.toHaveBeenCalled();
    },
  );

  it('returns null and opens no version if the version name is invalid', async () => {
    const open = vi.fn(async () => null);
    for (const name of ['', '..', '%2e%2e', 'a%2fb', '%zz', '%00', '-a', 'a b'])
      expect(await versionAnswer(request(`/_docshelf/v/${name}/`), { ...source(null), open }, '/')).toBeNull();
    expect(open).not.toHaveBeenCalled();
  });
});
