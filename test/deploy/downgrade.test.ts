import { describe, expect, test } from 'vitest';
import { signFile } from '../../src/archive/index.ts';
import { SECRET_KEY, SIGNATURE_REQUIRED } from '../helpers/minisign.ts';
import { newFolder } from '../helpers/new-folder.ts';
import { type Bundle, codeOf, importOf, newStore, packBundle, putInto, startDaemon } from './workbench.ts';

const made = (day: string) => ({ domain: 'acme', version: `v${day}`, createdAt: `2024-06-${day}T10:00:00Z` });
const delivery = (bundle: Bundle, changes: object = {}) =>
  ({ ...importOf(bundle), source: 'inbox', ...changes }) as const;

const first = await packBundle('a.tar.gz', '1', made('01'));
const second = await packBundle('b.tar.gz', '2', made('02'));
const third = await packBundle('c.tar.gz', '3', made('03'));

describe('a bundle older than the newest release that was ever active', () => {
  test('is rejected unless the import sets activate: false, even after the newest release was removed', async () => {
    const { deployment } = await startDaemon(await newStore());
    await deployment.deliver(delivery(third));
    await deployment.deliver(delivery(second, { activate: false }));
    expect(await codeOf(deployment.deliver(delivery(second)))).toBe('downgrade');
    await deployment.activate('v02');
    await deployment.remove('v03');
    expect(await codeOf(deployment.deliver(delivery(first)))).toBe('downgrade');
    expect(deployment.active?.version).toBe('v02');
    // Delivering the served version is no downgrade.
    expect(await codeOf(deployment.deliver(delivery(second)))).toBe('it resolved');
  });

  test('is imported and served if its version is pinned', async () => {
    const { deployment, reload } = await startDaemon(await newStore());
    await deployment.deliver(delivery(third));
    await reload({ version: 'v01' });
    expect(await codeOf(deployment.deliver(delivery(first)))).toBe('it resolved');
    await deployment.reconcile();
    expect(deployment.active?.version).toBe('v01');
  });

  test('is not served from the preload folder after a rollback, and causes the error code downgrade', async () => {
    const store = await newStore();
    const { deployment, reload } = await startDaemon(store);
    await deployment.deliver(delivery(first));
    await deployment.deliver(delivery(third));
    await deployment.rollback();
    expect(deployment.active?.version).toBe('v01');
    const folder = newFolder();
    await putInto(folder, second);
    await reload({ preload: { dir: folder, mayBeMissing: true } });
    expect(await store.label('v02')).not.toBeNull();
    expect(deployment.active?.version).toBe('v01');
    expect(deployment.journal.lastError).toMatchObject({ code: 'downgrade', message: expect.stringContaining('v02') });
    await putInto(folder, await packBundle('d.tar.gz', '4', made('04')));
    await deployment.reconcile();
    expect(deployment.active?.version).toBe('v04');
  });

  test('is accepted if its file name contains a date that is not earlier than the newest release, unless signatures are required', async () => {
    const again = { fileName: 'acme-export-2024-06-03.tar.gz' };
    const { deployment } = await startDaemon(await newStore());
    await deployment.deliver(delivery(first));
    await deployment.deliver(delivery(third));
    expect(await codeOf(deployment.deliver(delivery(first, { fileName: 'acme-export-2024-06-02.tar.gz' })))).toBe(
      'downgrade',
    );
    await deployment.deliver(delivery(first, again));
    expect(deployment.active?.version).toBe('v01');

    const signed = await startDaemon(await newStore(), { signature: SIGNATURE_REQUIRED });
    const words = async (bundle: Bundle) => ({
      signature: await signFile(bundle.file, SECRET_KEY, { trustedComment: 'of acme' }),
    });
    await signed.deployment.deliver(delivery(first, await words(first)));
    await signed.deployment.deliver(delivery(third, await words(third)));
    expect(await codeOf(signed.deployment.deliver(delivery(first, { ...again, ...(await words(first)) })))).toBe(
      'downgrade',
    );
  });

  test('is accepted if it contains no creation time, because docshelf then does not know its age', async () => {
    const { deployment } = await startDaemon(await newStore());
    await deployment.deliver(delivery(third));
    expect(await codeOf(deployment.deliver(delivery(await packBundle('acme-2020-01-01.zip', 'x'))))).toBe(
      'it resolved',
    );
  });
});

test('minVersion rejects older versions and versions that cannot be compared, but never the pinned version', async () => {
  const store = await newStore();
  const { deployment, reload } = await startDaemon(store, { minVersion: 'v2' });
  const labelled = (version: string) =>
    codeOf(deployment.deliver(delivery(first, { version: null, fileName: version })));
  const bundle = await packBundle('x.tar.gz', 'x');
  const asVersion = (version: string) => codeOf(deployment.deliver(delivery(bundle, { version })));
  expect(await labelled('a.tar.gz')).toBe('downgrade');
  expect(await asVersion('v1.9.9')).toBe('downgrade');
  expect(await asVersion('2024-06-01')).toBe('downgrade');
  expect(await asVersion('v2.0.0-rc.1')).toBe('downgrade');
  expect(await asVersion('v2.0.0')).toBe('it resolved');
  await reload({ minVersion: 'v2', version: 'v1.9.9' });
  expect(await asVersion('v1.9.9')).toBe('it resolved');
});

describe('the trusted comment of a signature', () => {
  const words = { domain: 'acme', version: 'v01', created: '2024-06-01T10:00:00Z' };
  const importWith = async (changes: Partial<typeof words>, settings: object = {}) => {
    const { deployment } = await startDaemon(await newStore(), {
      domain: 'acme',
      signature: SIGNATURE_REQUIRED,
      ...settings,
    });
    const { domain, version, created } = { ...words, ...changes };
    const trustedComment = `docshelf domain=${domain} version=${version} created=${created}`;
    return codeOf(
      deployment.deliver(delivery(first, { signature: await signFile(first.file, SECRET_KEY, { trustedComment }) })),
    );
  };

  test.each([
    ['the same values', {}, 'it resolved'],
    ['another domain', { domain: 'globex' }, 'signature_mismatch'],
    ['another version', { version: 'v02' }, 'signature_mismatch'],
    ['another time', { created: '2024-06-02T10:00:00Z' }, 'signature_mismatch'],
  ] as const)('is compared with domain, version and date of the bundle: %s', async (_name, changes, code) => {
    expect(await importWith(changes)).toBe(code);
  });

  test('is ignored if its format is not that of docshelf', async () => {
    const { deployment } = await startDaemon(await newStore(), { signature: SIGNATURE_REQUIRED });
    const signature = await signFile(first.file, SECRET_KEY, { trustedComment: 'docshelf release of acme' });
    expect(await codeOf(deployment.deliver(delivery(first, { signature })))).toBe('it resolved');
  });
});
