import { DocshelfError } from '../../domain/errors.ts';
import type { Documentation, DocumentationRelease } from './documentation.ts';

/** Of a sentence. */
const VERSIONS_TOLD_MAX = 20;

/** @param version null: the active one. @throws DocshelfError `no_bundle`, `version_not_found` */
export async function servedRelease(site: Documentation, version: string | null): Promise<DocumentationRelease> {
  const release = await site.release(version);
  if (release !== null) return release;
  const versions = await site.versions();
  if (version === null || versions.length === 0) {
    const next = 'Ask again later; who runs docshelf finds the reason in its status.';
    throw new DocshelfError('no_bundle', 'Cannot read the documentation: no version is active', { next });
  }
  const told = versions.slice(0, VERSIONS_TOLD_MAX).join(', ');
  const more = versions.length > VERSIONS_TOLD_MAX ? ' and older ones' : '';
  const message = `Cannot read version "${shown(version)}": this documentation has no such version`;
  throw new DocshelfError('version_not_found', message, { next: `There is ${told}${more}.` });
}

/** A stranger's words, within a sentence. */
export const shown = (text: string): string => text.slice(0, 200).toWellFormed();
