import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Organization, withKeys } from '../../../src/domain/organization.ts';
import { accessOf } from '../../../src/http/api/auth.ts';
import { KeyDesk } from '../../../src/http/keys/key-desk.ts';
import { newKey } from '../../../src/http/keys/key-store.ts';
import { folderSubject, type KeysSubject } from '../../contract/key-store/subject.ts';
import { madeKey } from './made-key.ts';

const ORGANIZATIONS: readonly Organization[] = [
  {
    id: 'acme',
    plan: 'enterprise',
    sites: [],
    keys: [{ id: 'ci', type: 'admin', sha256: 'c'.repeat(64) }],
  },
  { id: 'globex', plan: 'none', sites: [], keys: [] },
];

describe('KeyDesk (management of API keys)', () => {
  let subject: KeysSubject;
  let desk: KeyDesk;
  beforeEach(async () => {
    subject = await folderSubject();
    desk = new KeyDesk({ store: subject.store, organizations: () => ORGANIZATIONS });
  });
  afterEach(() => subject.close());

  /** A key holder like that of the API. */
  const holder = (key: string, type: 'admin' | 'assistant' = 'admin') =>
    accessOf(withKeys(ORGANIZATIONS, subject.store.keys)).keys.holder(`Bearer ${key}`, type);

  it('creates a key that is valid immediately, but only for one organization and type, and returns the secret only once', async () => {
    const made = await desk.create({ organization: 'acme', type: 'admin', name: 'pipeline' });
    expect(made).toMatchObject({ id: expect.stringMatching(/^key_[0-9a-f]{16}$/), name: 'pipeline', expired: false });
    expect(made.key).toMatch(/^svc_[A-Za-z0-9_-]{43}$/);
    expect(holder(made.key).organization.id).toBe('acme');
    expect(() => holder(made.key, 'assistant')).toThrow(expect.objectContaining({ code: 'forbidden' }));
    expect(JSON.stringify(await desk.list(null))).not.toContain(made.key);
    expect(await subject.written()).toContain(createHash('sha256').update(made.key).digest('hex'));
  });

  it('lists keys of the config as read-only, then created keys newest first, for one or all organizations', async () => {
    const one = await desk.create({ organization: 'acme', type: 'admin', name: 'one' });
    await expect.poll(() => new Date().toISOString() > (one.createdAt ?? '')).toBe(true);
    await desk.create({ organization: 'acme', type: 'assistant', name: 'two' });
    await desk.create({ organization: 'globex', type: 'assistant', name: 'three' });
    subject.store.noteUse('c'.repeat(64));
    const ofAcme = await desk.list('acme');
    expect(ofAcme.map(({ name, readOnly }) => [name, readOnly])).toEqual([
      ['ci', true],
      ['two', false],
      ['one', false],
    ]);
    expect(ofAcme[0]).toMatchObject({ id: 'ci', createdAt: null, lastUsedAt: expect.stringMatching(/^\d{4}-/) });
    expect(ofAcme[1]?.lastUsedAt).toBeNull();
    expect((await desk.list('globex')).map(({ name }) => name)).toEqual(['three']);
    expect(await desk.list(null)).toHaveLength(4);
    await expect(desk.list('initech')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('revokes a key, which is then rejected immediately and unknown to a second revoke call', async () => {
    const { id, key } = await desk.create({ organization: 'acme', type: 'admin', name: 'one' });
    expect(holder(key).key.id).toBe(id);
    expect(await desk.revoke(id)).toMatchObject({ id, name: 'one', organization: 'acme' });
    expect(() => holder(key)).toThrow(expect.objectContaining({ code: 'unauthorized' }));
    await expect(desk.revoke(id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('does not revoke a key of the config, and names the organization whose config contains the key', async () => {
    await expect(desk.revoke('ci')).rejects.toMatchObject({
      code: 'key_of_config',
      next: expect.stringContaining('"acme"'),
    });
  });

  it('rejects an unknown organization, and lists the known organizations', async () => {
    const create = desk.create({ organization: 'initech', type: 'admin', name: 'one' });
    await expect(create).rejects.toMatchObject({
      code: 'not_found',
      next: 'Use an organization of the config: acme, globex.',
    });
    expect(await subject.store.list()).toEqual([]);
  });

  it.each([
    ['in the past', '2020-01-01T00:00:00Z', 'is in the past'],
    ['not a valid time', '2027-02-28T99:00:00Z', 'is not a valid day or time'],
    ['not a valid day', '2027-02-30T00:00:00Z', 'is not a valid day or time'],
    ['not a valid day of that year', '2027-02-29T23:00:00-05:00', 'is not a valid day or time'],
  ])('rejects an expiry that is %s', async (_, expiresAt, state) => {
    const create = desk.create({ organization: 'acme', type: 'admin', name: 'one', expiresAt });
    await expect(create).rejects.toMatchObject({ code: 'bad_request', message: expect.stringContaining(state) });
    expect(await subject.store.list()).toEqual([]);
  });

  it('rejects a key after its expiry, and still lists it', async () => {
    const { key, expired } = await desk.create({
      organization: 'acme',
      type: 'admin',
      name: 'one',
      expiresAt: '2126-01-01T00:00:00+02:00',
    });
    expect([expired, holder(key).key.expiresAt]).toEqual([false, '2125-12-31T22:00:00.000Z']);
    const old = newKey('admin');
    const expiresAt = new Date(Date.now() - 1).toISOString();
    await subject.store.add({ ...madeKey('old'), type: 'admin', sha256: old.sha256, expiresAt });
    expect(() => holder(old.key)).toThrow(
      expect.objectContaining({ code: 'unauthorized', message: expect.stringContaining(expiresAt) }),
    );
    expect(await desk.list('acme')).toContainEqual(expect.objectContaining({ name: 'old', expired: true, expiresAt }));
  });

  it.each(['admin', 'assistant'] as const)(
    'does not show an %s key in the error if a caller passed the key instead of its id',
    async (type) => {
      const { key } = newKey(type);
      const error: unknown = await desk.revoke(key).catch((cause: unknown) => cause);
      expect(error).toMatchObject({ code: 'not_found', message: expect.not.stringContaining(key) });
    },
  );

  it('ignores keys of an organization that the config no longer contains, but lists them', async () => {
    const { key } = await desk.create({ organization: 'globex', type: 'admin', name: 'one' });
    const left = accessOf(withKeys(ORGANIZATIONS.slice(0, 1), subject.store.keys));
    expect(() => left.keys.holder(`Bearer ${key}`, 'admin')).toThrow(expect.objectContaining({ code: 'unauthorized' }));
    const without = new KeyDesk({ store: subject.store, organizations: () => ORGANIZATIONS.slice(0, 1) });
    expect((await without.list(null)).map(({ organization }) => organization)).toEqual(['acme', 'globex']);
  });
});
