import { randomBytes } from 'node:crypto';
import { rm, stat, statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Config } from '../../config/index.ts';
import { dataPaths, refuseOldLayout, type SiteStore } from '../../deploy/index.ts';
import { DocshelfError, errnoOf, toDocshelfError } from '../../domain/errors.ts';
import { counted } from '../../domain/text.ts';
import { type Diagnosis, faulty, sound, warning } from './diagnosis.ts';

const SUBJECT = 'storage.dir';
const GiB = 1024 ** 3;
/** Read, or go through. */
const OTHERS_READ = 0o005;
/** Most bundles unpacked, with their archive, are smaller. */
const EMPTY_SHELF_BYTES = GiB;
/** A site has thousands of small files, each with an inode. */
const INODES_SPARE = 10_000;

/** It can be written, and is one file system: releases get there by rename(2). */
export async function checkDataFolder({ storage }: Config): Promise<Diagnosis[]> {
  const { dir } = storage;
  const existing = await nearestThere(dir);
  const written = await writeProbe(existing);
  if (written !== null) return [faulty('folder', SUBJECT, cannotWrite(existing, written))];
  if (existing !== dir) return [sound('folder', SUBJECT, `"${dir}" is not there yet, and can be made.`)];
  const old = await refuseOldLayout(dataPaths(dir)).then(() => null, toDocshelfError);
  if (old !== null) return [faulty('folder', SUBJECT, old)];
  const strangers = await foldersElsewhere(dir);
  if (strangers.length > 0) return [faulty('folder', SUBJECT, onOtherFileSystems(dir, strangers))];
  const isOpen = ((await stat(dir)).mode & OTHERS_READ) !== 0;
  const next = `Close it: chmod o-rwx "${dir}".`;
  const open = warning(
    'folder',
    SUBJECT,
    `"${dir}" may be read by every user of this machine, keys and links in it.`,
    next,
  );
  return [sound('folder', SUBJECT, `"${dir}" can be written, and is one file system.`), ...(isOpen ? [open] : [])];
}

/** The nearest path that exists; not necessarily a folder. */
async function nearestThere(folder: string): Promise<string> {
  const isThere = await stat(folder).then(
    () => true,
    () => false,
  );
  return isThere || dirname(folder) === folder ? folder : nearestThere(dirname(folder));
}

/** Writes for real: access(2) says yes to root, and knows of no quota. @returns the errno, or null */
async function writeProbe(folder: string): Promise<string | null> {
  const probe = join(folder, `.docshelf-doctor-${randomBytes(8).toString('hex')}`);
  try {
    await writeFile(probe, 'docshelf', { flag: 'wx' });
    return null;
  } catch (error) {
    return errnoOf(error) ?? 'failed';
  } finally {
    await rm(probe, { force: true }).catch(() => undefined);
  }
}

async function foldersElsewhere(dir: string): Promise<string[]> {
  const { spool, staging, releases, sites, inbox, rejected, daemons } = dataPaths(dir);
  const own = (await stat(dir)).dev;
  const folders = [spool, staging, releases, sites, inbox, rejected, daemons];
  const devices = await Promise.all(folders.map((folder) => stat(folder).catch(() => null)));
  return folders.filter((_, index) => (devices[index]?.dev ?? own) !== own);
}

function cannotWrite(folder: string, state: string): DocshelfError {
  return new DocshelfError('cannot_write', `Cannot write to "${folder}": ${state}`, {
    next: 'Make storage.dir a folder that the user of docshelf may write to.',
  });
}

function onOtherFileSystems(dir: string, folders: readonly string[]): DocshelfError {
  const names = folders.map((folder) => `"${folder}"`).join(', ');
  const message = `Cannot move releases within "${dir}": ${names} stands on another file system`;
  return new DocshelfError('cannot_write', message, { next: 'Mount one volume at storage.dir, and none below it.' });
}

/** Room for a bundle as large as the largest stored one, archive and unpacked files side by side. */
export async function checkSpace(config: Config, store: SiteStore): Promise<Diagnosis[]> {
  const { bavail, bsize, files, ffree } = await statfs(await nearestThere(config.storage.dir));
  const freeBytes = bavail * bsize;
  const stored = await store.list().catch(() => []);
  const nextBytes = Math.max(0, ...stored.map(({ bytes, archiveBytes }) => bytes + archiveBytes));
  const nextFiles = Math.max(0, ...stored.map((release) => release.files));
  const free = `${inGiB(freeBytes)} free`;

  if (nextBytes > freeBytes) {
    const state = `a bundle like the largest that is stored takes ${inGiB(nextBytes)} while it is taken in, and there are ${free}`;
    return [faulty('space', SUBJECT, noSpace(state))];
  }
  // Some file systems (btrfs) have no fixed number of inodes, and say 0.
  if (files > 0 && ffree < nextFiles) {
    return [faulty('space', SUBJECT, noSpace(`a bundle takes ${counted(nextFiles, 'inode')}, free: ${ffree}`))];
  }
  const comfort = stored.length === 0 ? EMPTY_SHELF_BYTES : 2 * nextBytes;
  if (freeBytes < comfort || (files > 0 && ffree < nextFiles + INODES_SPARE)) {
    return [warning('space', SUBJECT, `There are ${free}, ${counted(ffree, 'inode')}.`, NEXT)];
  }
  const { totalBytesMax } = config.staticExport.limits;
  const limit = totalBytesMax + config.staticExport.limits.bundleBytesMax;
  const largest = freeBytes < limit ? ` The largest bundle that the limits allow (${inGiB(limit)}) would not fit.` : '';
  return [sound('space', SUBJECT, `There are ${free}; ${counted(stored.length, 'stored release')}.${largest}`)];
}

const NEXT = 'Free space on the volume of storage.dir, lower staticExport.keep, or give it a larger volume.';

function noSpace(state: string): DocshelfError {
  return new DocshelfError('not_enough_space', `Cannot take in the next bundle: ${state}`, { next: NEXT });
}

function inGiB(bytes: number): string {
  return `${(bytes / GiB).toFixed(1)} GiB`;
}
