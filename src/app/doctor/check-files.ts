import { randomBytes, X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { access, constants, lstat, readdir, readFile, realpath, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { type Config, type LoadedConfig, valueAt } from '../../config/index.ts';
import { NamedFile } from '../../config/read-config-file.ts';
import { CONFIG_KEYS } from '../../config/schema-node.ts';
import { daemonUserOf, dataPaths, refuseOldLayout, type SiteStore } from '../../deploy/index.ts';
import { errnoOf, toDocshelfError } from '../../domain/errors.ts';
import { counted } from '../../domain/text.ts';
import { FolderKeys } from '../../http/keys/folder-keys.ts';
import { bundleLink, organizationsSlice, queueKind } from '../slices.ts';
import { certificateFindings, presentedCertificates } from '../tls.ts';
import { about, certificateState, type Diagnosis } from './diagnosis.ts';

const DATA_FOLDER = 'storage.dir';
const GiB = 1024 ** 3;
const OTHERS_READ = 0o005;
/** Minimum of free bytes in an empty data folder. With less, `docshelf doctor` warns. Most bundles and their files need less. */
const EMPTY_SHELF_BYTES = GiB;
/** Maximum entries of other users to list in a warning. */
const FOREIGN_SHOWN_MAX = 3;
/** Minimum of free inodes after the next import. With less, `docshelf doctor` warns. Each file of a site takes an inode. */
const INODES_SPARE = 10_000;

/**
 * Checks that docshelf can write to the data folder, and that the folder is on one file system, because docshelf moves
 * releases with rename(2).
 */
export async function checkDataFolder({ storage }: Config): Promise<Diagnosis[]> {
  const { dir } = storage;
  const { sound, warning, faulty } = about('folder', DATA_FOLDER);
  const existing = nearestExisting(dir);
  const written = await writeProbe(existing);
  if (written !== null) {
    const next = 'Make storage.dir a folder that the user of docshelf can write to.';
    return [faulty({ code: 'cannot_write', message: `Cannot write to "${existing}": ${written}`, next })];
  }
  if (existing !== dir) return [sound(`"${dir}" does not exist yet, and docshelf can create it.`)];
  const old = await refuseOldLayout(dataPaths(dir)).then(() => null, toDocshelfError);
  if (old !== null) return [faulty(old)];
  const strangers = await foldersElsewhere(dir);
  if (strangers.length > 0) {
    const names = strangers.map((folder) => `"${folder}"`).join(', ');
    const message = `Cannot move releases within "${dir}": another file system contains ${names}`;
    const next = 'Mount one volume at storage.dir, and no other volume under it.';
    return [faulty({ code: 'cannot_write', message, next })];
  }
  const found = [sound(`"${dir}" is writable, and on one file system.`)];
  const { mode } = await stat(dir);
  const { uid, gid } = await daemonUserOf(dataPaths(dir));
  const foreign = uid === 0 ? [] : await entriesOfOthers(dir, uid);
  if (foreign.length > 0) {
    const names = foreign.slice(0, FOREIGN_SHOWN_MAX).map((path) => `"${path}"`);
    const entries = `${counted(foreign.length, 'entry', 'entries')} of other users, such as ${names.join(', ')}`;
    const state = `The daemon of "${dir}" runs as user ${uid}, but the folder contains ${entries}. The daemon cannot change them.`;
    found.push(warning(state, `Run sudo chown -R ${uid}:${gid} "${dir}".`));
  }
  if ((mode & OTHERS_READ) !== 0) {
    const state = `Every user of this machine can read "${dir}", which contains keys and links.`;
    found.push(warning(state, `Run chmod o-rwx "${dir}".`));
  }
  return found;
}

/**
 * Entries with another owner than `uid`, at the top level of the data folder, and among its releases and sites. Call this only if
 * `uid` is not root: Kubernetes mounts volumes that belong to root for daemons of other users.
 */
async function entriesOfOthers(dir: string, uid: number): Promise<string[]> {
  const { releases, sites } = dataPaths(dir);
  const found: string[] = [];
  for (const folder of [dir, releases, sites]) {
    for (const name of await readdir(folder).catch(() => [])) {
      const path = join(folder, name);
      const owner = await lstat(path).catch(() => null);
      if (owner !== null && owner.uid !== uid && name !== 'lost+found') found.push(relative(dir, path));
    }
  }
  return found;
}

const nearestExisting = (folder: string): string =>
  existsSync(folder) || dirname(folder) === folder ? folder : nearestExisting(dirname(folder));

/** Tests writing with a probe file, because access(2) always allows root and ignores quotas. @returns the errno, or null */
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

export async function checkSpace(config: Config, store: SiteStore): Promise<Diagnosis[]> {
  const { sound, warning, faulty } = about('space', DATA_FOLDER);
  const { bavail, bsize, files, ffree } = await statfs(nearestExisting(config.storage.dir));
  const freeBytes = bavail * bsize;
  const stored = await store.list().catch(() => []);
  const nextBytes = Math.max(0, ...stored.map(({ bytes, archiveBytes }) => bytes + archiveBytes));
  const nextFiles = Math.max(0, ...stored.map((release) => release.files));
  const free = `${inGiB(freeBytes)} free`;
  const next = 'Free space on the volume of storage.dir, enlarge the volume, or lower staticExport.keep.';
  const tooSmall = (state: string): Diagnosis[] => {
    return [faulty({ code: 'not_enough_space', message: `Cannot import the next bundle: ${state}`, next })];
  };

  if (nextBytes > freeBytes) {
    const needed = inGiB(nextBytes);
    return tooSmall(`a bundle as large as the largest stored bundle needs ${needed}, and the disk has ${free}`);
  }
  // Ignore the inode count on file systems without a fixed number of inodes (btrfs), which report 0.
  if (files > 0 && ffree < nextFiles)
    return tooSmall(`the largest stored bundle needs ${counted(nextFiles, 'inode')}, and the disk has ${ffree} free`);
  const comfort = stored.length === 0 ? EMPTY_SHELF_BYTES : 2 * nextBytes;
  if (freeBytes < comfort || (files > 0 && ffree < nextFiles + INODES_SPARE))
    return [warning(`The disk has ${free}, and ${counted(ffree, 'free inode')}.`, next)];
  const { totalBytesMax, bundleBytesMax } = config.staticExport.limits;
  const limit = totalBytesMax + bundleBytesMax;
  const largest = freeBytes < limit ? ` A bundle of the maximum size (${inGiB(limit)}) would not fit.` : '';
  const releases = counted(stored.length, 'stored release');
  return [sound(`The disk has ${free}. The folder contains ${releases}.${largest}`)];
}

const inGiB = (bytes: number): string => `${(bytes / GiB).toFixed(1)} GiB`;

export async function checkExportSources(config: Config): Promise<Diagnosis[]> {
  if (!config.exportApi.enabled) return [];
  const sites = organizationsSlice(config).flatMap(({ sites }) => sites);
  const found = sites.map(async ({ domain, source }): Promise<Diagnosis[]> => {
    if (source === null || source.kind === 'crawl') return [];
    const path = source.kind === 'command' ? source.workDir : source.path;
    const subject = `the source of ${domain}`;
    const errno = await access(path, constants.R_OK).then(() => null, errnoOf);
    return errno === null
      ? [about('folder', subject).sound(`"${path}" is readable.`)]
      : [cannotRead(subject, path, `exports of ${domain} will fail`, errno)];
  });
  return (await Promise.all(found)).flat();
}

export async function checkPreload({ staticExport }: Config): Promise<Diagnosis> {
  const { dir: folder, mayBeMissing } = staticExport.preload;
  const subject = 'staticExport.preload';
  const { sound } = about('folder', subject);
  try {
    const names = await archiveNames(folder);
    return sound(`"${folder}" is readable and contains ${counted(names.length, 'file')}.`);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' && mayBeMissing) return sound(`"${folder}" does not exist, and is optional.`);
    return cannotRead(subject, folder, 'docshelf cannot import archives from it', errno);
  }
}

const archiveNames = async (folder: string): Promise<string[]> =>
  (await readdir(folder)).filter((name) => !name.startsWith('.'));

function cannotRead(subject: string, path: string, consequence: string, errno: string | undefined): Diagnosis {
  const message = `Cannot read "${path}": ${errno ?? 'failed'}, so ${consequence}`;
  const next = `Make "${path}" readable for the user that docshelf runs as.`;
  return about('folder', subject).faulty({ code: 'cannot_read', message, next });
}

export async function checkBundle(config: Config, store: SiteStore): Promise<Diagnosis[]> {
  const { enabled, renew, version, preload } = config.staticExport;
  if (!enabled) return [];
  const { sound, warning, faulty } = about('bundle', version === null ? 'the bundle' : 'staticExport.version');
  try {
    const { labels, releases } = await store.records();
    const hasLink = bundleLink(config) !== null || renew.apiUrl !== null;
    if (hasLink || (await archiveNames(preload.dir).catch(() => [])).length > 0) return [];
    const stored = [...labels].filter(([label]) => version === null || label === version);
    if (stored.some(([, { digest }]) => releases.has(digest)))
      return [sound(version === null ? 'docshelf can serve a stored version.' : `Version ${version} is stored.`)];
    // If a stored release cannot be read, `info` throws an error, which becomes the result of this check.
    for (const [, { digest }] of stored) await store.info(digest);
  } catch (error) {
    return [faulty(toDocshelfError(error))];
  }
  const command = `docshelf bundle import FILE${version === null ? '' : ` --version ${version}`}`;
  const next = `Run "${command}", put an archive into "${preload.dir}", or set staticExport.bundleUrl.`;
  const state =
    version === null
      ? 'No version is stored, and no source is configured.'
      : `Version ${version} is not stored, and no source is configured for it.`;
  return [warning(state, next)];
}

export async function checkKeys({ storage, database }: Config): Promise<Diagnosis[]> {
  if (database.urlFile !== null) return [];
  const store = await FolderKeys.open({ dir: storage.dir, onFault: () => undefined });
  await store.stop();
  const { fault, keys } = store;
  const { sound, faulty } = about('keys', 'keys.json');
  if (fault !== null) return [faulty(fault)];
  return keys.length === 0 ? [] : [sound(`docshelf can read ${counted(keys.length, 'key')} created at run time.`)];
}

export async function checkJobs(config: Config): Promise<Diagnosis[]> {
  const subject = 'exports/jobs.sqlite';
  const file = join(config.storage.dir, subject);
  if (!config.exportApi.enabled || queueKind(config) !== 'sqlite' || !existsSync(file)) return [];
  const { sound, faulty } = about('folder', subject);
  try {
    (await import('../../export/jobs/queue/sqlite.ts')).checkDatabase(file);
    return [sound('docshelf can read the jobs of exports.')];
  } catch (error) {
    return [faulty(toDocshelfError(error))];
  }
}

export async function checkNamedFiles({ config, file: configFile, origins }: LoadedConfig): Promise<Diagnosis[]> {
  const found: Diagnosis[] = [];
  for (const { path, schema } of CONFIG_KEYS) {
    const value = valueAt(config, path);
    if (value === null || Array.isArray(value)) continue;
    const file = String(value instanceof NamedFile ? value.path : value);
    const key = path.join('.');
    // Check only the permissions and expiry of files that the config names. The config check ensures that they exist and are
    // valid.
    if (schema['x-names'] === 'secret') found.push(await checkSecret(key, file));
    if (schema['x-names'] === 'certificates') found.push(...(await checkAuthorities(key, file)));
  }
  // If the config file itself contains a credential, check its permissions like those of a secret file.
  const holdsSecret = CONFIG_KEYS.some(
    ({ path, schema }) => schema['x-unit'] === 'secret' && /:\d+:\d+$/.test(origins.get(path.join('.')) ?? ''),
  );
  if (configFile !== null && holdsSecret) found.push(await checkSecret('the config file', configFile));
  return found;
}

async function checkSecret(subject: string, file: string): Promise<Diagnosis> {
  const { sound, warning, faulty } = about('file', subject);
  try {
    // Detect a Secret that Kubernetes mounts: a link into a folder whose name begins with two dots, such as `..2024_06_01_…`.
    const isMounted = /\/\.\.[^/]/.test(await realpath(file));
    const mode = (await stat(file)).mode & 0o777;
    // Accept a mounted Secret that all users can read (the default mode), because only processes of the container see the file.
    if ((mode & 0o007) === 0 || isMounted) return sound(`"${file}" exists.`);
    const state = `"${file}" contains a secret that every user of this machine can read (mode ${mode.toString(8)}).`;
    return warning(state, `chmod 600 "${file}"`);
  } catch (error) {
    return faulty(toDocshelfError(error));
  }
}

async function checkAuthorities(subject: string, file: string): Promise<Diagnosis[]> {
  const pem = await readFile(file, 'utf8').catch(() => '');
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  const message = `Cannot use "${file}" as ${subject}: it contains no valid PEM certificate`;
  const next = 'Put the certificates of your certificate authority into the file, each with its BEGIN and END line.';
  const invalid = about('certificate', subject).faulty({ code: 'config_invalid', message, next });
  if (blocks.length === 0) return [invalid];
  return blocks.map((block) => {
    try {
      const { subject: name, validTo } = new X509Certificate(block);
      const authority = `The certificate authority ${name.replaceAll('\n', ', ')}`;
      return certificateState(subject, authority, Date.parse(validTo), Date.now());
    } catch {
      return invalid;
    }
  });
}

/** Checks only dates and host names of certificates. The config check ensures that they can be read and match their keys. */
export function checkCertificates(config: Config, nowMs: number): Diagnosis[] {
  const found = certificateFindings(config, nowMs).map(({ setting, message, next }) =>
    about('certificate', setting).warning(message, next),
  );
  const reported = new Set(found.map(({ subject }) => subject));
  return [
    ...found,
    ...presentedCertificates(config)
      .filter(({ setting }) => !reported.has(setting))
      .map(({ setting, file, endsAtMs }) =>
        about('certificate', setting).sound(
          `"${file}" is valid until ${new Date(endsAtMs).toISOString().slice(0, 10)}.`,
        ),
      ),
  ];
}
