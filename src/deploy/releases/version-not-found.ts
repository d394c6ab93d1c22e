import { DocshelfError } from '../../domain/errors.ts';
import { storedVersions } from '../status.ts';
import type { SiteStore } from './site-store.ts';

export async function versionNotFound(
  store: SiteStore,
  version: string | null,
  sha256: string | null,
): Promise<DocshelfError> {
  const stored = (await storedVersions(store)).map((known) => known.version);
  const listed = stored.length === 0 ? 'none is stored' : `stored are ${stored.join(', ')}`;
  if (version === null) {
    return new DocshelfError('no_version', `Cannot serve: no version is active; ${listed}`, {
      next:
        stored.length === 0
          ? 'Set staticExport.bundleUrl, put an archive into the preload folder or the inbox, or run "docshelf bundle import FILE".'
          : 'Pin one with staticExport.version, or run "docshelf bundle activate VERSION".',
      fields: { stored },
    });
  }
  const withDigest = sha256 === null ? '' : ` with digest ${sha256.slice(0, 12)}`;
  const message = `Cannot serve version "${version}"${withDigest}: it is not stored; ${listed}`;
  return new DocshelfError('version_not_found', message, {
    next: 'Take its bundle in ("docshelf bundle import FILE --version …"), set staticExport.bundleUrl, or pin a version that is stored.',
    fields: { version, stored },
  });
}
