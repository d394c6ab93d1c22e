import { expect, it, vi } from 'vitest';
import { type OpenVersion, OpenVersions } from '../../src/app/sites/readable-versions.ts';
import type { SiteSearch } from '../../src/search/index.ts';
import { waitFor } from '../helpers/wait-for.ts';

const version = (files: number) => ({ snapshot: { release: { files: { size: files } } } }) as unknown as OpenVersion;

it('the cache of open versions (OpenVersions) keeps the most recently used versions within a byte limit, and opens each version once for concurrent callers', async () => {
  const open = new OpenVersions({ bytesMax: 3 * 1024 ** 2 });
  const make = vi.fn(async () => version(10));
  await Promise.all([open.get('a', make), open.get('a', make)]);
  expect(make).toHaveBeenCalledTimes(1);
  await open.get('b', make);
  await open.get('a', make);
  await open.get('c', make);
  expect(open.size).toBe(2);
  await open.get('a', make);
  expect(make).toHaveBeenCalledTimes(3);
  // A version that is larger than the limit stays in the cache, but as the only version.
  await open.get('large', async () => version(1_000_000));
  expect(open.size).toBe(1);
});

it('the cache of open versions (OpenVersions) retries a version that could not be opened', async () => {
  const open = new OpenVersions();
  await expect(open.get('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await expect(open.get('a', async () => version(1))).resolves.toBeDefined();
});

it('the cache of open versions (OpenVersions) closes a version once no reader uses it', async () => {
  const open = new OpenVersions({ idleMs: 50 });
  const close = vi.fn();
  open.search('a', () => ({ close }) as unknown as SiteSearch);
  await open.get('a', async () => version(1));
  await waitFor(
    async () => (open.size === 0 && close.mock.calls.length === 1 ? true : null),
    () => `still open: ${open.size}, closed ${close.mock.calls.length}`,
  );
});
