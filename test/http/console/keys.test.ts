import { describe, expect, it } from 'vitest';
import { DocshelfError } from '../../../src/domain/errors.ts';
import { AuditTrail } from '../../../src/http/audit/audit.ts';
import { KeyDesk } from '../../../src/http/keys/key-desk.ts';
import type { MadeKey } from '../../../src/http/keys/key-store.ts';
import { auditLine } from '../audit/memory-audit.ts';
import { organization, ownedSite } from '../organization-example.ts';
import { Operator } from './operator.ts';

const KEYS = '/organizations/acme/keys';

/** Key desk with in-memory keys. */
function deskInMemory(keys: MadeKey[] = [], fault: DocshelfError | null = null): KeyDesk {
  const sha256 = 'c'.repeat(64);
  const organizations = [organization('acme', { keys: [{ id: 'ci', type: 'admin', sha256 }] })];
  const store = {
    keys,
    fault,
    list: async () => (fault === null ? keys : Promise.reject(fault)),
    add: async (key: MadeKey) => void keys.push(key),
    remove: async (id: string) => keys.splice(keys.findIndex((key) => key.id === id) >>> 0, 1)[0] ?? null,
    noteUse: () => undefined,
    lastUses: async () => new Map([[sha256, '2026-11-23T10:00:00.000Z']]),
    stop: async () => undefined,
  };
  return new KeyDesk({ store, organizations: () => organizations });
}

describe('console page of API keys', () => {
  it('is linked from the page of organizations, and shows keys only after sign-in', async () => {
    const operator = new Operator({ actions: { keys: deskInMemory() } });
    expect(await operator.page('/organizations')).toContain('href="./organizations/acme/keys"');
    const page = await operator.page(KEYS);
    expect(page).toContain('Sign in to see, create and revoke keys.');
    expect(page).not.toContain('config');
    expect((await operator.get('/organizations/initech/keys')).status).toBe(404);
  });

  it.each<[string, 'admin' | 'assistant', string | null, string]>([
    ['an export of a domain with a source', 'admin', 'http://127.0.0.1:8081/', '8081/v1/static-export/jobs -H .*found'],
    ['a search of the first domain', 'assistant', 'http://127.0.0.1:8081', '8081/v1/search/bare -H '],
    ['a placeholder if the API is off', 'assistant', null, 'API_URL/v1/search/bare -H '],
  ])('shows a command to try the new key: %s', async (_, type, apiUrl, expected) => {
    const organizations = [organization('acme', { sites: [ownedSite('bare', false), ownedSite('found')] })];
    const operator = await Operator.signedIn({
      actions: { keys: deskInMemory() },
      service: () => ({ organizations, apiUrl }),
    });
    const { page } = await operator.actAndFollow(KEYS, { name: 'pipeline', type });
    expect(page).toMatch(/svc_[A-Za-z0-9_-]{43}/);
    expect(/<code id="curl">([^<]*)/.exec(page)?.[1]).toMatch(new RegExp(expected));
  });

  it('shows a new key once with a command to try the key, on a page that never reloads by itself', async () => {
    const keys: MadeKey[] = [];
    const organizations = [organization('acme', { sites: [ownedSite('acme')] })];
    const service = () => ({ organizations, apiUrl: 'http://127.0.0.1:8081' });
    const operator = await Operator.signedIn({ actions: { keys: deskInMemory(keys) }, service });
    const form = { name: 'pipeline', type: 'admin', expires: '2126-12-31' };
    const { path, query, page: made } = await operator.actAndFollow(KEYS, form);
    const [key] = /svc_[A-Za-z0-9_-]{43}/.exec(made) ?? [];
    expect(made).toContain(`Authorization: Bearer ${key}`);
    expect(made).toContain('/v1/static-export/jobs');
    expect(made).not.toContain('data-events');
    expect(made).toContain('data-copy="key"');
    expect(keys).toMatchObject([{ name: 'pipeline', type: 'admin', expiresAt: '2126-12-31T23:59:59.000Z' }]);

    const again = await operator.page(path + query);
    expect(again).toContain('was already shown');
    for (const page of [again, await operator.page(KEYS)]) expect(page).not.toContain(key);
  });

  it('keeps the typed values of a rejected form, and shows the reason for the rejection', async () => {
    const operator = await Operator.signedIn({ actions: { keys: deskInMemory() } });
    const { page } = await operator.actAndFollow(KEYS, { name: 'old "one"', type: 'admin', expires: '2020-01-31' });
    expect(page).toContain('is in the past');
    expect(page).toContain('value="old &quot;one&quot;"');
    expect(page).toMatch(/<option value="admin" selected/);
    expect(page).toContain('value="2020-01-31"');
  });

  it('revokes a created key, but states that a key of the config must be removed from the config', async () => {
    const keys: MadeKey[] = [];
    const operator = await Operator.signedIn({ actions: { keys: deskInMemory(keys) } });
    await operator.act(KEYS, { name: '<b>bold</b>', type: 'assistant' });
    const page = await operator.page(KEYS);
    expect(page).toContain('&lt;b&gt;bold&lt;/b&gt;');
    expect(page).not.toContain('<b>');
    expect(page.match(/Revoke/g)?.length).toBe(3);
    expect(page).toContain('remove it from the config');
    await operator.actAndFollow(`${KEYS}/revoke`, { key: keys[0]?.id ?? '', name: '<b>bold</b>' });
    expect(keys).toEqual([]);
    const refused = await operator.actAndFollow(`${KEYS}/revoke`, { key: 'ci', name: 'ci' });
    expect(refused.page).toContain('key_of_config');
  });

  it('shows the error if keys cannot be read', async () => {
    const fault = new DocshelfError('cannot_read', 'Cannot read the keys in "keys.json": the file is damaged');
    const operator = await Operator.signedIn({ actions: { keys: deskInMemory([], fault) } });
    expect(await operator.page(KEYS)).toContain('the file is damaged');
  });
});

describe('console page of changes', () => {
  const failure = { target: '<i>v2</i>', result: 'version_not_found', error: 'Cannot find version "v2"' };
  const line = auditLine(failure);
  const read = async (_: number, before: string | null) =>
    before === null ? { lines: [line], before: line.at } : { lines: [], before: null };

  it('shows the audit lines page by page, only after sign-in', async () => {
    const audit = new AuditTrail({ append: async () => undefined, read }, () => undefined);
    const operator = new Operator({ audit });
    expect(await operator.page('/audit')).not.toContain('1a2b3c4d');
    await operator.signIn();
    const page = await operator.page('/audit');
    for (const text of [
      'session 1a2b3c4d',
      '10.1.2.3',
      '&lt;i&gt;v2&lt;/i&gt;',
      'errors#version_not_found',
      'request <span class="name short">r-1</span>',
    ])
      expect(page).toContain(text);
    expect(page).toContain(`audit?before=${encodeURIComponent(line.at)}`);
    expect(await operator.page(`/audit?before=${line.at}`)).toContain('There are no changes yet');
  });
});

it('console serves the API reference of the admin listener at /docs', async () => {
  const page = await new Operator().page('/docs');
  for (const text of ['Create an API key', 'Activate a stored version', '/v1/audit', 'adminToken'])
    expect(page).toContain(text);
});

it('console uses a configured site and organization in the examples of /docs', async () => {
  const sites = [{ domain: 'handbook', features: [] }];
  const operator = new Operator({
    features: () => ({ deploymentType: 'client-hosted', domain: null, features: [], sites }),
    service: () => ({ organizations: [organization('globex')], apiUrl: null }),
  });
  for (const path of ['/docs', '/openapi.json']) {
    const page = (await operator.page(path)).replaceAll('&quot;', '"');
    expect(page).toContain('"handbook"');
    expect(page).toMatch(/"organization": ?"globex"/);
    expect(page).not.toMatch(/": ?"acme(?:-inc)?"/);
  }
  expect(await operator.page('/docs')).toContain('/v1/sites/handbook/rollback');
});
