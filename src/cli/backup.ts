import { createHash, randomBytes } from 'node:crypto';
import { createWriteStream, type Dirent, existsSync, fstatSync, realpathSync } from 'node:fs';
import {
  copyFile,
  cp,
  type FileHandle,
  link,
  mkdir,
  open,
  readdir,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { backup as backupSqlite, DatabaseSync } from 'node:sqlite';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { extract, type Pack, pack } from 'tar-stream';
import { addEntry } from '../archive/pack.ts';
import { runningDaemons } from '../deploy/daemons.ts';
import { asFolderUser, dataPaths } from '../deploy/releases/data-folder.ts';
import { DocshelfError, errnoOf, errnoState, nextFor, rethrowAs, stateOf } from '../domain/errors.ts';
import { membersOf } from '../domain/shape.ts';
import { counted } from '../domain/text.ts';
import { whileLocked } from '../files/file-lock.ts';
import { collect, flushPath, flushTree, ifThere, isLinkRefused, temporaryFolder } from '../files/index.ts';
import { type CommonOptions, command } from './command.ts';
import { loadStrictly } from './load-config.ts';
import { note, printResult, toMiB, whileInterruptible } from './output.ts';

/** Last entry of a backup, so that a restore detects an incomplete file. */
const LAST_ENTRY = 'docshelf-backup.json';
const FORMAT = 1;

/** Files that a backup omits: work in progress, locks, heartbeat files, rejected archives, and data that docshelf can rebuild. */
const LEFT_OUT =
  /^(?:(?:spool|staging|inbox|rejected|daemons|rates|lost\+found)(?:\/|$)|(?:lock|[^/]+\.lock)$|exports\/work(?:\/|$)|sites\/[^/]+\/(?:spool|inbox|rejected)(?:\/|$)|releases\/(?:\.|[^/]+\/(?:search|markdown)(?:\/|$))|(?!releases\/)(?:.*\/)?\.tmp-)/;
/** Databases of docshelf. Excludes files of a release, and version labels, because their names can also end in `.sqlite`. */
const DATABASE = /^(?!releases\/|sites\/[^/]+\/versions\/).*\.sqlite$/;
const DATABASE_PART = /^(?!releases\/|sites\/[^/]+\/versions\/).*\.sqlite-(?:wal|shm|journal)$/;
const LOG = /^audit(?:-[^/]*)?\.jsonl$/;
const POINTER = /^sites\/[^/]+\/(?:active|versions\/([^/]+))$/;
/** Maximum bytes of a file to read at once. Larger files are copied as streams. */
const READ_WHOLE_BYTES = 1024 ** 2;

const AGAIN = 'Run the command again.';

export function backupCommand(): Command {
  return command(
    'backup',
    'Write the data folder to a tar file, even while the daemon runs',
    'docshelf backup docshelf-backup.tar --config config.yaml',
  )
    .argument('<file>', 'File to write ("-" for standard output)')
    .action(async (file: string, options: CommonOptions) => {
      if (file === '-' && options.json === true) {
        throw new DocshelfError('usage', 'Cannot use --json: the backup goes to standard output', {
          next: 'Pass a file instead of "-", or omit --json to get the summary on standard error.',
        });
      }
      const { config } = await loadStrictly(options);
      const { dir } = config.storage;
      if (config.database.urlFile !== null)
        note('The backup does not contain the PostgreSQL database. Back up the database with pg_dump.');
      if (config.exportApi.enabled && config.exportApi.store.kind === 's3')
        note('The backup does not contain the bucket of exportApi.store.');
      const written = await whileInterruptible(AGAIN, (signal) => writeBackup(dir, file, signal));
      const summary = [
        `Saved ${counted(written.files, 'file')} (${toMiB(written.bytes)}) of "${dir}" in ${file === '-' ? 'the backup' : file}.`,
        'The backup contains secrets: keep it private.',
      ];
      if (file === '-') summary.forEach(note);
      else printResult(options, { file, ...written }, () => summary.join('\n'));
    });
}

export function restoreCommand(): Command {
  return command(
    'restore',
    'Fill an empty data folder from a backup, while no daemon uses it',
    'docshelf restore docshelf-backup.tar --config config.yaml',
  )
    .argument('<file>', 'File that "docshelf backup" wrote ("-" for standard input)')
    .action(async (file: string, options: CommonOptions) => {
      const { config } = await loadStrictly(options);
      const { dir } = config.storage;
      const next = 'Check the path of the backup.';
      const handle = file === '-' ? null : await open(file).catch(rethrowAs('cannot_read', `read "${file}"`, next));
      const from = handle?.createReadStream() ?? process.stdin;
      const restored = await whileInterruptible(AGAIN, (signal) =>
        asFolderUser(dataPaths(dir), () => restoreBackup(dir, from, signal)),
      );
      printResult(options, restored, ({ files, bytes }) =>
        [
          `Restored ${counted(files, 'file')} (${toMiB(bytes)}) into "${dir}".`,
          'Run "docshelf bundle list" to see the versions, then start the daemon.',
        ].join('\n'),
      );
    });
}

type Written = { readonly files: number; readonly bytes: number };

/**
 * Writes a backup, and deletes the partial file after an error.
 * @throws DocshelfError `cannot_read`, `cannot_write`; the signal's reason
 */
async function writeBackup(dir: string, file: string, signal: AbortSignal): Promise<Written> {
  if (file === '-') {
    const { dev, ino } = fstatSync(STDOUT);
    return copyFolder(dir, standardOutput(), signal, `${dev}:${ino}`);
  }
  const toWriteFault = rethrowAs('cannot_write', `write "${file}"`, NEXT_FILE);
  const found = await ifThere(stat(file)).catch(toWriteFault);
  if (found?.isDirectory() === true) throw cannotWrite(file, 'it is a folder');
  // If the path is a symbolic link, such as /dev/stdout, write to the target of the link.
  const target = await realpath(file).catch(() => file);
  if (existsSync(dir) && isInside(realpathSync(dir), await ifThere(realpath(dirname(target)))))
    throw cannotWrite(file, 'it is in the data folder');
  // Replace only regular files, because renaming over a device would remove the device.
  const isPlain = found === null || found.isFile();
  // Use a random name for the partial file, because two backups can have the same target.
  const path = isPlain ? `${target}.${randomBytes(4).toString('hex')}.part` : file;
  const handle = await open(path, isPlain ? 'wx' : 'w', 0o600).catch(toWriteFault);
  try {
    const written = await copyFolder(dir, handle.createWriteStream({ flush: isPlain }), signal);
    if (isPlain) await rename(path, target);
    return written;
  } catch (error) {
    if (isPlain) await rm(path, { force: true });
    throw error;
  }
}

const NEXT_FILE = 'Choose a file in a folder that you may write to, outside of storage.dir.';

const cannotWrite = (file: string, state: string): DocshelfError =>
  new DocshelfError('cannot_write', `Cannot write "${file}": ${state}`, { next: NEXT_FILE });

/** @param path path without symbolic links. Null for a missing folder */
const isInside = (dir: string, path: string | null): boolean =>
  path !== null && (path === dir || path.startsWith(join(dir, '/')));

/** Returns standard output as a stream that fails if the reading program ends early, and that completes partial writes to a file. */
function standardOutput(): Writable {
  if (fstatSync(STDOUT).isFile()) return createWriteStream('', { fd: STDOUT, autoClose: false });
  process.stdout.removeAllListeners('error');
  return process.stdout;
}

const STDOUT = 1;

async function copyFolder(dir: string, out: Writable, signal: AbortSignal, output: string | null = null) {
  if (!existsSync(dir)) {
    throw new DocshelfError('cannot_read', `Cannot back up "${dir}": there is no such folder`, {
      next: 'Run the command again with the config of the daemon (--config FILE), and check storage.dir.',
    });
  }
  const tar = pack();
  let fault: unknown = null;
  const writing = pipeline(tar, out, { signal }).catch((error: unknown) => {
    fault = writeFault(error);
    tar.destroy();
  });
  try {
    const copier = new Copier(dir, tar, output);
    // Add the folder `sites` even if it is empty. Without it, docshelf would reject a restored export folder as the old layout.
    if (existsSync(join(dir, 'sites'))) await addEntry(tar, { name: 'sites', type: 'directory', mode: 0o700 });
    // Copy `sites` first, so that no copied version label names a release that was stored after `releases` was copied.
    for (const folder of ['sites', '']) await copier.addFolder(folder);
    await copier.addRotatedLogs();
    copier.checkReleases();
    const written = { files: copier.files, bytes: copier.bytes };
    const last = { format: FORMAT, createdAt: new Date().toISOString(), ...written, sha256: copier.digest() };
    await addEntry(tar, { name: LAST_ENTRY, mode: 0o600 }, Buffer.from(JSON.stringify(last)));
    tar.finalize();
    await writing;
    if (fault !== null) throw fault;
    return written;
  } catch (error) {
    tar.destroy();
    await writing;
    if (error instanceof DocshelfError) throw error;
    const { syscall = 'write', path = dir } = error as NodeJS.ErrnoException;
    throw /^(?:open|read|scandir|f?stat)$/.test(syscall) ? readFault(path, stateOf(error), error) : (fault ?? error);
  }
}

function readFault(path: string, state: string, cause: unknown): DocshelfError {
  return new DocshelfError('cannot_read', `Cannot back up "${path}": ${state}`, {
    next: nextFor(cause, 'Run the command as the user of the daemon or as root, and check the disk of storage.dir.'),
    cause,
  });
}

function writeFault(cause: unknown): DocshelfError {
  const errno = errnoOf(cause);
  const states: Readonly<Record<string, string>> = {
    ENOSPC: 'the disk is full',
    EDQUOT: 'the disk quota is used up',
    EFBIG: 'the file would be too large',
    EPIPE: 'the program that reads the backup has ended',
  };
  const state = states[errno ?? ''] ?? errno ?? String(cause);
  const next = 'Free space, or write the backup to another disk. docshelf did not change the data folder.';
  return new DocshelfError('cannot_write', `Cannot write the backup: ${state}`, { next, cause });
}

class Copier {
  files = 0;
  bytes = 0;
  readonly #dir: string;
  readonly #tar: Pack;
  /** First path of each inode that has several hard links. */
  readonly #links = new Map<string, string>();
  /** Inodes of copied logs, to copy each log only once. A rotated log has a new name, but the same inode. */
  readonly #logs = new Set<number>();
  /** Releases to which copied files refer, as digest and version label. Error messages show the version label. */
  readonly #needed = new Map<string, string>();
  readonly #releases = new Set<string>();
  readonly #hash = createHash('sha256');
  /** Device and inode of standard output. If it is a file in the data folder, the backup omits this file. */
  readonly #output: string | null;

  constructor(dir: string, tar: Pack, output: string | null) {
    this.#dir = dir;
    this.#tar = tar;
    this.#output = output;
  }

  digest(): string {
    return this.#hash.digest('hex');
  }

  /** Skips the folder `sites`, which is already copied. Copies a database before the files to which it refers. */
  async addFolder(folder: string): Promise<void> {
    const entries = (await ifThere(readdir(join(this.#dir, folder), { withFileTypes: true }))) ?? [];
    const nameOf = (entry: Dirent): string => (folder === '' ? entry.name : `${folder}/${entry.name}`);
    const order = (entry: Dirent): string => `${DATABASE.test(nameOf(entry)) ? 0 : 1}${entry.name}`;
    for (const entry of entries.toSorted((a, b) => (order(a) < order(b) ? -1 : 1))) {
      const name = nameOf(entry);
      if (name === 'sites' || LEFT_OUT.test(name) || DATABASE_PART.test(name)) continue;
      if (folder === 'releases') await this.#addRelease(entry.name);
      else if (entry.isDirectory()) {
        await addEntry(this.#tar, { name, type: 'directory', mode: 0o700 });
        await this.addFolder(name);
      } else if (entry.isFile()) await this.#addFile(name);
      else if (entry.isSymbolicLink()) throw linkFault(join(this.#dir, name));
    }
  }

  async #addRelease(digest: string): Promise<void> {
    const name = `releases/${digest}`;
    const isComplete = (): boolean => existsSync(join(this.#dir, name, 'COMPLETE'));
    if (!isComplete()) return;
    await addEntry(this.#tar, { name, type: 'directory', mode: 0o700 });
    await this.addFolder(name);
    // Check again whether the release is complete, because docshelf can have renamed and deleted it during the copy.
    if (!isComplete()) throw deletedFault(`release "${digest}"`);
    this.#releases.add(digest);
  }

  /** Adds logs that were rotated after the data folder was read. */
  async addRotatedLogs(): Promise<void> {
    for (const name of await readdir(this.#dir)) {
      if (LOG.test(name)) await this.#addFile(name);
    }
  }

  /** Ignores a file that was deleted after its folder was read. */
  async #addFile(name: string): Promise<void> {
    const path = join(this.#dir, name);
    if (DATABASE.test(name)) return this.#addDatabase(name, path);
    await using handle = await ifThere(open(path));
    if (handle !== null) await this.#addOpen(name, handle);
  }

  async #addOpen(name: string, handle: FileHandle): Promise<void> {
    const { size, mtime, mode, nlink, dev, ino } = await handle.stat();
    if (`${dev}:${ino}` === this.#output) return;
    if (LOG.test(name)) {
      if (this.#logs.has(ino)) return;
      this.#logs.add(ino);
    }
    const header = { name, mode: mode & 0o777, mtime };
    this.files += 1;
    // Identify a hard link also by size and time, because the file system reuses the inode numbers of deleted files.
    const inode = `${dev}:${ino}:${size}:${mtime.getTime()}`;
    const first = nlink > 1 ? this.#links.get(inode) : undefined;
    if (first !== undefined) {
      await addEntry(this.#tar, { ...header, type: 'link', linkname: first });
      return;
    }
    if (nlink > 1) this.#links.set(inode, name);
    this.bytes += size;
    if (size > READ_WHOLE_BYTES) {
      const content = handle.createReadStream({ end: size - 1, autoClose: false });
      const hashed = content.map((chunk: Buffer) => {
        this.#hash.update(chunk);
        return chunk;
      });
      await addEntry(this.#tar, { ...header, size }, hashed);
      return;
    }
    // Cut the content at the size in the tar header, because a log can grow after `stat`.
    const content = (await handle.readFile()).subarray(0, size);
    this.#hash.update(content);
    const pointer = POINTER.exec(name);
    if (pointer !== null) {
      const { digest, version } = membersOf<{ digest: unknown; version: unknown }>(String(content));
      if (typeof digest === 'string') this.#needed.set(digest, pointer[1] ?? String(version));
    }
    await addEntry(this.#tar, { ...header, size: content.length }, content);
  }

  /** Uses SQLite's online backup, because another process can write to the database. */
  async #addDatabase(name: string, path: string): Promise<void> {
    await using folder = await temporaryFolder(join(tmpdir(), 'docshelf-backup-')).catch((error: unknown) => {
      throw temporaryFault(error);
    });
    const copy = join(folder.path, 'copy.sqlite');
    await copyDatabase(path, copy);
    await using handle = await open(copy);
    await this.#addOpen(name, handle);
  }

  checkReleases(): void {
    for (const [digest, version] of this.#needed)
      if (!this.#releases.has(digest)) throw deletedFault(`version "${version}"`);
  }
}

/** Result code of SQLite for a full disk (sqlite.org/rescode.html). */
const FULL = 13;

async function copyDatabase(path: string, copy: string): Promise<void> {
  try {
    using database = new DatabaseSync(path, { readOnly: true });
    await backupSqlite(database, copy);
  } catch (error) {
    const { errcode = 0, message } = error as Error & { errcode?: number };
    throw (errcode & 0xff) === FULL ? temporaryFault(error) : readFault(path, message, error);
  }
}

function temporaryFault(cause: unknown): DocshelfError {
  const state = ['EACCES', 'EROFS', 'ENOENT'].includes(errnoOf(cause) ?? '')
    ? 'docshelf has no access to'
    : 'there is no space in';
  return new DocshelfError('cannot_write', `Cannot write the backup: ${state} the temporary folder "${tmpdir()}"`, {
    next: 'Free space in this folder, or set TMPDIR to another folder. docshelf first copies each SQLite file to the temporary folder.',
    cause,
  });
}

function deletedFault(thing: string): DocshelfError {
  return new DocshelfError('cannot_read', `Cannot back up ${thing}: it was deleted during the backup`, {
    next: 'Run the backup again.',
  });
}

function linkFault(path: string): DocshelfError {
  return new DocshelfError('cannot_read', `Cannot back up "${path}": it is a symbolic link`, {
    next: 'Remove the link. To keep a folder on another volume, mount the volume at the path of the folder.',
  });
}

/** Unpacks into a staging folder first, so that an incomplete backup leaves the data folder empty. */
async function restoreBackup(dir: string, from: Readable, signal: AbortSignal): Promise<Written> {
  const toWriteFault = rethrowAs(
    'cannot_write',
    `restore into "${dir}"`,
    'Make storage.dir a folder that the user of docshelf can write to, with enough space.',
    (error) => (errnoOf(error) === 'ENOSPC' ? 'the disk is full' : errnoState(error)),
  );
  const staging = join(dir, 'staging', `restore-${process.pid}`);
  await checkEmpty(dir).catch(toWriteFault);
  const created = await mkdir(staging, { recursive: true, mode: 0o700 }).catch(toWriteFault);
  try {
    const restored = await unpackInto(staging, from, signal).catch((error: unknown) =>
      errnoOf(error) === undefined ? Promise.reject(error) : toWriteFault(error),
    );
    await flushTree(staging);
    await whileLocked(join(dir, 'lock'), { mode: 'exclusive', waitMsMax: LOCK_MS_MAX }, async () => {
      // Check again that the folder is empty, because a daemon or another restore can have written to it since the first check.
      await checkEmpty(dir);
      await moveContent(staging, dir);
    });
    await flushPath(dir);
    return restored;
  } finally {
    await rm(staging, { recursive: true, force: true });
    if (created !== undefined) await removeEmpty(dirname(staging), created);
  }
}

/** Removes a folder if it is empty, and then each parent up to `top` that is empty. */
async function removeEmpty(folder: string, top: string): Promise<void> {
  if (folder.length < top.length) return;
  await rmdir(folder).then(
    () => removeEmpty(dirname(folder), top),
    () => undefined,
  );
}

/** Moves files into existing folders instead of replacing these folders, because a folder can be a mount point. */
async function moveContent(from: string, to: string): Promise<void> {
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory() && existsSync(target)) await moveContent(source, target);
    else {
      await rename(source, target).catch(async (error: unknown) => {
        if (errnoOf(error) !== 'EXDEV') throw error;
        await cp(source, target, { recursive: true, preserveTimestamps: true });
      });
    }
  }
}

/** Files that a daemon creates in an empty data folder. */
const OF_EMPTY = /^(?:id|lock|domain)$/;

/** @throws DocshelfError `in_use` if a daemon uses the folder, or if the folder has content */
async function checkEmpty(dir: string): Promise<void> {
  const daemons = (await ifThere(runningDaemons(dataPaths(dir)))) ?? [];
  if (daemons.length > 0) {
    throw new DocshelfError('in_use', `Cannot restore into "${dir}": a daemon uses it`, {
      next: `Stop the daemon with process id ${daemons[0]?.owner.pid} first.`,
    });
  }
  const found = await firstFileIn(dir, '');
  if (found === null) return;
  throw new DocshelfError('in_use', `Cannot restore into "${dir}": it is not empty ("${join(dir, found)}")`, {
    next: 'Move the content of the folder away, or set storage.dir to an empty folder.',
  });
}

/** @returns relative path of the first file that prevents a restore, or null */
async function firstFileIn(dir: string, folder: string): Promise<string | null> {
  for (const entry of (await ifThere(readdir(join(dir, folder), { withFileTypes: true }))) ?? []) {
    const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (OF_EMPTY.test(name) || LEFT_OUT.test(name)) continue;
    const found = entry.isDirectory() ? await firstFileIn(dir, name) : name;
    if (found !== null) return found;
  }
  return null;
}

const LOCK_MS_MAX = 10_000;
const LAST_BYTES_MAX = 65_536;

type LastEntry = Partial<Record<'format' | 'files' | 'sha256', unknown>>;

/** @throws DocshelfError `damaged_archive`, `data_folder_newer`, `cannot_read`; NodeJS.ErrnoException if writing fails */
async function unpackInto(folder: string, from: Readable, signal: AbortSignal): Promise<Written> {
  const tar = extract();
  const reading = pipeline(from, tar, { signal });
  reading.catch(() => undefined);
  const hash = createHash('sha256');
  let files = 0;
  let bytes = 0;
  let last: LastEntry | null = null;
  try {
    for await (const entry of tar) {
      const { name, type, linkname, mode, mtime, size = 0 } = entry.header;
      if (name === LAST_ENTRY) {
        last = membersOf<LastEntry>(String(await collect(entry as AsyncIterable<Buffer>, LAST_BYTES_MAX)));
        continue;
      }
      const path = join(folder, safeName(name));
      await mkdir(type === 'directory' ? path : dirname(path), { recursive: true, mode: 0o700 });
      if (type === 'link') {
        const from = join(folder, safeName(linkname ?? ''));
        await link(from, path).catch((error) => (isLinkRefused(error) ? copyFile(from, path) : Promise.reject(error)));
      } else if (type === 'file') {
        await using handle = await open(path, 'wx', mode === undefined ? 0o600 : mode & 0o777);
        for await (const chunk of entry) {
          hash.update(chunk as Uint8Array);
          await handle.writeFile(chunk as Uint8Array);
        }
        if (mtime !== undefined) await handle.utimes(mtime, mtime);
      }
      entry.resume();
      if (type === 'directory') continue;
      files += 1;
      bytes += size;
    }
    await reading;
  } catch (error) {
    const { syscall, message } = error as NodeJS.ErrnoException;
    if (syscall === 'read') throw notReadable(error);
    if (error instanceof DocshelfError || syscall !== undefined) throw error;
    const isTar = !/Invalid tar header/.test(message);
    throw noBackup(isTar ? 'it is incomplete or damaged' : 'it is not a tar file, or it is compressed');
  }
  if (last === null) throw noBackup('its end is missing');
  if (last.format !== FORMAT) throw newerBackup(last.format);
  if (last.files !== files) throw noBackup(`it has ${files} files instead of ${last.files}`);
  if (last.sha256 !== hash.digest('hex')) throw noBackup('its content has changed since it was written');
  return { files, bytes };
}

function notReadable(cause: unknown): DocshelfError {
  return new DocshelfError('cannot_read', `Cannot read the backup: ${stateOf(cause)}`, {
    next: 'Pass a file that "docshelf backup" wrote. The data folder is still empty.',
    cause,
  });
}

/** @throws DocshelfError `damaged_archive` for a path that could lead out of the folder */
function safeName(name: string): string {
  const isSafe = name !== '' && name.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
  if (isSafe && !/[\\\0:]/.test(name.split('/')[0] ?? '')) return name;
  throw noBackup(`it contains the path "${name}"`);
}

function noBackup(state: string): DocshelfError {
  return new DocshelfError('damaged_archive', `Cannot restore the backup: ${state}`, {
    next: 'Use a complete file that "docshelf backup" wrote. The data folder is still empty.',
  });
}

function newerBackup(format: unknown): DocshelfError {
  return new DocshelfError('data_folder_newer', `Cannot restore the backup: it has format ${format}, not ${FORMAT}`, {
    next: 'Restore the backup with the docshelf version that wrote it, or with a newer version.',
  });
}
