import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

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

it('the SBOM of an image contains Node, the operating system and its installed packages from dpkg', async () => {
  const { debianPackages, imageSbom } = await import(join(ROOT, 'scripts/image-parts.ts'));
  const sbom = await programSbom();
  const status =
    'Package: libc6\nStatus: install ok installed\nArchitecture: amd64\nVersion: 2.36-9+deb12u1\nDescription: C\n more: x\n\nPackage: gone\nStatus: deinstall ok config-files\nArchitecture: all\nVersion: 1\n';
  const added = (release: string, packages: object[]): string[] => {
    const { components, dependencies } = imageSbom(sbom, { node: '24.1.0', release, packages });
    expect(components.slice(0, sbom.components.length)).toEqual(sbom.components);
    const refs = components.slice(sbom.components.length).map((part: { 'bom-ref': string }) => part['bom-ref']);
    expect(dependencies.flatMap(({ dependsOn }: { dependsOn: string[] }) => dependsOn)).toEqual(
      expect.arrayContaining(refs),
    );
    return refs;
  };
  const node = 'pkg:generic/node@24.1.0';
  const release = 'NAME="Debian"\nID=debian\nVERSION_ID="12"\n';
  const libc = 'pkg:deb/debian/libc6@2.36-9%2Bdeb12u1?arch=amd64';
  expect(added(release, debianPackages(status))).toEqual(['os:debian@12', libc, node]);
  expect(added('', [])).toEqual([node]);
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
