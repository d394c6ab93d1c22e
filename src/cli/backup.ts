import { existsSync } from 'node:fs';
import { copyFile, type FileHandle, link, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { backup as backupSqlite, DatabaseSync } from 'node:sqlite';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { extract, type Header, type Pack, pack } from 'tar-stream';
import { dataPaths, runningDaemons } from '../deploy/index.ts';
import { DocshelfError, rethrowAs } from '../domain/errors.ts';
import { membersOf } from '../domain/shape.ts';
import { counted } from '../domain/text.ts';
import { collect, ifThere, isLinkRefused } from '../files/index.ts';
import { type CommonOptions, command } from './command.ts';
import { loadStrictly } from './load-config.ts';
import { note, printResult, toMiB } from './output.ts';

/**
 * A backup is a tar of the data folder. Its last entry has this name, so that a restore notices a backup that was cut off. Files that
 * several releases share are hard links in it.
 */
const LAST_ENTRY = 'docshelf-backup.json';
const FORMAT = 1;

/** Work in progress, marks of running processes, and data that docshelf rebuilds. */
const LEFT_OUT =
  /^(?:(?:spool|staging|inbox|daemons|rates)(?:\/|$)|(?:.*\/)?(?:lock|[^/]*\.lock)$|exports\/work(?:\/|$)|sites\/[^/]+\/(?:spool|inbox)(?:\/|$)|releases\/(?:\.|[^/]+\/(?:search|markdown)(?:\/|$)))/;
const DATABASE = /\.sqlite$/;
const DATABASE_PART = /\.sqlite-(?:wal|shm|journal)$/;
/** Larger files are copied in pieces. */
const READ_WHOLE_BYTES = 1024 ** 2;

export function backupCommand(): Command {
  return command(
    'backup',
    'Write the data folder to a tar file, also while the daemon runs',
    'docshelf backup docshelf-backup.tar --config config.yaml',
  )
    .argument('<file>', 'File to write ("-" for standard output)')
    .action(async (file: string, options: CommonOptions) => {
      const { config } = await loadStrictly(options);
      const { dir } = config.storage;
      if (config.database.urlFile !== null) note('The backup does not contain PostgreSQL: back it up with pg_dump.');
      if (config.exportApi.enabled && config.exportApi.store.kind === 's3')
        note('The backup does not contain the bucket of exportApi.store.');
      if (file === '-') {
        await writeBackup(dir, process.stdout);
        return;
      }
      const part = `${file}.part`;
      const next = 'Choose a file in a folder that you may write to, outside of storage.dir.';
      const handle = await open(part, 'w', 0o600).catch(rethrowAs('cannot_write', `write "${file}"`, next));
      try {
        const written = await writeBackup(dir, handle.createWriteStream({ flush: true }));
        await rename(part, file);
        printResult(options, { file, ...written }, ({ files, bytes }) =>
          [
            `Saved ${counted(files, 'file')} (${toMiB(bytes)}) of "${dir}" in ${file}.`,
            'The backup contains secrets: keep it private.',
          ].join('\n'),
        );
      } catch (error) {
        await rm(part, { force: true });
        throw error;
      }
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
      const restored = await restoreBackup(dir, handle?.createReadStream() ?? process.stdin);
      printResult(options, restored, ({ files, bytes }) =>
        [
          `Restored ${counted(files, 'file')} (${toMiB(bytes)}) into "${dir}".`,
          'Run "docshelf bundle list" to see the versions, then start the daemon.',
        ].join('\n'),
      );
    });
}

interface Written {
  readonly files: number;
  readonly bytes: number;
}

/** @throws DocshelfError `cannot_read` if the folder is unreadable, or a release was deleted while it was copied */
async function writeBackup(dir: string, out: Writable): Promise<Written> {
  if (!existsSync(dir)) {
    throw new DocshelfError('cannot_read', `Cannot back up "${dir}": there is no such folder`, {
      next: 'Pass the config of the daemon with --config, and check storage.dir.',
    });
  }
  const tar = pack();
  const writing = pipeline(tar, out);
  writing.catch((error: unknown) => tar.destroy(error as Error));
  const copier = new Copier(dir, tar);
  // Pointers come first: what they name cannot be younger than the pointer.
  for (const folder of ['sites', '']) await copier.addFolder(folder);
  copier.checkReleases();
  const written = { files: copier.files, bytes: copier.bytes };
  const last = { format: FORMAT, createdAt: new Date().toISOString(), ...written };
  await addEntry(tar, { name: LAST_ENTRY, mode: 0o600 }, Buffer.from(JSON.stringify(last)));
  tar.finalize();
  await writing;
  return written;
}

class Copier {
  files = 0;
  bytes = 0;
  readonly #dir: string;
  readonly #tar: Pack;
  readonly #links = new Map<string, string>();
  readonly #labels = new Map<string, string>();
  readonly #releases = new Set<string>();

  constructor(dir: string, tar: Pack) {
    this.#dir = dir;
    this.#tar = tar;
  }

  /** Skips `sites` at the top, which is copied before. */
  async addFolder(folder: string): Promise<void> {
    const entries = (await ifThere(readdir(join(this.#dir, folder), { withFileTypes: true }))) ?? [];
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (name === 'sites' || LEFT_OUT.test(name) || DATABASE_PART.test(name)) continue;
      if (folder === 'releases' && !existsSync(join(this.#dir, name, 'COMPLETE'))) continue;
      if (entry.isDirectory()) {
        await addEntry(this.#tar, { name, type: 'directory', mode: 0o700 });
        await this.addFolder(name);
        if (folder === 'releases') this.#releases.add(entry.name);
      } else if (entry.isFile()) await this.#addFile(name);
    }
  }

  /** Ignores a file that was deleted after the folder was read. */
  async #addFile(name: string): Promise<void> {
    const path = join(this.#dir, name);
    if (DATABASE.test(name)) return this.#addDatabase(name, path);
    await using handle = await ifThere(open(path));
    if (handle !== null) await this.#addOpen(name, handle);
  }

  async #addOpen(name: string, handle: FileHandle): Promise<void> {
    const { size, mtime, mode, nlink, dev, ino } = await handle.stat();
    const header = { name, mode: mode & 0o777, mtime };
    this.files += 1;
    const first = nlink > 1 ? this.#links.get(`${dev}:${ino}`) : undefined;
    if (first !== undefined) {
      await addEntry(this.#tar, { ...header, type: 'link', linkname: first });
      return;
    }
    if (nlink > 1) this.#links.set(`${dev}:${ino}`, name);
    this.bytes += size;
    if (size > READ_WHOLE_BYTES) {
      await addEntry(this.#tar, { ...header, size }, handle.createReadStream({ end: size - 1, autoClose: false }));
      return;
    }
    // A log may have grown since.
    const content = (await handle.readFile()).subarray(0, size);
    const label = /^sites\/[^/]+\/versions\/([^/]+)$/.exec(name)?.[1];
    if (label !== undefined) this.#labels.set(label, String(membersOf<{ digest: string }>(String(content)).digest));
    await addEntry(this.#tar, { ...header, size: content.length }, content);
  }

  /** SQLite's online backup reads a database that another process writes to. */
  async #addDatabase(name: string, path: string): Promise<void> {
    const copy = join(tmpdir(), `docshelf-backup-${process.pid}.sqlite`);
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      await backupSqlite(database, copy);
      await using handle = await open(copy);
      await this.#addOpen(name, handle);
    } finally {
      database.close();
      await rm(copy, { force: true });
    }
  }

  checkReleases(): void {
    for (const [label, digest] of this.#labels) {
      if (this.#releases.has(digest)) continue;
      throw new DocshelfError('cannot_read', `Cannot back up version "${label}": it was deleted during the backup`, {
        next: 'Run the backup again.',
      });
    }
  }
}

/** Resolves when the reader of the tar has taken the entry, so that memory stays bounded. */
async function addEntry(
  tar: Pack,
  header: Partial<Header> & Pick<Header, 'name'>,
  content: Buffer | Readable = Buffer.alloc(0),
): Promise<void> {
  const taken = Promise.withResolvers<void>();
  const onEnd = (error?: Error | null) => (error ? taken.reject(error) : taken.resolve());
  if (Buffer.isBuffer(content)) tar.entry(header as Header, content, onEnd);
  else await pipeline(content, tar.entry(header as Header, onEnd));
  await taken.promise;
}

/** Restores into a folder of its own first, so that an incomplete backup leaves the data folder empty. */
async function restoreBackup(dir: string, from: Readable): Promise<Written> {
  await checkEmpty(dir);
  const next = 'Make storage.dir a folder that you may write to, with enough space.';
  const staging = join(dir, 'staging', 'restore');
  await mkdir(staging, { recursive: true, mode: 0o700 }).catch(
    rethrowAs('cannot_write', `restore into "${dir}"`, next),
  );
  try {
    const restored = await unpackInto(staging, from);
    for (const name of await readdir(staging)) {
      await rm(join(dir, name), { recursive: true, force: true });
      await rename(join(staging, name), join(dir, name));
    }
    return restored;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** Files that a daemon creates in an empty folder. */
const OF_EMPTY: ReadonlySet<string> = new Set(['id', 'lock', 'domain']);

/** @throws DocshelfError `in_use` if a daemon runs on the folder, or it has content */
async function checkEmpty(dir: string): Promise<void> {
  const paths = dataPaths(dir);
  const daemons = (await ifThere(runningDaemons(paths))) ?? [];
  if (daemons.length > 0) {
    throw new DocshelfError('in_use', `Cannot restore into "${dir}": a daemon uses it`, {
      next: `Stop the daemon with process id ${daemons[0]?.owner.pid} first.`,
    });
  }
  const entries = (await ifThere(readdir(dir, { recursive: true, withFileTypes: true }))) ?? [];
  const found = entries.find(
    (entry) =>
      !entry.isDirectory() && !(entry.parentPath === dir && OF_EMPTY.has(entry.name)) && !LEFT_OUT.test(entry.name),
  );
  if (found === undefined) return;
  throw new DocshelfError(
    'in_use',
    `Cannot restore into "${dir}": it is not empty ("${join(found.parentPath, found.name)}")`,
    {
      next: 'Move the content of the folder away, or set storage.dir to an empty folder.',
    },
  );
}

const LAST_BYTES_MAX = 65_536;

async function unpackInto(folder: string, from: Readable): Promise<Written> {
  const tar = extract();
  const reading = pipeline(from, tar);
  reading.catch(() => undefined);
  let files = 0;
  let bytes = 0;
  let last: { readonly format?: unknown; readonly files?: unknown } | null = null;
  try {
    for await (const entry of tar) {
      const { name, type, linkname, mode, mtime, size = 0 } = entry.header;
      if (name === LAST_ENTRY) {
        last = membersOf(String(await collect(entry as AsyncIterable<Buffer>, LAST_BYTES_MAX)));
        continue;
      }
      const path = join(folder, safeName(name));
      await mkdir(type === 'directory' ? path : dirname(path), { recursive: true, mode: 0o700 });
      if (type === 'link') await linkOrCopy(join(folder, safeName(linkname ?? '')), path);
      else if (type === 'file') {
        await using handle = await open(path, 'wx', mode === undefined ? 0o600 : mode & 0o777);
        for await (const chunk of entry) await handle.writeFile(chunk as Uint8Array);
        if (mtime !== undefined) await handle.utimes(mtime, mtime);
      }
      entry.resume();
      if (type === 'directory') continue;
      files += 1;
      bytes += size;
    }
    await reading;
  } catch (error) {
    throw error instanceof DocshelfError ? error : noBackup(error instanceof Error ? error.message : 'it is damaged');
  }
  if (last === null) throw noBackup('its end is missing');
  if (last.format !== FORMAT) throw newerBackup(last.format);
  if (last.files !== files) throw noBackup(`it has ${files} files instead of ${last.files}`);
  return { files, bytes };
}

async function linkOrCopy(from: string, to: string): Promise<void> {
  await link(from, to).catch((error: unknown) => (isLinkRefused(error) ? copyFile(from, to) : Promise.reject(error)));
}

/** @throws DocshelfError `damaged_archive` for a path outside of the folder */
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
    next: 'Restore it with the docshelf version that wrote it, or a newer one.',
  });
}
