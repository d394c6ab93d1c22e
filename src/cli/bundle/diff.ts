import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Command } from 'commander';
import { archiveLimits } from '../../app/slices.ts';
import type { Config } from '../../config/index.ts';
import { printable } from '../../domain/text.ts';
import { readFileTable, temporaryFolder } from '../../files/index.ts';
import type { ComparedSite, VersionsDiff } from '../../site/versions/diff-pages.ts';
import { escapeHtml } from '../../web/escape.ts';
import { type SiteChoice, siteCommand } from '../command.ts';
import { loadSite } from '../load-config.ts';
import { firstRows, isFile, ProgressBar, printResult } from '../output.ts';
import { storedRelease } from '../stored-versions.ts';

export function bundleDiffCommand(): Command {
  return siteCommand(
    'diff',
    'Compare two versions or archives: added, removed, moved, and changed pages',
    'docshelf bundle diff 2024-06-01 2024-07-15 --html > changes.html',
  )
    .argument('<before>', 'Archive file or stored version')
    .argument('<after>', 'Archive file or stored version to compare with <before>')
    .option('--html', 'Print an HTML page')
    .action(async (before: string, after: string, options: SiteChoice & { readonly html?: true }) => {
      const { config } = await loadSite(options);
      const { diffSummary } = await import('../../site/versions/diff-pages.ts');
      const show = options.html ? htmlOf : textOf;
      printResult(options, await diff(before, after, config), (found) => show(found, diffSummary(found)));
    });
}

async function diff(before: string, after: string, config: Config): Promise<VersionsDiff> {
  const { diffPages } = await import('../../site/versions/diff-pages.ts');
  await using work = await temporaryFolder(join(tmpdir(), 'docshelf-diff-'));
  using progress = new ProgressBar();
  const former = await openSite(before, config, join(work.path, 'before'), progress);
  const next = await openSite(after, config, join(work.path, 'after'), progress);
  const pages = await diffPages(former, next, (part) => progress.draw('comparing', part, `${before} ${after}`));
  return { before, after, ...pages };
}

/**
 * Opens the archive file `name` if this file exists, else the stored version `name`.
 * @throws DocshelfError codes of archives, `not_enough_space`
 */
async function openSite(name: string, config: Config, folder: string, progress: ProgressBar): Promise<ComparedSite> {
  if (!(await isFile(name))) return storedRelease(name, config, 'compare');
  const { unpackInThreads } = await import('../../deploy/index.ts');
  await mkdir(folder);
  const limits = archiveLimits(config);
  const order = { archive: name, name: basename(name), releaseDir: folder, limits, foldsCase: false, linkTo: [] };
  await unpackInThreads()(
    { ...order, isVerified: false, isIndexed: false },
    ({ phase, doneBytes, totalBytes }) => progress.draw(phase, doneBytes / Math.max(1, totalBytes), name),
    new AbortController().signal,
  );
  return { siteDir: join(folder, 'site'), files: await readFileTable(folder) };
}

function rowsOf({ added, removed, moved, changed }: VersionsDiff): string[][] {
  return [
    ...added.map(({ page, title }) => ['added', page, title, '']),
    ...removed.map(({ page, title }) => ['removed', page, title, '']),
    ...moved.map(({ page, title, from }) => ['moved', page, title, `from ${from}`]),
    ...changed.map((each) => ['changed', each.page, each.title, `+${each.wordsAdded} -${each.wordsRemoved} words`]),
  ];
}

function textOf(diff: VersionsDiff, summary: string): string {
  const rows = rowsOf(diff);
  if (rows.length === 0) return summary;
  const hint = '; use --json or --html to list all';
  return `${summary}\n${firstRows(['CHANGE', 'PAGE', 'TITLE', ''], rows, rows.length, hint)}`;
}

const inHtml = (cell: string): string => printable(escapeHtml(cell), (codePoint) => `&#${codePoint};`);

function htmlOf(diff: VersionsDiff, summary: string): string {
  const rows = rowsOf(diff).map((row) => `<tr>${row.map((cell) => `<td>${inHtml(cell)}</td>`).join('')}</tr>`);
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<meta charset="utf-8">',
    `<title>${escapeHtml(`${diff.before} to ${diff.after}`)}</title>`,
    '<style>body{font:1rem/1.5 system-ui;margin:2rem}td,th{padding:.2rem 1rem .2rem 0;text-align:start;vertical-align:top}</style>',
    `<h1>Changes between versions</h1>`,
    `<p>${escapeHtml(summary)}</p>`,
    '<table>',
    '<tr><th>Change</th><th>Page</th><th>Title</th><th></th></tr>',
    ...rows,
    '</table>',
  ].join('\n');
}
