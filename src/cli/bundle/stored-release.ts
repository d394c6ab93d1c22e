import { readStore } from '../../app/slices.ts';
import type { Config } from '../../config/index.ts';
import { DocshelfError } from '../../domain/errors.ts';
import type { ReleaseInfo, ReleaseView } from '../../domain/release.ts';

/** @throws DocshelfError `version_not_found`, `release_damaged`, `data_folder_newer` */
export async function storedRelease(version: string, config: Config, verb: string): Promise<ReleaseView> {
  const { store, digest } = await find(version, config, verb);
  return store.view(digest, version);
}

/** @throws DocshelfError `version_not_found`, `data_folder_newer`. */
export async function storedReleaseInfo(version: string, config: Config, verb: string): Promise<ReleaseInfo> {
  const { store, digest } = await find(version, config, verb);
  const info = await store.info(digest);
  if (info === null) throw notStored(version, verb);
  return info;
}

async function find(version: string, config: Config, verb: string) {
  const store = await readStore(config);
  const pointer = await store.label(version).catch(() => null);
  if (pointer === null) throw notStored(version, verb);
  return { store, digest: pointer.digest };
}

function notStored(name: string, verb: string): DocshelfError {
  return new DocshelfError('version_not_found', `Cannot ${verb} "${name}": it is neither a file nor a stored version`, {
    next: 'Name an archive file, or one of the versions that "docshelf bundle list" shows.',
  });
}
