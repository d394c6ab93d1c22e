import { join } from 'node:path';
import type { ReleaseView } from '../domain/release.ts';
import { NO_RULES, RULE_FILE_BYTES_MAX, RULE_FILES, readSiteRules, type SiteRules } from '../web/rules/index.ts';
import { readSiteFile } from './site-bytes.ts';

/** The rules that a release brings. @throws DocshelfError `cannot_read`, `release_damaged` */
export async function loadSiteRules({ files, siteDir }: Pick<ReleaseView, 'files' | 'siteDir'>): Promise<SiteRules> {
  const entries = RULE_FILES.map((name) => files.get(name)).filter((entry) => entry !== undefined);
  if (entries.length === 0) return NO_RULES;
  const read = entries.map(async ({ path, size }) => {
    const isTooLarge = size > RULE_FILE_BYTES_MAX;
    return [path, isTooLarge ? null : await readSiteFile({ diskPath: join(siteDir, path), size })] as const;
  });
  return readSiteRules(new Map(await Promise.all(read)));
}
