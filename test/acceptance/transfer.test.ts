import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type CommandResult, codesOf, openBench } from '../helpers/daemon.ts';
import { spawnProgram } from '../helpers/program.ts';
import { runCommands, writePrograms } from '../helpers/shell.ts';
import { bundle } from './bundles.ts';

const bench = openBench(afterEach);
const seedBench = openBench(afterAll);
const run = promisify(execFile);
const KEYS = join(import.meta.dirname, '../fixtures/minisign');
const [SECRET, PUBLIC, OTHER] = ['throwaway.key', 'throwaway.pub', 'other.pub'].map((name) => join(KEYS, name)) as [
  string,
  string,
  string,
];
const IMAGE = 'an image of repeated words '.repeat(1000);
const OCTOBER = 'acme-export-2026-10-01.tar.gz';
const NOVEMBER = 'acme-export-2026-11-01.tar.gz';
const FILES = [
  'README.txt',
  `bundles/${OCTOBER}`,
  `bundles/${NOVEMBER}`,
  'chart/docshelf-0.1.0.tgz',
  'image/docshelf.tar.gz',
  'sbom.cdx.json',
  'values.yaml',
];
/** Checksums of a file outside of the folder. */
const OUTSIDE = `${'0'.repeat(64)}  ../x\n`;

type Packed = { folder: string; transfer: string; packed: CommandResult };
const seeds = new Map<string, Promise<Packed>>();

/** A copy of a transfer of an image, a chart, two bundles and a config. Each one is packed only once. */
async function pack(more: readonly string[] = []): Promise<Packed> {
  const seed = seeds.get(more.join()) ?? packOnce(more);
  seeds.set(more.join(), seed);
  const { folder: packedIn, packed } = await seed;
  const folder = await bench.folder();
  await cp(packedIn, folder, { recursive: true });
  return { folder, transfer: join(folder, 'transfer'), packed };
}

async function packOnce(more: readonly string[]): Promise<Packed> {
  const folder = await seedBench.folder();
  await writeFile(join(folder, 'docshelf.tar'), IMAGE);
  await writeFile(join(folder, 'docshelf-0.1.0.tgz'), 'a chart');
  await writeFile(join(folder, OCTOBER), bundle('october'));
  await writeFile(join(folder, NOVEMBER), bundle('november'));
  await bench.writeConfig(folder, { deployment: { type: 'air-gapped', domain: 'acme' } });
  const parts = ['--image', 'docshelf.tar', '--chart', 'docshelf-0.1.0.tgz', '--bundle', OCTOBER, NOVEMBER];
  const packed = await bench.run(['transfer', 'pack', ...parts, '--output', 'transfer', '--json', ...more], {
    cwd: folder,
  });
  return { folder, transfer: join(folder, 'transfer'), packed };
}

const unpack = (folder: string, args: readonly string[] = []): Promise<CommandResult> =>
  bench.run(['transfer', 'unpack', 'transfer', '--json', ...args], { cwd: folder });

const unpackPiped = (folder: string, input: Buffer, args: readonly string[] = []): Promise<CommandResult> =>
  bench.run(['transfer', 'unpack', '-', '--json', ...args], { cwd: folder, input });

async function tarOf(folder: string, args: readonly string[]): Promise<Buffer> {
  return (await run('tar', args as string[], { cwd: folder, encoding: 'buffer' })).stdout;
}

describe('transfer pack', () => {
  test('creates a folder with the bundles, SHA256SUMS, an SBOM, values for the chart, and a README', async () => {
    const { transfer, packed } = await pack();
    expect(packed.code).toBe(0);
    const paths = packed.json<{ files: { path: string }[] }>().files.map(({ path }) => path);
    expect(paths).toEqual(FILES);
    const { stdout } = await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: transfer });
    expect(stdout.trim().split('\n')).toEqual(FILES.map((path) => `${path}: OK`));
    const readme = await readFile(join(transfer, 'README.txt'), 'utf8');
    expect(readme).toContain('the folder is not signed');
    expect(readme).not.toContain('on a host');
    // The newest bundle keeps its version. Without a version, it would replace a newer one.
    expect(readme).toContain(`docshelf bundle import - --version 2026-11-01 < bundles/${NOVEMBER}`);
  });

  test('states in the README the version of docshelf that the SBOM describes, unless --sbom-file names another SBOM', async () => {
    const { folder, transfer } = await pack();
    const { version } = JSON.parse(await readFile(join(import.meta.dirname, '../../package.json'), 'utf8'));
    const readme = () => readFile(join(transfer, 'README.txt'), 'utf8');
    expect(await readme()).toContain(`the software parts of docshelf ${version}, which packed this folder, with`);

    await rm(transfer, { recursive: true });
    await writeFile(join(folder, 'other.cdx.json'), '{}');
    const args = ['transfer', 'pack', '--bundle', OCTOBER, '--sbom-file', 'other.cdx.json', '--output', 'transfer'];
    expect((await bench.run(args, { cwd: folder })).code).toBe(0);
    expect(await readme()).toContain('the software parts of docshelf, with');
    expect(await readFile(join(transfer, 'sbom.cdx.json'), 'utf8')).toBe('{}');
  });

  test('writes a README whose commands for a host without containers succeed', async () => {
    const { folder } = await pack();
    const args = ['transfer', 'pack', '--bundle', OCTOBER, NOVEMBER, '--output', 'bundles-only'];
    expect((await bench.run(args, { cwd: folder })).code).toBe(0);
    const readme = await readFile(join(folder, 'bundles-only/README.txt'), 'utf8');
    const commands = [...readme.matchAll(/: +(docshelf (?:init|transfer|bundle list) .*?)(?: {4}.*)?$/gm)].map(
      ([, text]) => text,
    );
    expect(commands).toHaveLength(3);
    await rm(join(folder, 'config.yaml'));
    writePrograms(folder);
    for (const command of commands) await runCommands(command ?? '', folder, { cwd: join(folder, 'bundles-only') });
  });

  test('compresses the image, except if its layers are compressed already', async () => {
    const { folder, transfer } = await pack();
    const packed = await readFile(join(transfer, 'image/docshelf.tar.gz'));
    expect(packed.length).toBeLessThan(IMAGE.length / 10);
    expect(gunzipSync(packed).toString()).toBe(IMAGE);
    expect(await readFile(join(transfer, 'README.txt'), 'utf8')).toContain('--input image/docshelf.tar.gz ');

    const compressed = randomBytes(10_000);
    await writeFile(join(folder, 'docshelf.tar'), compressed);
    await rm(transfer, { recursive: true });
    const args = ['transfer', 'pack', '--image', 'docshelf.tar', '--output', 'transfer'];
    expect((await bench.run(args, { cwd: folder })).code).toBe(0);
    expect(await readFile(join(transfer, 'image/docshelf.tar'))).toEqual(compressed);
    // The folder contains no bundle, so its README has no command that imports one.
    expect(await readFile(join(transfer, 'README.txt'), 'utf8')).not.toMatch(/Import|bundles\//);
  });

  test('writes the values.yaml that the README passes to the chart, and copies the program packages', async () => {
    const [archive, debian] = ['docshelf-0.1.0-linux-x64.tar.gz', 'docshelf_0.1.0_amd64.deb'];
    const folder = await bench.folder();
    for (const name of [archive, debian]) await writeFile(join(folder, name), name);
    const { transfer } = await pack(['--program', join(folder, archive), join(folder, debian)]);
    const readme = await readFile(join(transfer, 'README.txt'), 'utf8');
    expect(readme).toContain('--values values.yaml');
    expect(readme).toContain(`sudo tar -xzf program/${archive} -C /opt`);
    expect(readme).toContain('sudo and --config /etc/docshelf/config.yaml');
    const values = parse(await readFile(join(transfer, 'values.yaml'), 'utf8'));
    expect(values).toEqual({ deployment: { type: 'air-gapped', domain: 'acme' } });
    expect(await readFile(join(transfer, 'program', debian), 'utf8')).toBe(debian);
  });

  test('rejects a file that is not a bundle, and leaves no files behind', async () => {
    const folder = await bench.folder();
    await writeFile(join(folder, 'page.tar.gz'), '<!doctype html>');
    const args = ['transfer', 'pack', '--bundle', 'page.tar.gz', '--output', 'transfer', '--json'];
    expect(codesOf(await bench.run(args, { cwd: folder }))).toEqual([65, 'unknown_format']);
    expect(await readdir(folder)).toEqual(['page.tar.gz']);
  });

  test('rejects an existing output folder, and a command without a file to pack', async () => {
    const { folder } = await pack();
    const args = ['transfer', 'pack', '--bundle', OCTOBER, '--output', 'transfer', '--json'];
    expect(codesOf(await bench.run(args, { cwd: folder }))).toEqual([73, 'cannot_write']);
    expect((await bench.run(['transfer', 'pack', '--output', 'other'], { cwd: folder })).code).toBe(64);
  });
});

describe('transfer unpack', () => {
  test('verifies the folder, imports its bundles, and activates the last bundle', async () => {
    const { folder } = await pack();
    const result = await unpack(folder);
    expect(result.code).toBe(0);
    expect(result.json<{ imported: object[] }>().imported).toMatchObject([
      { version: '2026-10-01' },
      { version: '2026-11-01' },
    ]);
    const listed = await bench.run(['bundle', 'list', '--json'], { cwd: folder });
    expect(listed.json()).toMatchObject({ active: { version: '2026-11-01' } });
  });

  test('imports no bundle with --verify-only', async () => {
    const { folder } = await pack();
    const result = await unpack(folder, ['--verify-only']);
    expect(result.json()).toMatchObject({ imported: [], unsigned: [`bundles/${OCTOBER}`, `bundles/${NOVEMBER}`] });
    expect((await bench.run(['bundle', 'list', '--json'], { cwd: folder })).json()).toMatchObject({ versions: [] });
  });

  test.each<[string, (transfer: string) => Promise<unknown>, string]>([
    ['a changed file', (at) => writeFile(join(at, 'image/docshelf.tar.gz'), 'another image'), 'wrong_digest'],
    ['a missing file', (at) => rm(join(at, 'chart'), { recursive: true }), 'manifest_mismatch'],
    ['a bundle that the checksums lack', (at) => writeFile(join(at, 'bundles/more.tar.gz'), 'x'), 'manifest_mismatch'],
    ['a link to outside of the folder', (at) => symlink('/etc/passwd', join(at, 'bundles/link')), 'manifest_mismatch'],
    ['checksums of other files', (at) => writeFile(join(at, 'SHA256SUMS'), OUTSIDE), 'manifest_mismatch'],
    ['no checksums', (at) => rm(join(at, 'SHA256SUMS')), 'cannot_read'],
  ])(
    'rejects a transfer with %s, as a folder and as a tar on standard input, and imports no bundle',
    async (_, damage, code) => {
      const { folder, transfer } = await pack();
      await damage(transfer);
      expect((await unpack(folder)).json().code).toBe(code);
      const piped = await unpackPiped(folder, await tarOf(folder, ['-cf', '-', 'transfer']));
      expect(piped.json().code).toBe(code);
      expect((await bench.run(['bundle', 'list', '--json'], { cwd: folder })).json()).toMatchObject({ versions: [] });
    },
  );

  test('ignores files that file managers and removable disks add', async () => {
    const { folder, transfer } = await pack();
    const strays = [
      '.DS_Store',
      'bundles/.DS_Store',
      `bundles/._${NOVEMBER}`,
      '._SHA256SUMS',
      'image/Thumbs.db',
      'Desktop.ini',
    ];
    const volume = ['.Trashes/501/x', '.fseventsd/fseventsd-uuid', 'System Volume Information/IndexerVolumeGuid'];
    for (const path of [...strays, ...volume]) {
      await mkdir(dirname(join(transfer, path)), { recursive: true });
      await writeFile(join(transfer, path), 'x');
    }
    const result = await unpack(folder);
    expect({ code: result.code, ...result.json() }).toMatchObject({
      code: 0,
      imported: [{ version: '2026-10-01' }, { version: '2026-11-01' }],
    });
  });

  test.each<[string, readonly string[]]>([
    ['with its folder', ['-cf', '-', 'transfer']],
    ['of the content of the folder', ['-C', 'transfer', '-cf', '-', '.']],
    ['with gzip', ['-czf', '-', './transfer']],
    ['with the newest bundle first', ['-cf', '-', `transfer/bundles/${NOVEMBER}`, `--exclude=${NOVEMBER}`, 'transfer']],
  ])('reads the whole transfer from standard input as a tar %s', async (_, args) => {
    const { folder, transfer } = await pack(['--signing-key-file', SECRET]);
    await writeFile(join(transfer, 'bundles/.DS_Store'), 'x');
    const daemon = await bench.start(null, { folder });
    const result = await unpackPiped(folder, await tarOf(folder, args), ['--public-key', PUBLIC]);
    expect({ code: result.code, ...result.json() }).toMatchObject({
      code: 0,
      unsigned: [],
      imported: [{ version: '2026-10-01' }, { version: '2026-11-01' }],
    });
    await daemon.untilServing('2026-11-01');
    expect((await readdir(daemon.dataDir)).filter((name) => name.startsWith('.transfer-'))).toEqual([]);
  });

  test('rejects standard input that is cut off, empty, or not a tar', async () => {
    const { folder } = await pack();
    const whole = await tarOf(folder, ['-cf', '-', 'transfer']);
    for (const input of [whole.subarray(0, 5000), Buffer.from('not a tar'.repeat(100)), Buffer.alloc(0)]) {
      const result = await unpackPiped(folder, input);
      expect(['manifest_mismatch', 'cannot_read']).toContain(result.json().code);
    }
  });

  test('rejects a tar from standard input that contains one path as a file and as a folder', async () => {
    const { folder } = await pack();
    const asFile = ['--transform', 's,^transfer/SHA256SUMS$,transfer/bundles,', 'transfer/SHA256SUMS'];
    const result = await unpackPiped(folder, await tarOf(folder, ['-cf', '-', ...asFile, 'transfer']));
    expect(codesOf(result)).toEqual([65, 'manifest_mismatch']);
  });

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('removes its temporary folder after %s', async (signal) => {
    const folder = await bench.folder();
    const temporary = await bench.folder();
    await bench.writeConfig(folder, {});
    const env = { TMPDIR: temporary, NODE_DISABLE_COMPILE_CACHE: '1' };
    const command = spawnProgram(['transfer', 'unpack', '-'], folder, env);
    const ended = once(command, 'close');
    await expect.poll(() => readdir(temporary)).toEqual([expect.stringMatching(/^\.transfer-/)]);
    command.kill(signal);
    expect(await ended).toEqual([null, signal]);
    expect(await readdir(temporary)).toEqual([]);
  });
});

describe('signatures of a transfer', () => {
  test('cover all files if the checksums are signed', async () => {
    const { folder, transfer } = await pack(['--signing-key-file', SECRET]);
    const signed = await unpack(folder, ['--verify-only', '--public-key', PUBLIC]);
    expect({ code: signed.code, ...signed.json() }).toMatchObject({
      code: 0,
      unsigned: [],
      signatures: [{ file: 'SHA256SUMS' }],
    });

    expect(codesOf(await unpack(folder, ['--verify-only', '--public-key', OTHER]))).toEqual([65, 'bad_signature']);

    // Replace a file and its checksum, which cannot have a valid signature.
    await cp(join(folder, OCTOBER), join(transfer, 'bundles', NOVEMBER));
    const { stdout } = await run('sha256sum', FILES, { cwd: transfer });
    await writeFile(join(transfer, 'SHA256SUMS'), stdout);
    expect((await unpack(folder, ['--public-key', PUBLIC])).json().code).toBe('bad_signature');
  });

  test.skipIf(spawnSync('minisign', ['-v']).error !== undefined)(
    'are copied together with bundles, and are required if --public-key is given',
    async () => {
      const { folder } = await pack();
      expect(codesOf(await unpack(folder, ['--public-key', PUBLIC]))).toEqual([65, 'no_signature']);

      await run('minisign', ['-S', '-s', SECRET, '-m', OCTOBER], { cwd: folder });
      await rm(join(folder, 'transfer'), { recursive: true });
      const parts = ['--bundle', OCTOBER, '--public-key', PUBLIC, '--output', 'transfer'];
      expect((await bench.run(['transfer', 'pack', ...parts], { cwd: folder })).code).toBe(0);
      const unpacked = await unpack(folder, ['--public-key', PUBLIC]);
      expect(unpacked.json()).toMatchObject({
        signatures: [{ file: `bundles/${OCTOBER}` }],
        imported: [{ version: '2026-10-01' }],
      });
    },
  );
});

describe('the SBOM of a transfer', () => {
  type Component = { 'bom-ref': string; name: string; version?: string; hashes?: { content: string }[] };
  interface Sbom {
    readonly bomFormat: string;
    readonly specVersion: string;
    readonly components: readonly Component[];
    readonly dependencies: readonly { ref: string; dependsOn: readonly string[] }[];
  }
  const read = async (): Promise<Sbom> =>
    JSON.parse(await readFile(join(import.meta.dirname, '../../dist/sbom.json'), 'utf8'));

  test('contains every production dependency with version and digest, and no development dependency', async () => {
    const { bomFormat, specVersion, components } = await read();
    expect({ bomFormat, specVersion }).toEqual({ bomFormat: 'CycloneDX', specVersion: '1.6' });
    const { dependencies, devDependencies } = JSON.parse(
      await readFile(join(import.meta.dirname, '../../package.json'), 'utf8'),
    );
    for (const [name, version] of Object.entries(dependencies)) {
      const found = components.find((each) => each.name === name && each.version === version);
      expect({ name, digest: found?.hashes?.[0]?.content }).toEqual({
        name,
        digest: expect.stringMatching(/^[0-9a-f]{128}$/),
      });
    }
    const names = components.map(({ name }) => name);
    for (const name of Object.keys(devDependencies)) expect(names).not.toContain(name);
  });

  test('contains each component once, and the dependency graph connects the program to every component', async () => {
    const { components, dependencies } = await read();
    const refs = components.map((each) => each['bom-ref']);
    expect(new Set(refs).size).toBe(refs.length);
    const root = dependencies.find(({ ref }) => ref.startsWith('pkg:npm/docshelf@'))?.ref ?? '';
    const below = new Map(dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
    const reached = new Set<string>();
    const walk = (ref: string): void => {
      if (reached.has(ref)) return;
      reached.add(ref);
      for (const next of below.get(ref) ?? []) walk(next);
    };
    walk(root);
    expect([...reached].sort()).toEqual([root, ...refs].sort());
  });
});
