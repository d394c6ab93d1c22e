import { appendFile, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { type DaemonProcess, openBench, waitFor } from '../helpers/daemon.ts';
import { bundle, bundleWithManifest, sha256Of } from './bundles.ts';

const bench = openBench(afterEach);
/** Longer than two checks of the inbox plus the time without changes that a file needs. */
const LONG_ENOUGH_MS = 3_500;

const inboxOf = (daemon: DaemonProcess): string => join(daemon.dataDir, 'inbox');
const filesIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder)).filter((name) => !name.startsWith('.')).sort();

/** The daemon serves an archive a moment before it deletes it. */
const untilInboxIsEmpty = (daemon: DaemonProcess): Promise<true> =>
  waitFor(
    async () => ((await filesIn(inboxOf(daemon))).length === 0 ? true : null),
    () => 'an archive stays in the inbox',
  );

describe('an archive in the inbox', () => {
  test('is imported, served and deleted if no version is pinned', async () => {
    const daemon = await bench.start({});
    await daemon.untilError('no_version');
    await writeFile(join(inboxOf(daemon), 'acme-export-2024-06-01.tar.gz'), bundle('june'));
    expect(await daemon.untilServing('2024-06-01')).toMatchObject({
      lastError: null,
      versions: [{ version: '2024-06-01', source: 'inbox' }],
    });
    await untilInboxIsEmpty(daemon);
    expect(await (await fetch(`${daemon.site}/`)).text()).toContain('june');
  });

  test('is stored but not served if another version is pinned', async () => {
    const daemon = await bench.start({ staticExport: { version: '2024-06-01' } });
    await writeFile(join(inboxOf(daemon), 'a-2024-06-01.tar.gz'), bundle('june'));
    await daemon.untilServing('2024-06-01');
    await writeFile(join(inboxOf(daemon), 'b-2024-07-01.tar.gz'), bundle('july'));
    await daemon.until(({ versions }) => versions.length === 2);
    expect(await daemon.status()).toMatchObject({ state: 'ready', active: { version: '2024-06-01' } });
  });

  test('is not imported while it grows or while its name ends in .part', async () => {
    const daemon = await bench.start({});
    const bytes = bundle('june');
    const growing = join(inboxOf(daemon), 'docs-2024-06-01.tar.gz');
    const part = join(inboxOf(daemon), 'docs-2024-07-01.tar.gz.part');
    await writeFile(part, bundle('july'));
    // Write one byte from time to time, for longer than a file must rest in the inbox.
    const pieces = 35;
    const chunk = Math.ceil(bytes.length / pieces);
    for (let piece = 0; piece * chunk < bytes.length; piece += 1) {
      await appendFile(growing, bytes.subarray(piece * chunk, (piece + 1) * chunk));
      await sleep(LONG_ENOUGH_MS / pieces);
      // Check seldom: on a busy machine a response takes longer than a file must rest.
      if (piece % 8 === 0) expect(await daemon.status()).toMatchObject({ versions: [] });
    }
    await daemon.untilServing('2024-06-01');
    await waitFor(
      async () => ((await filesIn(inboxOf(daemon))).length === 1 ? true : null),
      () => 'the whole archive stays in the inbox',
    );
    expect(await filesIn(inboxOf(daemon))).toEqual(['docs-2024-07-01.tar.gz.part']);
    expect(await filesIn(join(daemon.dataDir, 'rejected'))).toEqual([]);

    await rename(part, part.replace(/\.part$/, ''));
    await daemon.untilServing('2024-07-01');
  });

  test('is moved to rejected/ with a reason file if it is rejected, and does not block other archives', async () => {
    const daemon = await bench.start({ deployment: { domain: 'acme' } });
    await writeFile(join(inboxOf(daemon), 'a.tar.gz'), '<html>Sign in</html>');
    await writeFile(join(inboxOf(daemon), 'b.tar.gz'), bundleWithManifest('june', { domain: 'other' }));
    await writeFile(join(inboxOf(daemon), 'c-2024-06-01.tar.gz'), bundle('june'));
    await daemon.untilServing('2024-06-01');
    const rejected = join(daemon.dataDir, 'rejected');
    await waitFor(
      async () => ((await filesIn(rejected)).length === 4 ? true : null),
      () => 'the refused archives are not moved',
    );
    expect(await filesIn(rejected)).toEqual(['a.tar.gz', 'a.tar.gz.reason.txt', 'b.tar.gz', 'b.tar.gz.reason.txt']);
    const reason = await readFile(join(rejected, 'a.tar.gz.reason.txt'), 'utf8');
    expect(reason).toMatch(/^Cannot /);
    expect(reason).toContain('unknown_format');
    expect(await readFile(join(rejected, 'b.tar.gz.reason.txt'), 'utf8')).toContain('domain_mismatch');
    await untilInboxIsEmpty(daemon);
    expect(await (await fetch(`${daemon.admin}/metrics`)).text()).toMatch(
      /docshelf_bundles_taken_in_total\{source="inbox",result="refused"\} 2/,
    );
  });

  test('is imported by the next start if it arrived while no daemon ran', async () => {
    const first = await bench.start({});
    await first.stop();
    await writeFile(join(inboxOf(first), 'docs-2024-06-01.tar.gz'), bundle('june'));
    const second = await bench.start(null, { folder: first.folder });
    expect(await second.untilServing('2024-06-01')).toMatchObject({ active: { digest: sha256Of(bundle('june')) } });
  });
});
