import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type MadeKey, newKey } from '../../src/http/keys/key-store.ts';
import { HAS_POSTGRES } from '../helpers/postgres.ts';
import { postgresSubject } from './key-store/postgres-subject.ts';
import { folderSubject, type KeysSubject } from './key-store/subject.ts';

/** Contract of each KeyStore (src/http/keys/key-store.ts), for all kinds. */
const SUBJECTS: readonly (readonly [name: string, isThere: boolean, open: () => Promise<KeysSubject>])[] = [
  ['FolderKeys', true, folderSubject],
  ['PostgresKeys', HAS_POSTGRES, postgresSubject()],
];

const madeKey = (id: string, changes: Partial<MadeKey> = {}): MadeKey => ({
  id,
  organization: 'acme',
  type: 'admin',
  name: `The key "${id}" 🗝`,
  sha256: newKey('admin').sha256,
  createdAt: '2026-11-23T10:00:00.000Z',
  expiresAt: null,
  ...changes,
});

describe.for(SUBJECTS)('key store %s', ([, isThere, open]) => {
  if (!isThere) return it.skip('is skipped because PostgreSQL is not available');
  let subject: KeysSubject;
  beforeEach(async () => {
    subject = await open();
  });
  afterEach(() => subject.close());

  it('starts empty and without an error', async () => {
    expect(subject.store.keys).toEqual([]);
    expect(subject.store.fault).toBeNull();
    expect(await subject.store.list()).toEqual([]);
  });

  it('contains the digest of a key as soon as the key is added, but not the key itself', async () => {
    const { key, sha256 } = newKey('admin');
    const made = madeKey('one', { sha256, expiresAt: '2027-01-01T00:00:00.000Z' });
    const before = subject.store.keys;
    await subject.store.add(made);
    expect(subject.store.keys).toEqual([made]);
    expect(subject.store.keys).not.toBe(before);
    expect(await (await subject.another()).list()).toEqual([made]);
    expect(await subject.written()).not.toContain(key);
  });

  it('removes a key at once, and returns the removed entry', async () => {
    const [one, two] = [madeKey('one'), madeKey('two')];
    await subject.store.add(one);
    await subject.store.add(two);
    expect(await subject.store.remove('one')).toEqual(one);
    expect(subject.store.keys).toEqual([two]);
    expect(await subject.store.remove('one')).toBeNull();
    expect(await subject.store.list()).toEqual([two]);
  });

  it('updates its keys automatically after a change by another daemon', async () => {
    const other = await subject.another();
    await subject.store.add(madeKey('one'));
    await expect.poll(() => other.keys.map(({ id }) => id)).toEqual(['one']);
    await other.remove('one');
    await expect.poll(() => subject.store.keys).toEqual([]);
  });

  it('loses no change if several daemons write at the same time', async () => {
    const stores = [subject.store, await subject.another(), await subject.another()];
    await subject.store.add(madeKey('old'));
    const ids = Array.from({ length: 24 }, (_, at) => `key-${at}`);
    await Promise.all([...ids.map((id, at) => stores[at % stores.length]?.add(madeKey(id))), stores[1]?.remove('old')]);
    expect((await subject.store.list()).map(({ id }) => id).sort()).toEqual(ids.toSorted());
  });

  it('returns the latest use of a key at once in the daemon that recorded it, and in another daemon after the first daemon has stopped', async () => {
    const { sha256 } = madeKey('one');
    const other = await subject.another();
    other.noteUse(sha256);
    const [first] = (await other.lastUses()).values();
    await other.stop();
    expect((await subject.store.lastUses()).get(sha256)).toBe(first);
    await expect.poll(() => new Date().toISOString() > (first ?? '')).toBe(true);
    subject.store.noteUse(sha256);
    const later = (await subject.store.lastUses()).get(sha256);
    expect(later && later > (first ?? '')).toBe(true);
  });

  it('does not write the use of a key during a request', async () => {
    const { sha256 } = madeKey('one');
    subject.store.noteUse(sha256);
    expect(await subject.written()).not.toContain(sha256);
  });

  it('does not restore a revoked key if another daemon records a use of that key', async () => {
    const other = await subject.another();
    const one = madeKey('one');
    await subject.store.add(one);
    await other.list();
    other.noteUse(one.sha256);
    await subject.store.remove('one');
    await other.stop();
    expect(await subject.store.list()).toEqual([]);
  });
});
