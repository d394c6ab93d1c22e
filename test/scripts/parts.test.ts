import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const MODEL = join(ROOT, 'models/all-MiniLM-L6-v2');
const sha256Of = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

async function programSbom() {
  const { createSbom } = await import(join(ROOT, 'scripts/sbom.mjs'));
  return createSbom(JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')));
}

it('the provenance of the model contains the digest of each of its files', () => {
  const told = Object.fromEntries(
    Array.from(
      readFileSync(join(ROOT, 'models/README.md'), 'utf8').matchAll(/^\| `([\w./]+)` \| `([0-9a-f]{64})` \|$/gm),
      ([, file, digest]) => [file, digest],
    ),
  );
  const files = readdirSync(MODEL, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'LICENSE')
    .map((entry) => join(entry.parentPath, entry.name));
  expect(told).toEqual(Object.fromEntries(files.map((file) => [file.slice(MODEL.length + 1), sha256Of(file)])));
});

it('the SBOM contains the digest of the weights and how they were changed', async () => {
  const { components } = await programSbom();
  expect(components.find(({ type }: { type: string }) => type === 'machine-learning-model')).toMatchObject({
    hashes: [{ alg: 'SHA-256', content: sha256Of(join(MODEL, 'onnx/model_quantized.onnx')) }],
    pedigree: { notes: expect.stringContaining('int8') },
  });
});

it('the SBOM of an image contains Node, the operating system and its packages from dpkg or apk', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'docshelf-parts-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const put = (path: string, text: string): void => {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  put('sbom.json', JSON.stringify(await programSbom()));
  put('deb/etc/os-release', 'NAME="Debian"\nID=debian\nVERSION_ID="12"\n');
  put(
    'deb/var/lib/dpkg/status',
    'Package: libc6\nStatus: install ok installed\nArchitecture: amd64\nVersion: 2.36-9+deb12u1\nDescription: C\n more: x\n\nPackage: gone\nStatus: deinstall ok config-files\nArchitecture: all\nVersion: 1\n',
  );
  put('apk/etc/os-release', 'ID=alpine\nVERSION_ID=3.20.1\n');
  put('apk/lib/apk/db/installed', 'C:Q1=\nP:musl\nV:1.2.5-r0\nA:x86_64\n\n');
  put('none/empty', '');
  const added = (root: string): string[] => {
    const args = ['sbom.json', 'image.json', root].map((path) => join(folder, path));
    execFileSync(process.execPath, [join(ROOT, 'scripts/image-sbom.mjs'), ...args]);
    const before = JSON.parse(readFileSync(join(folder, 'sbom.json'), 'utf8'));
    const { components, dependencies } = JSON.parse(readFileSync(join(folder, 'image.json'), 'utf8'));
    expect(components.slice(0, before.components.length)).toEqual(before.components);
    const refs = components.slice(before.components.length).map((part: { 'bom-ref': string }) => part['bom-ref']);
    expect(dependencies.flatMap(({ dependsOn }: { dependsOn: string[] }) => dependsOn)).toEqual(
      expect.arrayContaining(refs),
    );
    return refs;
  };
  const node = `pkg:generic/node@${process.versions.node}`;
  expect(added('deb')).toEqual(['os:debian@12', 'pkg:deb/debian/libc6@2.36-9%2Bdeb12u1?arch=amd64', node]);
  expect(added('apk')).toEqual(['os:alpine@3.20.1', 'pkg:apk/alpine/musl@1.2.5-r0?arch=x86_64', node]);
  expect(added('none')).toEqual([node]);
});

it('the threat model names only existing tests', () => {
  const text = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8');
  const named = Array.from(text.matchAll(/`(test\/[\w./-]+\.test\.ts)`/g), ([, file = '']) => file);
  expect(named.length).toBeGreaterThan(15);
  expect([...new Set(named)].filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});

it('the README and the manual show each image, and only existing ones', () => {
  const pages = readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`);
  const shown = ['README.md', ...pages].flatMap((page) =>
    Array.from(
      readFileSync(join(ROOT, page), 'utf8').matchAll(/!\[[^\]]+\]\((?:docs\/)?images\/([\w.-]+)\)/g),
      ([, name]) => name,
    ),
  );
  expect([...new Set(shown)].sort()).toEqual(readdirSync(join(ROOT, 'docs/images')).sort());
});
