import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gz, rawTar, type TarMemberSpec } from '../helpers/archives.ts';
import type { WholeManifest } from '../helpers/manifests.ts';

/** Small valid site whose pages all contain `mark`, so that a body shows its bundle. */
export function bundle(mark: string, more: Readonly<Record<string, string>> = {}): Buffer {
  return archiveOf(filesOf(mark, more));
}

/** The same site with a manifest of docshelf's exporter. */
export function bundleWithManifest(mark: string, fields: Partial<WholeManifest>): Buffer {
  const files = filesOf(mark, {});
  const listed = Object.entries(files).map(([path, body]) => {
    return { path, size: Buffer.byteLength(body), sha256: sha256Of(body), type: 'text/html; charset=utf-8' };
  });
  const manifest: WholeManifest = {
    formatVersion: 1,
    domain: 'docs',
    version: null,
    createdAt: '2024-06-01T00:00:00.000Z',
    generator: 'docshelf test',
    pageCount: 2,
    files: listed,
    ...fields,
  };
  return archiveOf({ ...files, '_docshelf/manifest.json': JSON.stringify(manifest) });
}

/** Valid bundle with at least this number of incompressible bytes. */
export function largeBundle(mark: string, bytes: number): Buffer {
  const block = createHash('shake256', { outputLength: bytes }).update(mark).digest();
  const members: TarMemberSpec[] = Object.entries(filesOf(mark, {})).map(([name, body]) => ({ name, body }));
  return rawTar([...members, { name: 'large.bin', body: block }]);
}

export function sha256Of(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Writes archives into a folder, and creates it if it is missing. @returns the folder */
export async function folderOf(folder: string, archives: Readonly<Record<string, Uint8Array>>): Promise<string> {
  await mkdir(folder, { recursive: true });
  for (const [name, bytes] of Object.entries(archives)) await writeFile(join(folder, name), bytes);
  return folder;
}

function filesOf(mark: string, more: Readonly<Record<string, string>>): Record<string, string> {
  return {
    'index.html': `<!doctype html><title>Home</title><p>${mark}</p><a href="/guides/start">Start</a>`,
    'guides/start.html': `<!doctype html><title>Start</title><p>${mark}</p>`,
    ...more,
  };
}

function archiveOf(files: Readonly<Record<string, string>>): Buffer {
  return gz(rawTar(Object.entries(files).map(([name, body]) => ({ name, body }))));
}
