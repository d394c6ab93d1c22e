import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { signFile } from '../../src/archive/index.ts';
import type { SignatureSettings } from '../../src/deploy/import/signature.ts';
import { Inbox } from '../../src/deploy/index.ts';
import type { DocshelfError } from '../../src/domain/errors.ts';
import { Secret } from '../../src/domain/secret.ts';
import { minisignFile, SECRET_KEY, SIGNATURE_REQUIRED } from '../helpers/minisign.ts';
import {
  type Bundle,
  codeOf,
  FakeSource,
  fault,
  importOf,
  newStore,
  packBundle,
  putInto,
  stagingOf,
  startDaemon,
  type TestDaemon,
  until,
} from './workbench.ts';

const KEY_ID = 'E240A99B1488FA7D';
const LINK = 'https://bundles.test/acme-export-2024-06-01.tar.gz?signature=canary';
const SIGNATURE_LINK = 'https://bundles.test/june.minisig?signature=canary';

const REQUIRED: SignatureSettings = SIGNATURE_REQUIRED;
const WELCOME: SignatureSettings = { ...REQUIRED, required: false };
const STRANGER: SignatureSettings = { ...REQUIRED, publicKeys: [minisignFile('other.pub')] };

const june = await packBundle('acme-export-2024-06-01.tar.gz', 'june');
const july = await packBundle('acme-export-2024-07-01.tar.gz', 'july');
/** Signature of june. */
const signature = await signFile(june.file, SECRET_KEY, { trustedComment: 'june' });

const stored = async (daemon: TestDaemon) =>
  (await daemon.deployment.readStored()).versions.map(({ version }) => version);
const lastCode = (daemon: TestDaemon) => daemon.deployment.journal.lastError?.code ?? null;
const verified = (daemon: TestDaemon) => daemon.events.filter(({ kind }) => kind === 'verified');

/** Copies an archive to a new folder, with that signature next to it. */
async function withSignatureFile(bundle: Bundle, text: string | null): Promise<Bundle> {
  const copy = await packBundle(bundle.fileName, 'replaced');
  await cp(bundle.file, copy.file);
  if (text !== null) await writeFile(`${copy.file}.minisig`, text);
  return { ...bundle, file: copy.file };
}

/** All ways to deliver a bundle to a daemon with these settings. Each returns the code of the rejection, or null. */
const WAYS: Readonly<
  Record<string, (signature: SignatureSettings, bundle: Bundle) => Promise<{ daemon: TestDaemon; code: string | null }>>
> = {
  async fetch(settings, bundle) {
    const source = await new FakeSource().serveBundle(LINK, bundle);
    const daemon = await startDaemon(await newStore(), { link: LINK, signature: settings }, source);
    return { daemon, code: lastCode(daemon) };
  },
  async preload(settings, bundle) {
    const store = await newStore();
    await putInto(join(store.paths.dir, 'bundles'), bundle);
    const daemon = await startDaemon(store, { signature: settings });
    return { daemon, code: lastCode(daemon) };
  },
  async inbox(settings, bundle) {
    const daemon = await startDaemon(await newStore(), { signature: settings });
    const { paths, inbox } = inboxOf(daemon);
    await putInto(paths.inbox, bundle);
    inbox.start();
    await until(async () => expect(await readdir(paths.inbox)).not.toContain(bundle.fileName));
    await inbox.stop();
    const isRejected = (await readdir(paths.rejected)).includes(bundle.fileName);
    return { daemon, code: isRejected ? lastCode(daemon) : null };
  },
  async upload(settings, { file, fileName }) {
    const daemon = await startDaemon(await newStore(), { signature: settings });
    const stream = (async function* () {
      yield await readFile(file);
    })();
    const delivery = { fileName, version: null, source: 'upload', activate: true } as const;
    return { daemon, code: await failureOf(daemon.deployment.deliverStream(stream, delivery)) };
  },
  async import(settings, bundle) {
    const daemon = await startDaemon(await newStore(), { signature: settings });
    return { daemon, code: await failureOf(daemon.deployment.deliver(importOf(bundle))) };
  },
};

function inboxOf(daemon: TestDaemon) {
  const { paths } = daemon.store;
  return { paths, inbox: new Inbox({ paths, deployment: daemon.deployment }) };
}

async function failureOf(promise: Promise<unknown>): Promise<string | null> {
  const code = await codeOf(promise);
  return code === 'it resolved' ? null : code;
}

describe.each(Object.entries(WAYS))('a bundle that arrives by %s', (_, hand) => {
  test('is rejected before it is read if a signature is required and missing', async () => {
    const { daemon, code } = await hand(REQUIRED, june);
    expect(code).toBe('no_signature');
    expect(await stored(daemon)).toEqual([]);
    expect(await stagingOf(daemon.store)).toEqual([]);
    const garbage = await packBundle('garbage-2024-01-01.tar.gz', '');
    await writeFile(garbage.file, 'no archive');
    expect((await hand(REQUIRED, garbage)).code).toBe('no_signature');
  });

  test('is imported if the configured signature matches, and an event contains the key ID', async () => {
    const { daemon, code } = await hand({ ...REQUIRED, text: signature }, june);
    expect(code).toBeNull();
    expect(await stored(daemon)).toEqual(['2024-06-01']);
    expect(verified(daemon)).toMatchObject([{ keyId: KEY_ID, trustedComment: 'june' }]);
  });

  test('is rejected if the configured signature does not match, even if no signature is required', async () => {
    expect((await hand({ ...REQUIRED, text: signature }, july)).code).toBe('bad_signature');
    const { daemon, code } = await hand({ ...WELCOME, text: signature }, july);
    expect(code).toBe('bad_signature');
    expect(await stored(daemon)).toEqual([]);
  });

  test('is rejected if the signature was made with a key that is not in publicKeys', async () => {
    expect((await hand({ ...STRANGER, text: signature }, june)).code).toBe('bad_signature');
  });

  test('is imported without a signature if no signature is required', async () => {
    const { daemon, code } = await hand(WELCOME, june);
    expect(code).toBeNull();
    expect(await stored(daemon)).toEqual(['2024-06-01']);
    expect(verified(daemon)).toEqual([]);
  });
});

describe('the signature next to an archive', () => {
  test('is used for an import instead of the configured signature', async () => {
    const daemon = await startDaemon(await newStore(), { signature: { ...REQUIRED, text: 'of another bundle' } });
    await daemon.deployment.deliver(importOf(await withSignatureFile(june, signature)));
    expect(await codeOf(daemon.deployment.deliver(importOf(await withSignatureFile(july, signature))))).toBe(
      'bad_signature',
    );
    expect(await stored(daemon)).toEqual(['2024-06-01']);
  });

  test('is verified again if the same bundle is already stored', async () => {
    const daemon = await startDaemon(await newStore(), { signature: REQUIRED });
    await daemon.deployment.deliver(importOf(await withSignatureFile(june, signature)));
    expect(await codeOf(daemon.deployment.deliver(importOf(await withSignatureFile(june, 'none'))))).toBe(
      'bad_signature',
    );
    expect(await codeOf(daemon.deployment.deliver(importOf(june)))).toBe('no_signature');
  });

  test('is used for its archive in the preload folder, and is not itself imported as an archive', async () => {
    const store = await newStore();
    const folder = join(store.paths.dir, 'bundles');
    await putInto(folder, june, july);
    await writeFile(join(folder, `${june.fileName}.minisig`), signature);
    const daemon = await startDaemon(store, { signature: REQUIRED });
    expect(daemon.deployment.active?.version).toBe('2024-06-01');
    expect(daemon.events.flatMap((event) => (event.kind === 'failed' ? [event.error] : []))).toMatchObject([
      { code: 'no_signature' },
    ]);
  });

  test('is moved and deleted with its archive in the inbox', async () => {
    const daemon = await startDaemon(await newStore(), { signature: REQUIRED });
    const { paths, inbox } = inboxOf(daemon);
    await writeFile(join(paths.inbox, `${june.fileName}.minisig`), signature);
    await writeFile(join(paths.inbox, `${july.fileName}.minisig`), signature);
    await putInto(paths.inbox, june, july);
    inbox.start();
    await until(async () => expect((await readdir(paths.inbox)).filter((name) => !name.startsWith('.'))).toEqual([]));
    await inbox.stop();
    expect(await stored(daemon)).toEqual(['2024-06-01']);
    const rejected = [july.fileName, `${july.fileName}.minisig`, `${july.fileName}.reason.txt`];
    expect((await readdir(paths.rejected)).sort()).toEqual(rejected);
  });

  test('is an error if it cannot be read, instead of being treated as missing', async () => {
    const daemon = await startDaemon(await newStore(), { signature: WELCOME });
    const bundle = await withSignatureFile(june, null);
    await mkdir(`${bundle.file}.minisig`);
    expect(await codeOf(daemon.deployment.deliver(importOf(bundle)))).toBe('cannot_read');
  });

  test('is not verified if no public key is configured', async () => {
    const daemon = await startDaemon(await newStore(), { signature: { ...WELCOME, publicKeys: [] } });
    await daemon.deployment.deliver(importOf(await withSignatureFile(june, 'none')));
    expect(await stored(daemon)).toEqual(['2024-06-01']);
  });
});

describe('the link to a signature', () => {
  const linked: SignatureSettings = { ...REQUIRED, link: new Secret(SIGNATURE_LINK) };
  const fetchJune = async (answer: Buffer | DocshelfError) => {
    const source = (await new FakeSource().serveBundle(LINK, june)).serve(SIGNATURE_LINK, answer);
    return startDaemon(await newStore(), { link: LINK, signature: linked }, source);
  };

  test('is requested after the bundle, and the returned signature is verified', async () => {
    const daemon = await fetchJune(Buffer.from(signature));
    expect(daemon.source.opened).toEqual([LINK, SIGNATURE_LINK]);
    expect(daemon.deployment.active?.version).toBe('2024-06-01');
  });

  test.each<[string, Buffer | DocshelfError, string]>([
    ['returns no signature', Buffer.from('<html>'), 'bad_signature'],
    ['returns a bundle', Buffer.alloc(100_000, 'x'), 'source_too_large'],
    ['has expired', fault('link_expired'), 'link_expired'],
    ['does not exist', fault('bundle_not_found'), 'bundle_not_found'],
  ])('is never printed, and causes the rejection of the bundle if the link %s', async (_, answer, code) => {
    const daemon = await fetchJune(answer);
    expect(lastCode(daemon)).toBe(code);
    expect(await stored(daemon)).toEqual([]);
    expect(
      JSON.stringify([await daemon.deployment.readStored(), daemon.deployment.journal.lastError, daemon.events]),
    ).not.toContain('canary');
  });

  test('is no longer needed once the config contains a valid signature, so that docshelf serves a bundle that it has rejected before', async () => {
    const daemon = await fetchJune(Buffer.from('none'));
    await daemon.reload({ link: LINK, signature: { ...REQUIRED, text: signature } });
    expect(daemon.deployment.active?.version).toBe('2024-06-01');
    expect(lastCode(daemon)).toBeNull();
  });
});

test('a daemon keeps the served version if it rejects a bundle', async () => {
  const source = await new FakeSource().serveBundle(LINK, july);
  const daemon = await startDaemon(await newStore(), { signature: REQUIRED }, source);
  await daemon.deployment.deliver(importOf(await withSignatureFile(june, signature)));
  await daemon.reload({ link: LINK, signature: REQUIRED });
  expect(lastCode(daemon)).toBe('no_signature');
  expect(daemon.deployment.active?.version).toBe('2024-06-01');
});
