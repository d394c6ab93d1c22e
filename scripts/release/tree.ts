import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join, posix } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gzip as gzipWithCallback } from 'node:zlib';
import { pack } from 'tar-stream';

/** Entry of an archive: a file, a link, or, with a path that ends in "/", a folder. */
export interface Entry {
  readonly path: string;
  readonly file?: string;
  readonly bytes?: Buffer | string;
  readonly link?: string;
  readonly mode?: number;
  /** User id and group id. */
  readonly owner?: number;
}

const gzipBytes = promisify(gzipWithCallback);
/** Tests set a lower level, because compression takes most of the time of a release. */
const level = Number(process.env.DOCSHELF_RELEASE_GZIP_LEVEL ?? 6);
export const gzip = (bytes: Buffer): Promise<Buffer> => gzipBytes(bytes, { level });
export const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');

/** Files and links of a folder, under another path. @param keep decides by the path in the folder */
export function filesOf(folder: string, to: string, keep: (path: string) => boolean = () => true): Entry[] {
  return namesIn(folder)
    .filter(keep)
    .map((name) => {
      const [file, path] = [join(folder, name), posix.join(to, name)];
      const info = lstatSync(file);
      if (info.isSymbolicLink()) return { path, link: readlinkSync(file) };
      return { path, file, mode: info.mode & 0o100 ? 0o755 : 0o644 };
    });
}

/** Names in a folder and its folders. Does not follow links to folders, which `readdir` with `recursive` follows. */
function namesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? namesIn(join(folder, entry.name)).map((name) => `${entry.name}/${name}`) : [entry.name],
  );
}

export const under = (folder: string, entries: readonly Entry[]): Entry[] =>
  entries.map((entry) => ({ ...entry, path: folder + entry.path }));

/** Creates a tar that depends only on the entries: sorted, with every folder, and without owners and times of this machine. */
export async function tar(entries: readonly Entry[], date: Date): Promise<Buffer> {
  const byPath = new Map<string, Entry>();
  for (const entry of entries) {
    for (let at = posix.dirname(entry.path); at !== '.' && at !== '/'; at = posix.dirname(at)) {
      if (!byPath.has(`${at}/`)) byPath.set(`${at}/`, { path: `${at}/` });
    }
    byPath.set(entry.path, entry);
  }
  const archive = pack();
  const whole = buffer(archive);
  for (const entry of [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1))) {
    const { path, file, bytes = '', link, owner = 0 } = entry;
    const isFolder = path.endsWith('/');
    const header = { name: path, uid: owner, gid: owner, mtime: date };
    if (link !== undefined) archive.entry({ ...header, mode: 0o777, type: 'symlink', linkname: link });
    else if (isFolder) archive.entry({ ...header, mode: entry.mode ?? 0o755, type: 'directory' });
    else
      archive.entry(
        { ...header, mode: entry.mode ?? 0o644 },
        file === undefined ? Buffer.from(bytes) : readFileSync(file),
      );
  }
  archive.finalize();
  return whole;
}

/** Creates an ar archive, the outer format of a Debian package. */
export function ar(members: readonly (readonly [name: string, bytes: Buffer])[], date: Date): Buffer {
  const seconds = String(date.getTime() / 1000);
  const parts = members.flatMap(([name, bytes]) => {
    const fields = [name.padEnd(16), seconds.padEnd(12), '0'.padEnd(6), '0'.padEnd(6), '100644'.padEnd(8)];
    const header = `${fields.join('')}${String(bytes.length).padEnd(10)}\`\n`;
    return [Buffer.from(header), bytes, Buffer.from(bytes.length % 2 === 1 ? '\n' : '')];
  });
  return Buffer.concat([Buffer.from('!<arch>\n'), ...parts]);
}
