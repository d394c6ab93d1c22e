import { randomBytes, X509Certificate } from 'node:crypto';
import { access, constants, readdir, readFile, realpath, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Config, type LoadedConfig, valueAt } from '../../config/index.ts';
import { NamedFile } from '../../config/named-files.ts';
import { listKeys } from '../../config/schema-node.ts';
import { dataPaths, refuseOldLayout, type SiteStore } from '../../deploy/index.ts';
import { DocshelfError, errnoOf, toDocshelfError } from '../../domain/errors.ts';
import { counted } from '../../domain/text.ts';
import { FolderKeys } from '../../http/keys/folder-keys.ts';
import { bundleLink, organizationsSlice } from '../slices.ts';
import { certificateFindings, presentedCertificates } from '../tls.ts';
import { certificateState, type Diagnosis, faulty, sound, warning } from './diagnosis.ts';

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

export async function checkExportSources(config: Config): Promise<Diagnosis[]> {
  const found: Diagnosis[] = [];
  if (!config.exportApi.enabled) return found;
  for (const site of organizationsSlice(config).flatMap(({ sites }) => sites)) {
    if (site.source === null || !('path' in site.source)) continue;
    const { path } = site.source;
    const subject = `the source of ${site.domain}`;
    const errno = await access(path, constants.R_OK).then(() => null, errnoOf);
    found.push(
      errno === null
        ? sound('folder', subject, `"${path}" can be read.`)
        : faulty('folder', subject, cannotRead(path, `exports of ${site.domain} would fail`, errno)),
    );
  }
  return found;
}

async function holdsFiles(folder: string): Promise<boolean> {
  return (await readdir(folder).catch(() => [])).some((name) => !name.startsWith('.'));
}

export async function checkPreload({ staticExport }: Config): Promise<Diagnosis> {
  const { dir: folder, mayBeMissing } = staticExport.preload;
  const subject = 'staticExport.preload';
  try {
    const names = (await readdir(folder)).filter((name) => !name.startsWith('.'));
    return sound('folder', subject, `"${folder}" can be read, and holds ${counted(names.length, 'file')}.`);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' && mayBeMissing)
      return sound('folder', subject, `"${folder}" is not there, and need not be.`);
    return faulty('folder', subject, cannotRead(folder, 'no archive in it would be taken in', errno));
  }
}

function cannotRead(path: string, consequence: string, errno: string | undefined): DocshelfError {
  return new DocshelfError('cannot_read', `Cannot read "${path}": ${errno ?? 'failed'}, so ${consequence}`, {
    next: 'Make it readable for the user that docshelf runs as.',
  });
}

/** Without a bundle to serve, or a place that it comes from, the daemon waits: no fault, but worth a word. */
export async function checkBundle(config: Config, store: SiteStore): Promise<Diagnosis[]> {
  const { enabled, renew, version, preload } = config.staticExport;
  // What a link or a folder holds is known once it is looked at.
  if (!enabled || bundleLink(config) !== null || renew.apiUrl !== null || (await holdsFiles(preload.dir))) return [];
  const take = `docshelf bundle import FILE${version === null ? '' : ` --version ${version}`}`;
  const next = `Take one in with "${take}", put an archive into "${preload.dir}", or set staticExport.bundleUrl.`;
  if (version !== null) {
    const isStored = (await store.label(version).catch(() => null)) !== null;
    return isStored
      ? [sound('bundle', 'staticExport.version', `Version ${version} is stored.`)]
      : [
          warning(
            'bundle',
            'staticExport.version',
            `Version ${version} is not stored, and nothing says where to get it.`,
            next,
          ),
        ];
  }
  const stored = await store.ownReleases().catch(() => []);
  if (stored.length > 0) return [sound('bundle', 'the bundle', 'A version to serve is stored.')];
  return [warning('bundle', 'the bundle', 'No version is stored, and nothing says where to get one.', next)];
}

/** Nothing is said of a folder without keys, nor where they are in the database. */
export async function checkKeys({ storage, database }: Config): Promise<Diagnosis[]> {
  if (database.urlFile !== null) return [];
  const store = await FolderKeys.open({ dir: storage.dir, onFault: () => undefined });
  await store.stop();
  const { fault, keys } = store;
  if (fault !== null) return [faulty('keys', 'keys.json', toDocshelfError(fault))];
  return keys.length === 0
    ? []
    : [sound('keys', 'keys.json', `docshelf can read ${counted(keys.length, 'key')} made at run time.`)];
}

/** Who else may read the secret ones, and when authorities end. */
export async function checkNamedFiles({ config, file: configFile, origins }: LoadedConfig): Promise<Diagnosis[]> {
  const found: Diagnosis[] = [];
  for (const { path, schema } of listKeys()) {
    const value = valueAt(config, path);
    if (value === null || Array.isArray(value)) continue;
    const file = String(value instanceof NamedFile ? value.path : value);
    const key = path.join('.');
    // That it is there and sound is a rule of the config.
    if (schema['x-names'] === 'secret') found.push(await checkSecret(key, file));
    if (schema['x-names'] === 'certificates') found.push(...(await checkAuthorities(key, file)));
  }
  // A credential that stands in the config file makes it a secret itself.
  const holdsSecret = listKeys().some(
    ({ path, schema }) => schema['x-unit'] === 'secret' && /:\d+:\d+$/.test(origins.get(path.join('.')) ?? ''),
  );
  if (configFile !== null && holdsSecret) found.push(await checkSecret('the config file', configFile));
  return found;
}

async function checkSecret(subject: string, file: string): Promise<Diagnosis> {
  try {
    const isMounted = isKubernetesVolume(await realpath(file));
    const mode = (await stat(file)).mode & 0o777;
    // A mounted Secret is readable for all by default, and "all" are the processes of its container.
    if ((mode & 0o007) === 0 || isMounted) return sound('file', subject, `"${file}" is there.`);
    const state = `"${file}" holds a secret, and everybody on this machine may read it (mode ${mode.toString(8)}).`;
    return warning('file', subject, state, `chmod 600 "${file}"`);
  } catch (error) {
    return faulty('file', subject, toDocshelfError(error));
  }
}

/** Secrets and ConfigMaps are mounted through a folder such as `..2024_06_01_…`. */
function isKubernetesVolume(path: string): boolean {
  return /\/\.\.[^/]/.test(path);
}

async function checkAuthorities(subject: string, file: string): Promise<Diagnosis[]> {
  const pem = await readFile(file, 'utf8').catch(() => '');
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) return [faulty('certificate', subject, noCertificate(subject, file))];
  return blocks.map((block) => {
    try {
      const { subject: name, validTo } = new X509Certificate(block);
      return certificateState(subject, `The authority ${oneLine(name)}`, Date.parse(validTo), Date.now());
    } catch {
      return faulty('certificate', subject, noCertificate(subject, file));
    }
  });
}

function oneLine(name: string): string {
  return name.replaceAll('\n', ', ');
}

function noCertificate(setting: string, file: string): DocshelfError {
  return new DocshelfError('config_invalid', `Cannot use "${file}" as ${setting}: it holds no sound PEM certificate`, {
    next: 'Put the certificates of your authority into it, each between its BEGIN and END lines.',
  });
}

/** Of our own listeners. That files can be read and fit is a rule of the config. */
export function checkCertificates(config: Config, nowMs: number): Diagnosis[] {
  const found = certificateFindings(config, nowMs).map(({ setting, message, next }) =>
    warning('certificate', setting, message, next),
  );
  const told = new Set(found.map(({ subject }) => subject));
  return [
    ...found,
    ...presentedCertificates(config)
      .filter(({ setting }) => !told.has(setting))
      .map(({ setting, file, endsAtMs }) =>
        sound('certificate', setting, `"${file}" is valid until ${new Date(endsAtMs).toISOString().slice(0, 10)}.`),
      ),
  ];
}
