import { readFileSync } from 'node:fs';
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { signFile } from '../../src/archive/index.ts';
import { codesOf, openBench } from '../helpers/daemon.ts';
import { folderOf } from './bundles.ts';
import { Home, JULY, JUNE, WAYS } from './home.ts';
import { startOrigin } from './origin.ts';

const bench = openBench(afterEach);
const FIXTURES = join(import.meta.dirname, '../fixtures/minisign');
const SECRET = readFileSync(join(FIXTURES, 'throwaway.key'), 'utf8');
const PUBLIC = readFileSync(join(FIXTURES, 'throwaway.pub'), 'utf8').split('\n')[1] as string;
const required = { required: true, publicKeys: [PUBLIC] };

/** Minisign signature of these bytes. */
async function signatureOf(bytes: Uint8Array): Promise<Buffer> {
  const file = join(await bench.folder(), 'bundle');
  await writeFile(file, bytes);
  return Buffer.from(await signFile(file, SECRET, { trustedComment: 'by the test' }));
}

describe('a fetched bundle', () => {
  test('is served only if its signature is valid, and the link to the signature stays secret', async () => {
    const answers: Record<string, Uint8Array> = {
      '/a-2024-06-01.tar.gz': JUNE,
      '/a-2024-07-01.tar.gz': JULY,
      '/a.minisig': await signatureOf(JUNE),
    };
    const { origin } = await startOrigin(answers);
    const folder = await bench.folder();
    await copyFile(join(FIXTURES, 'throwaway.pub'), join(folder, 'minisign.pub'));
    const signature = { required: true, publicKeys: ['./minisign.pub'], url: `${origin}/a.minisig?signature=canary` };
    const configOf = (name: string) => ({
      staticExport: { bundleUrl: `${origin}/${name}?signature=canary`, signature },
    });
    const daemon = await bench.start(configOf('a-2024-06-01.tar.gz'), { folder });
    await daemon.untilServing('2024-06-01');
    expect(daemon.lines()).toContainEqual(
      expect.objectContaining({ event: 'verified', keyId: 'E240A99B1488FA7D', trustedComment: 'by the test' }),
    );

    await daemon.rewriteConfig(configOf('a-2024-07-01.tar.gz'));
    await daemon.untilError('bad_signature');
    expect(await (await fetch(`${daemon.site}/`)).text()).toContain('june');

    answers['/a.minisig'] = await signatureOf(JULY);
    await daemon.rewriteConfig({ ...configOf('a-2024-07-01.tar.gz'), log: { level: 'debug' } });
    await daemon.untilServing('2024-07-01');
    expect(daemon.log()).not.toContain('canary');
  });
});

describe.each(WAYS)('the command bundle import, run %s,', (way) => {
  test('accepts an archive with a valid signature next to it, and rejects archives with a missing or wrong signature', async () => {
    const home = await Home.open(bench, way, { signature: required });
    const name = 'docs-2024-06-01.tar.gz';
    await folderOf(home.folder, { [`${name}.minisig`]: await signatureOf(JUNE) });
    expect((await home.bundle(['import', name])).json()).toMatchObject({ version: '2024-06-01', activated: true });

    expect(codesOf(await home.bundle(['import', 'docs-2024-07-01.tar.gz']))).toEqual([65, 'no_signature']);
    await folderOf(home.folder, { 'docs-2024-07-01.tar.gz.minisig': await signatureOf(JUNE) });
    expect(codesOf(await home.bundle(['import', 'docs-2024-07-01.tar.gz']))).toEqual([65, 'bad_signature']);
    expect(codesOf(await home.bundle(['import', '-'], JUNE))).toEqual([65, 'no_signature']);
    expect(await home.shelf()).toEqual(['2024-06-01', ['2024-06-01']]);
  });

  test('accepts standard input if --signature contains a valid signature', async () => {
    const home = await Home.open(bench, way, { signature: required });
    const signed = (signature: Buffer): string[] => ['import', '-', '--signature', signature.toString()];
    expect(codesOf(await home.bundle(signed(await signatureOf(JUNE)), JULY))).toEqual([65, 'bad_signature']);
    const imported = await home.bundle([...signed(await signatureOf(JULY)), '--version', '2024-07-01'], JULY);
    expect(imported.json()).toMatchObject({ version: '2024-07-01', activated: true });
    expect(await home.shelf()).toEqual(['2024-07-01', ['2024-07-01']]);
  });
});
