import { access, constants, readdir } from 'node:fs/promises';
import type { Config } from '../../config/index.ts';
import type { SiteStore } from '../../deploy/index.ts';
import { DocshelfError, errnoOf } from '../../domain/errors.ts';
import { counted } from '../../domain/text.ts';
import { bundleLink, organizationsSlice } from '../slices.ts';
import { type Diagnosis, faulty, sound, warning } from './diagnosis.ts';

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
