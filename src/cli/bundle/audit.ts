import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { Config } from '../../config/index.ts';
import { normalBasePath } from '../../domain/deployment.ts';
import { DocshelfError } from '../../domain/errors.ts';
import { counted } from '../../domain/text.ts';
import { temporaryFolder } from '../../files/index.ts';
import { type SiteChoice, siteCommand, versionLabel } from '../command.ts';
import { loadSite } from '../load-config.ts';
import { findingsText, firstRows, ProgressBar, printResult } from '../output.ts';
import { storedRelease } from '../stored-versions.ts';

export function bundleAuditCommand(): Command {
  return siteCommand(
    'audit',
    'Find broken references in a stored version, and requests of its pages to other hosts',
    'docshelf bundle audit 2024-06-01 --json',
  )
    .argument('<version>', 'Stored version', versionLabel)
    .option(
      '--base-path <path>',
      'List the addresses that docshelf cannot rewrite for this base path, instead of broken references',
    )
    .action(async (version: string, options: SiteChoice & { readonly basePath?: string }) => {
      const { config } = await loadSite(options);
      const { basePath } = options;
      if (basePath !== undefined) printResult(options, await auditBasePath(version, basePath, config), basePathText);
      else
        printResult(options, await auditStored(version, config), (found) => findingsText(`Version ${version}`, found));
    });
}

async function auditStored(version: string, config: Config) {
  const release = await storedRelease(version, config, 'audit');
  const { checkSite, FindingList } = await import('../../export/index.ts');
  await using work = await temporaryFolder(join(tmpdir(), 'docshelf-audit-'));
  const found = new FindingList();
  using progress = new ProgressBar();
  await checkSite({
    siteDir: release.siteDir,
    files: [...release.files.values()],
    hosts: [],
    spoolFile: join(work.path, 'pages'),
    find: (finding) => found.add(finding),
    onProgress: (done, total) => progress.draw('reading', done / Math.max(1, total), version),
    signal: new AbortController().signal,
  });
  const { counts, listed } = found.soFar;
  return { version, digest: release.digest, pages: release.pages, counts, findings: listed };
}

type BasePathAudit = Awaited<ReturnType<typeof auditBasePath>>;

const BASE_PATH = /^\/(?:(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+(?:\/|$))*$/;
const ADDRESSES_SHOWN_MAX = 3;

/** Finds addresses that lead out of the base path after docshelf has rewritten them. @throws DocshelfError `usage`, `version_not_found` */
async function auditBasePath(version: string, written: string, config: Config) {
  if (!BASE_PATH.test(written)) {
    throw new DocshelfError('usage', `Cannot audit "${version}": "${written}" is not a base path`, {
      next: 'Use a path that begins with a slash, such as /docs/.',
    });
  }
  const { isMountable, isServedPath } = await import('../../web/mount/base-path.ts');
  const { isData, isTooLargeToMount, leftAddresses, mountFile } = await import('../../web/mount/index.ts');
  const { siteDir, files, digest, builtFor } = await storedRelease(version, config, 'audit');
  const site = { from: builtFor, to: normalBasePath(written), has: (path: string) => isServedPath(files, path) };
  /** `addresses`: distinct addresses as written in the file, or an empty list if the file is too large to rewrite. */
  const left: { readonly file: string; readonly addresses: readonly string[] }[] = [];
  let rewritten = 0;
  for (const { path, type, size } of site.from === site.to ? [] : files.values()) {
    if (isTooLargeToMount({ path, type }, size)) left.push({ file: path, addresses: [] });
    if (!isMountable(path, type, size) && !isData(path, size)) continue;
    const file = { path, type, bytes: await readFile(join(siteDir, path)) };
    if (mountFile(file, site) !== file.bytes) rewritten += 1;
    const addresses = leftAddresses(file, site);
    if (addresses.length > 0) left.push({ file: path, addresses });
  }
  return { version, digest, basePath: site.to, builtFor, files: files.size, rewritten, left };
}

function basePathText({ version, basePath, builtFor, files, rewritten, left }: BasePathAudit): string {
  if (builtFor === basePath) return `Version ${version} was built for ${basePath}, so docshelf rewrites no files.`;
  const head = `Version ${version} was built for ${builtFor}. For ${basePath}, docshelf rewrites ${rewritten} of ${counted(files, 'file')}.`;
  if (left.length === 0) return `${head} docshelf found no address that it cannot rewrite.`;
  const rows = left.map(({ file, addresses }) => [file, shown(addresses)]);
  return [
    head,
    `docshelf cannot rewrite some addresses in ${counted(left.length, 'file')}. Scripts that use these addresses link to pages outside ${basePath}.`,
    firstRows(['FILE', 'ADDRESSES'], rows),
  ].join('\n');
}

function shown(addresses: readonly string[]): string {
  if (addresses.length === 0) return 'the file is too large to rewrite';
  const more = addresses.length - ADDRESSES_SHOWN_MAX;
  return addresses.slice(0, ADDRESSES_SHOWN_MAX).join(' ') + (more > 0 ? ` and ${more} more` : '');
}
