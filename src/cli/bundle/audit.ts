import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { Config } from '../../config/index.ts';
import { counted } from '../../domain/text.ts';
import { answer, command, loadSite, type SiteChoice, withSite } from '../command.ts';
import { ProgressBar } from '../progress-bar.ts';
import { table } from '../table.ts';
import { auditBasePath, basePathText } from './audit-base-path.ts';
import { storedRelease } from './stored-release.ts';

type Audit = Awaited<ReturnType<typeof auditStored>>;

const SHOWN_MAX = 50;

export function bundleAuditCommand(): Command {
  return withSite(
    command(
      'audit',
      'find references of a stored version that lead nowhere, and what its pages load from other hosts',
      'docshelf bundle audit 2024-06-01 --json',
    ),
  )
    .argument('<version>', 'the version of a stored release')
    .option('--base-path <path>', 'tell instead what cannot be rewritten for that base path')
    .action(async (version: string, options: SiteChoice & { readonly basePath?: string }) => {
      const { config } = await loadSite(options);
      const { basePath } = options;
      if (basePath !== undefined) answer(options, await auditBasePath(version, basePath, config), basePathText);
      else answer(options, await auditStored(version, config), textOf);
    });
}

/** As an export job checks a site, in the way that docshelf serves it. */
async function auditStored(version: string, config: Config) {
  const release = await storedRelease(version, config, 'audit');
  const { checkSite, FindingList } = await import('../../export/index.ts');
  const work = await mkdtemp(join(tmpdir(), 'docshelf-audit-'));
  const found = new FindingList();
  const progress = new ProgressBar();
  try {
    await checkSite({
      siteDir: release.siteDir,
      files: [...release.files.values()],
      hosts: [],
      spoolFile: join(work, 'pages'),
      find: (finding) => found.add(finding),
      onProgress: (done, total) => progress.draw('reading', done / Math.max(1, total), version),
      signal: new AbortController().signal,
    });
  } finally {
    progress.end();
    await rm(work, { recursive: true, force: true });
  }
  const { counts, listed } = found.soFar;
  return { version, digest: release.digest, pages: release.pages, counts, findings: listed };
}

function textOf({ version, pages, counts, findings }: Audit): string {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  if (total === 0)
    return `Version ${version}: ${counted(pages, 'page')}, every reference leads somewhere, nothing is loaded from elsewhere.`;
  const summary = Object.entries(counts).map(([kind, count]) => `${count} ${kind}`);
  const rows = findings.slice(0, SHOWN_MAX).map(({ kind, page, detail }) => [kind, page, detail]);
  const more = total - rows.length;
  return [
    `Version ${version}: ${counted(pages, 'page')}, ${summary.join(', ')}.`,
    table([['KIND', 'PAGE', 'REFERENCE'], ...rows]),
    ...(more > 0 ? [`and ${more} more`] : []),
  ].join('\n');
}
