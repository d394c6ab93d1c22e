import { describe, expect, it, vi } from 'vitest';
import { type OpenedVersion, versionAnswer } from '../../../src/http/site/version-answers.ts';
import type { SiteRequest } from '../../../src/serve/index.ts';

const request = (target: string): SiteRequest => ({ method: 'GET', target, header: () => undefined, id: () => null });
const source = (opened: OpenedVersion | null) => ({ list: async () => [], open: async () => opened });
const location = async (target: string, basePath = '/') =>
  (await versionAnswer(request(target), source({ kind: 'active' }), basePath))?.headers.get('location');

describe('the address of a version', () => {
  it.each([
    ['/_docshelf/v/v2', '/'],
    ['/_docshelf/v/v2/a/b?c=d#e', '/a/b?c=d'],
    ['/_docshelf/v/v2//evil.example/a', '/evil.example/a'],
    ['/_docshelf/v/v2/\\evil.example', '/evil.example'],
    ['/_docshelf/v/v2/\t//evil.example', '/evil.example'],
    ['http://docs.example/_docshelf/v/v2/a', '/a'],
  ])('of the active one leads to its own page: %j', async (target, expected) => {
    expect(await location(target)).toBe(expected);
    expect(await location(target, '/docs/')).toBe(`/docs${expected}`);
  });

  it('names nothing where it is no version', async () => {
    const open = vi.fn(async () => null);
    for (const name of ['', '..', '%2e%2e', 'a%2fb', '%zz', '%00', '-a', 'a b'])
      expect(await versionAnswer(request(`/_docshelf/v/${name}/`), { list: async () => [], open }, '/')).toBeNull();
    expect(open).not.toHaveBeenCalled();
  });

  it('is as if it had never been, where the version is removed while it is read', async () => {
    const respond = async () => new Response(null, { status: 503 });
    const kept = (isThere: boolean): OpenedVersion => ({
      kind: 'kept',
      server: { respond },
      isStaged: false,
      isThere: async () => isThere,
      canonical: async () => null,
    });
    expect(await versionAnswer(request('/_docshelf/v/v1/'), source(kept(false)), '/')).toBeNull();
    expect((await versionAnswer(request('/_docshelf/v/v1/'), source(kept(true)), '/'))?.status).toBe(503);
  });
});
