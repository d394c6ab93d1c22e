import { randomBytes } from 'node:crypto';
import { rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Config } from '../../config/index.ts';
import { dataPaths } from '../../deploy/index.ts';
import { type Diagnosis, faulty, sound } from '../../domain/diagnosis.ts';
import { DocshelfError, errnoOf } from '../../domain/errors.ts';

const SUBJECT = 'storage.dir';

/** Whether the data folder is there or can be made, can be written, and is one file system: releases get there by rename(2). */
export async function checkDataFolder({ storage }: Config): Promise<Diagnosis[]> {
  const { dir } = storage;
  const existing = await nearestThere(dir);
  const written = await writeProbe(existing);
  if (written !== null) return [faulty('folder', SUBJECT, cannotWrite(existing, written))];
  if (existing !== dir) return [sound('folder', SUBJECT, `"${dir}" is not there yet, and can be made.`)];
  const strangers = await foldersElsewhere(dir);
  if (strangers.length > 0) return [faulty('folder', SUBJECT, onOtherFileSystems(dir, strangers))];
  return [sound('folder', SUBJECT, `"${dir}" can be written, and is one file system.`)];
}

/** The folder itself, or the nearest thing above it that is there, which need be no folder. */
export async function nearestThere(folder: string): Promise<string> {
  const isThere = await stat(folder).then(
    () => true,
    () => false,
  );
  return isThere || dirname(folder) === folder ? folder : nearestThere(dirname(folder));
}

/** By trying: access(2) says yes to root, and knows of no quota. @returns the errno, or null where it worked */
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

/** Folders of the data folder that stand on another file system than itself. */
async function foldersElsewhere(dir: string): Promise<string[]> {
  const { spool, staging, releases, versions, inbox, rejected, daemons } = dataPaths(dir);
  const own = (await stat(dir)).dev;
  const folders = [spool, staging, releases, versions, inbox, rejected, daemons];
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
  return new DocshelfError(
    'cannot_write',
    `Cannot move releases within "${dir}": ${names} stands on another file system`,
    { next: 'Mount one volume at storage.dir, and none below it.' },
  );
}
