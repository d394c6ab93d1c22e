import { access, constants, readdir } from 'node:fs/promises';
import type { Config } from '../../config/index.ts';
import { type Diagnosis, faulty, sound } from '../../domain/diagnosis.ts';
import { DocshelfError, errnoOf } from '../../domain/errors.ts';

/** The folders that bundles and exports are made from: the preload folder, and the source of each site. */
export async function checkSources({ staticExport, exportApi, organizations }: Config): Promise<Diagnosis[]> {
  const found = [await checkPreload(staticExport.preload, staticExport.preloadIsDefault)];
  if (!exportApi.enabled) return found;
  for (const site of organizations.flatMap(({ sites }) => sites)) {
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

/** Whether the folder is there and holds anything. */
export async function holdsFiles(folder: string): Promise<boolean> {
  return (await readdir(folder).catch(() => [])).some((name) => !name.startsWith('.'));
}

async function checkPreload(folder: string, mayBeMissing: boolean): Promise<Diagnosis> {
  const subject = 'staticExport.preload';
  try {
    const names = (await readdir(folder)).filter((name) => !name.startsWith('.'));
    return sound('folder', subject, `"${folder}" can be read, and holds ${names.length} files.`);
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
