import { execFile } from 'node:child_process';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { openPromise } from 'yauzl';

const run = promisify(execFile);

/** Reads valid archives without docshelf's code: with the system's tar, and with yauzl for zip. */
export async function readArchive(file: string): Promise<ReadonlyMap<string, Buffer>> {
  return file.endsWith('.zip') ? readZip(file) : readTar(file);
}

async function readTar(file: string): Promise<Map<string, Buffer>> {
  const folder = await mkdtemp(join(tmpdir(), 'docshelf-read-'));
  try {
    const tar = join(folder, 'archive.tar');
    const site = join(folder, 'site');
    const decompress = file.endsWith('.zst') ? createZstdDecompress() : createGunzip();
    await pipeline(createReadStream(file), decompress, createWriteStream(tar));
    await mkdir(site);
    await run('tar', ['-x', '-f', tar, '-C', site]);
    return await readFolder(site);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Reads the files in a folder. */
export async function readFolder(folder: string): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files.set(relative(folder, path), await readFile(path));
  }
  return files;
}

async function readZip(file: string): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  const zip = await openPromise(file, { lazyEntries: true });
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName.endsWith('/')) continue;
    const chunks: Buffer[] = [];
    for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
    files.set(entry.fileName, Buffer.concat(chunks));
  }
  return files;
}
