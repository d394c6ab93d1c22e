import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { beforeEach, describe, expect, it } from 'vitest';
import { saysExpired } from '../../../src/deploy/sources/http-bundle-source.ts';
import { expiryOfLink } from '../../../src/domain/bundle-link.ts';
import type { BundleLinkRequest } from '../../../src/export/ports.ts';
import { DiskBundleStore } from '../../../src/export/stores/disk-bundle-store.ts';
import { newFolder } from '../../helpers/new-folder.ts';
import { packedBundle } from './packed-bundle.ts';

const NEVER = new AbortController().signal;
const DAY_MS = 24 * 3600_000;
const START_MS = Date.parse('2024-06-01T12:00:00.400Z');
const NAME = 'acme-export-2024-06-01.tar.gz';

let dir: string;
let nowMs = START_MS;
let store: DiskBundleStore;
beforeEach(async () => {
  dir = newFolder();
  nowMs = START_MS;
  store = new DiskBundleStore({ dir, publicUrl: () => 'https://docs.example/api/', nowMs: () => nowMs });
});

/** Parses a link like the route of the API listener. */
function followed(link: string): BundleLinkRequest {
  const url = new URL(link);
  const [fileName = '', sha256 = ''] = url.pathname.split('/').reverse();
  return { sha256, fileName: decodeURIComponent(fileName), query: url.searchParams };
}

async function storedBundle(): Promise<string> {
  const bundle = await packedBundle(dir, randomBytes(100));
  await store.put(bundle, NEVER);
  return bundle.sha256;
}

describe('DiskBundleStore.put()', () => {
  it('moves the file into the folder of bundles', async () => {
    const bytes = randomBytes(1000);
    const bundle = await packedBundle(dir, bytes);
    await store.put(bundle, NEVER);
    expect(await readdir(dir)).toEqual(['bundles']);
    expect(await readFile(join(dir, 'bundles', `${bundle.sha256}.tar.gz`))).toEqual(bytes);
  });

  it('replaces a truncated bundle', async () => {
    const bytes = randomBytes(1000);
    const bundle = await packedBundle(dir, bytes);
    await store.put(bundle, NEVER);
    const kept = join(dir, 'bundles', `${bundle.sha256}.tar.gz`);
    await truncate(kept, 999);
    await store.put(await packedBundle(dir, bytes), NEVER);
    expect(await readFile(kept)).toEqual(bytes);
  });

  it('leaves the file at its original path if the file cannot be moved into the store', async () => {
    const bundle = await packedBundle(dir, randomBytes(10));
    await mkdir(join(dir, 'bundles', `${bundle.sha256}.tar.gz`), { recursive: true });
    await expect(store.put(bundle, NEVER)).rejects.toMatchObject({ code: 'EISDIR' });
    expect((await readFile(bundle.file)).length).toBe(10);
  });
});

it('DiskBundleStore.read() stops when its signal is aborted', async () => {
  const sha256 = await storedBundle();
  const abort = new AbortController();
  const stream = await store.read(sha256, abort.signal);
  abort.abort();
  await expect(buffer(stream)).rejects.toMatchObject({ name: 'AbortError' });
});

describe('DiskBundleStore.link()', () => {
  it('uses the public URL, including its path', async () => {
    const sha256 = await storedBundle();
    const { url, expiresAt } = await store.link({ sha256, fileName: NAME }, 3600_000);
    expect(url).toMatch(
      new RegExp(
        `^https://docs\\.example/api/v1/bundles/${sha256}/${NAME}\\?expires=\\d+&keyId=1&signature=[A-Za-z0-9_-]{43}$`,
      ),
    );
    expect(expiresAt.toISOString()).toBe('2024-06-01T13:00:01.000Z');
    expect(expiryOfLink(url)).toBe(expiresAt.getTime());
  });

  it('returns a link that is valid for at least the requested time', async () => {
    const sha256 = await storedBundle();
    const { url, expiresAt } = await store.link({ sha256, fileName: NAME }, 1000);
    nowMs += 1000;
    await expect(store.follow(followed(url))).resolves.toMatchObject({ sha256, sizeBytes: 100 });
    nowMs = expiresAt.getTime() - 1;
    await expect(store.follow(followed(url))).resolves.toMatchObject({ sha256 });
    nowMs += 1;
    await expect(store.follow(followed(url))).rejects.toMatchObject({ code: 'bundle_link_expired' });
  });

  it('returns a link that stays valid after a restart and after a rotation of the signing key', async () => {
    const sha256 = await storedBundle();
    nowMs += 7 * DAY_MS - 1000;
    const { url } = await store.link({ sha256, fileName: NAME }, 7 * DAY_MS);
    const later = new DiskBundleStore({ dir, publicUrl: () => 'https://docs.example', nowMs: () => nowMs });
    for (let day = 0; day < 7; day += 1, nowMs += DAY_MS) {
      await later.link({ sha256, fileName: NAME }, 1000);
      await expect(later.follow(followed(url))).resolves.toMatchObject({ sha256 });
    }
    await expect(later.follow(followed(url))).rejects.toMatchObject({ code: 'bundle_link_expired' });
  });
});

describe('DiskBundleStore.follow() (check of a download link)', () => {
  it('returns the path and the header values of the linked bundle', async () => {
    const sha256 = await storedBundle();
    const { url } = await store.link({ sha256, fileName: 'größe.tar.gz' }, 1000);
    expect(await store.follow(followed(url))).toEqual({
      sha256,
      sizeBytes: 100,
      diskPath: join(dir, 'bundles', `${sha256}.tar.gz`),
      contentType: 'application/gzip',
      contentDisposition: `attachment; filename="gr??e.tar.gz"; filename*=UTF-8''gr%C3%B6%C3%9Fe.tar.gz`,
    });
  });

  it.each<[string, (link: BundleLinkRequest, other: string) => Partial<BundleLinkRequest> | undefined]>([
    ['another bundle', (_, other) => ({ sha256: other })],
    ['another name', () => ({ fileName: 'evil.tar.gz' })],
    ['a name in another case', () => ({ fileName: NAME.toUpperCase() })],
    ['a digest in another case', ({ sha256 }) => ({ sha256: sha256.toUpperCase() })],
    ['a path instead of a digest', ({ sha256 }) => ({ sha256: `../bundles/${sha256}` })],
    ['a later expiry', ({ query }) => void query.set('expires', String(Number(query.get('expires')) + 1))],
    ['an earlier expiry', ({ query }) => void query.set('expires', String(Number(query.get('expires')) - 1))],
    ['an expiry in another format', ({ query }) => void query.set('expires', `0${query.get('expires')}`)],
    ['no expiry', ({ query }) => void query.delete('expires')],
    ['two expiries', ({ query }) => void query.append('expires', '9999999999')],
    ['another key', ({ query }) => void query.set('keyId', '2')],
    ['a path instead of a key', ({ query }) => void query.set('keyId', '../link-keys/1')],
    ['no key', ({ query }) => void query.delete('keyId')],
    ['no signature', ({ query }) => void query.delete('signature')],
    ['an empty signature', ({ query }) => void query.set('signature', '')],
    ['a longer signature', ({ query }) => void query.set('signature', `${query.get('signature')}A`)],
    ['an additional parameter', ({ query }) => void query.set('response-content-type', 'text/html')],
  ])('rejects a link with %s', async (_, change) => {
    const [sha256, other] = [await storedBundle(), await storedBundle()];
    // Use another existing key.
    const { url: old } = await store.link({ sha256, fileName: NAME }, 30 * 60_000);
    await expect(store.follow(followed(old))).resolves.toMatchObject({ sha256 });
    const link = followed(old);
    nowMs += 60_000;
    await new DiskBundleStore({ dir, publicUrl: () => '', nowMs: () => nowMs, rotateKeysMs: 1 }).link(
      { sha256, fileName: NAME },
      1000,
    );
    const changed = { ...link, ...change(link, other) };
    await expect(store.follow(changed)).rejects.toMatchObject({ code: 'link_invalid', next: expect.any(String) });
  });

  it('rejects a signature with any character changed', async () => {
    const sha256 = await storedBundle();
    const link = followed((await store.link({ sha256, fileName: NAME }, 60_000)).url);
    const signature = link.query.get('signature') ?? '';
    for (const [at, character] of [...signature].entries()) {
      // Use the next letter. Only the upper bits of the last letter count, but the store must also reject a change of other bits.
      const next = character === 'z' ? 'y' : String.fromCharCode(character.charCodeAt(0) + 1);
      link.query.set('signature', `${signature.slice(0, at)}${next}${signature.slice(at + 1)}`);
      await expect(store.follow(link)).rejects.toMatchObject({ code: 'link_invalid' });
    }
  });

  it('states the expiry of an expired link in words that docshelf clients parse', async () => {
    const sha256 = await storedBundle();
    const { url, expiresAt } = await store.link({ sha256, fileName: NAME }, 60_000);
    nowMs += 61_000;
    const error = await store.follow(followed(url)).catch((reason) => reason);
    expect(error).toMatchObject({ code: 'bundle_link_expired', fields: { expiresAt: expiresAt.toISOString() } });
    expect(error.message).toContain(expiresAt.toISOString());
    expect(error.next).toContain('POST');
    expect(saysExpired(error.message)).toBe(true);
  });

  it('rejects an expired link with link_invalid if its signature is wrong', async () => {
    const sha256 = await storedBundle();
    const link = followed((await store.link({ sha256, fileName: NAME }, 60_000)).url);
    nowMs += 61_000;
    link.query.set('expires', String(Number(link.query.get('expires')) - 1));
    await expect(store.follow(link)).rejects.toMatchObject({ code: 'link_invalid' });
  });

  it('rejects an expired link with bundle_link_expired even if its signing key no longer exists', async () => {
    const sha256 = await storedBundle();
    const { url } = await store.link({ sha256, fileName: NAME }, 60_000);
    for (let week = 0; week < 3; week += 1) {
      nowMs += 8 * DAY_MS;
      await store.link({ sha256, fileName: NAME }, 60_000);
    }
    expect(await readdir(join(dir, 'link-keys'))).not.toContain('1.json');
    await expect(store.follow(followed(url))).rejects.toMatchObject({ code: 'bundle_link_expired' });
  });

  it('rejects a link to a deleted bundle with not_found', async () => {
    const sha256 = await storedBundle();
    const { url } = await store.link({ sha256, fileName: NAME }, 60_000);
    await store.remove(sha256);
    await expect(store.follow(followed(url))).rejects.toMatchObject({ code: 'not_found' });
  });
});
