import { mkdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
// Do not import `archive/index.ts`, because it loads all archive readers, which takes longer than a small job.
import { archiveOrder, type PackEntry, packBundle } from '../../archive/pack.ts';
import { DocshelfError } from '../../domain/errors.ts';
import type { ExportRequest, Finding, SiteSource } from '../../domain/job.ts';
import type { ArchiveLimits } from '../../domain/limits.ts';
import type { FolderSettings } from '../../domain/organization.ts';
import { type FileEntry, isPage, MANIFEST_PATH, OWN_FOLDER } from '../../domain/release.ts';
import { FileStore } from '../../files/file-store.ts';
import { listFiles } from '../../files/index.ts';
import { type CallContext, serve } from '../../threads/index.ts';
import { mediaTypeOf } from '../../web/media-type.ts';
import { checkSite } from '../check-site.ts';
import { FindingList, type FoundSoFar } from '../findings.ts';
import { ManifestStore, wordsOf } from '../manifest-store.ts';
import type { CollectCommand, SiteCrawler, StoreFolders, VerifyCommand } from '../ports.ts';
import { collectSite, type OnStep, readSiteTable, writeSiteTable } from './collect.ts';

export function sourceOf(command: CollectCommand, crawler: SiteCrawler): SiteSource {
  const { source, workDir, limits } = command;
  if (source.kind !== 'crawl') return folderSource(source, workDir, limits);
  return (...given) => crawler.collect({ ...command, settings: source }, ...given);
}

/** Imports the code for each kind of source on demand, because rendering Markdown needs many modules. */
const folderSource = ({ kind, path }: FolderSettings, workDir: string, limits: ArchiveLimits): SiteSource =>
  kind === 'folder'
    ? async (...given) =>
        (await import('../sources/folder-source.ts')).collectFolder({ path, workDir, limits }, ...given)
    : async (...given) => (await import('../markdown/index.ts')).collectMarkdown(path, ...given);

interface CheckCommand extends StoreFolders {
  readonly tableSha256: string;
  readonly siteDir: string;
  readonly hosts: readonly string[];
}

export interface CheckedSite {
  readonly files: readonly FileEntry[];
  readonly pages: number;
  readonly bytes: number;
  readonly found: FoundSoFar;
}

interface DescribeCommand extends StoreFolders {
  readonly request: ExportRequest;
  readonly tableSha256: string;
  readonly ownDir: string;
  readonly createdAt: string;
  readonly generator: string;
}

interface PackCommand extends StoreFolders {
  readonly contentSha256: string;
  readonly to: string;
}

interface SweepCommand extends StoreFolders {
  readonly keep: readonly string[];
  readonly recordsDir: string;
  /** Minimum time in ms since the last use of a stored file before docshelf removes it. A running job may need younger files. */
  readonly olderThanMs: number;
}

export function serveSteps(crawler: SiteCrawler): void {
  serve(stepsWith(crawler));
}

type StepContext = CallContext<Parameters<OnStep>>;
const onStep =
  ({ progress }: StepContext): OnStep =>
  (...done) =>
    progress(done);

const stepsWith = (crawler: SiteCrawler) => ({
  collect: (command: CollectCommand, context: StepContext) =>
    collect(command, sourceOf(command, crawler), onStep(context), context.signal),
  check: (command: CheckCommand, context: StepContext) => check(command, onStep(context), context.signal),
  verify: (command: VerifyCommand, context: StepContext) => verify(command, crawler, onStep(context), context.signal),
  describe: (command: DescribeCommand) => describe(command),
  pack: (command: PackCommand, context: StepContext) => pack(command, onStep(context), context.signal),
  sweep: (command: SweepCommand) => sweep(command, crawler),
});
export type JobSteps = ReturnType<typeof stepsWith>;

/** Exports a folder without a job. `workDir` must not span several volumes. Keep it while you use the exported files. */
export async function exportFolder(
  source: FolderSettings,
  workDir: string,
  limits: ArchiveLimits,
  onProgress: OnStep,
  signal: AbortSignal,
): Promise<CheckedSite & { readonly siteDir: string }> {
  const folders = { filesDir: join(workDir, 'files'), manifestsDir: join(workDir, 'manifests') };
  const siteDir = join(workDir, 'site');
  const request = { domain: basename(source.path), version: null, paths: null };
  const site = folderSource(source, join(workDir, 'source'), limits);
  const { tableSha256 } = await collect({ ...folders, request }, site, onProgress, signal);
  return { siteDir, ...(await check({ ...folders, tableSha256, siteDir, hosts: [] }, onProgress, signal)) };
}

async function collect(
  { request, filesDir }: Pick<CollectCommand, 'request' | 'filesDir'>,
  site: SiteSource,
  onStep: OnStep,
  signal: AbortSignal,
): Promise<{ readonly tableSha256: string; readonly pages: number }> {
  const store = new FileStore(filesDir);
  const table = await collectSite(site, request, store, onStep, signal);
  const pages = table.files.filter(({ path }) => isPage(path)).length;
  return { tableSha256: await writeSiteTable(store, table), pages };
}

async function check({ tableSha256, filesDir, siteDir, hosts }: CheckCommand, onStep: OnStep, signal: AbortSignal) {
  const store = new FileStore(filesDir);
  const { files, found } = await readSiteTable(store, tableSha256);
  for (const folder of new Set(files.map(({ path }) => dirname(join(siteDir, path)))))
    await mkdir(folder, { recursive: true });
  for (const { path, sha256 } of files) await store.link(sha256, join(siteDir, path));
  const findings = FindingList.of(found);
  const find = (finding: Finding): void => findings.add(finding);
  const spoolFile = `${siteDir}.references`;
  await checkSite({ siteDir, spoolFile, files, hosts, find, onProgress: onStep, signal });
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  return { files, pages: files.filter(({ path }) => isPage(path)).length, bytes, found: findings.soFar };
}

export async function verify(
  command: VerifyCommand,
  crawler: SiteCrawler,
  onProgress: OnStep,
  signal: AbortSignal,
): Promise<FoundSoFar> {
  const findings = FindingList.of(command.found);
  await crawler.verify(command, { find: (finding) => findings.add(finding), onProgress }, signal);
  return findings.soFar;
}

async function describe(command: DescribeCommand): Promise<{ readonly contentSha256: string }> {
  const { request, tableSha256, filesDir, manifestsDir, ownDir, createdAt, generator } = command;
  const store = new FileStore(filesDir);
  const { files } = await readSiteTable(store, tableSha256);
  const own: FileEntry[] = [];
  for (const name of await listFiles(ownDir)) {
    const path = OWN_FOLDER + name;
    own.push({ path, ...(await store.put({ file: join(ownDir, name) })), type: mediaTypeOf(path) });
  }
  const all = [...files, ...own].sort((a, b) => (a.path < b.path ? -1 : 1));
  const { domain, version } = request;
  const content = { domain, version, files: all };
  const contentSha256 = await new ManifestStore(manifestsDir).take(content, { createdAt, generator });
  return { contentSha256 };
}

async function pack(command: PackCommand, onStep: OnStep, signal: AbortSignal) {
  const { contentSha256, filesDir, manifestsDir, to } = command;
  const store = new FileStore(filesDir);
  const bytes = await new ManifestStore(manifestsDir).read(contentSha256);
  if (bytes === null) {
    throw new DocshelfError('bundle_gone', 'Cannot pack the bundle: its manifest no longer exists', {
      next: 'Start a new export.',
    });
  }
  const { files, createdAt } = wordsOf(bytes);
  const stored = files.map(({ path, size, sha256 }) => ({ path, size, sha256, file: store.pathOf(sha256) }));
  const entries: PackEntry[] = [{ path: MANIFEST_PATH, bytes }, ...stored].sort(archiveOrder);
  const totalBytes = files.reduce((sum, { size }) => sum + size, 0);
  const packed = await packBundle({ entries, to, signal, onProgress: (doneBytes) => onStep(doneBytes, totalBytes) });
  return { ...packed, createdAt };
}

async function sweep({ keep, olderThanMs, filesDir, manifestsDir, recordsDir }: SweepCommand, crawler: SiteCrawler) {
  const manifests = new ManifestStore(manifestsDir);
  const files = new Set(await crawler.recordedContents(recordsDir));
  for (const contentSha256 of keep) {
    const bytes = await manifests.read(contentSha256);
    if (bytes === null) continue;
    for (const { sha256 } of wordsOf(bytes).files) files.add(sha256);
  }
  await manifests.sweep(new Set(keep), olderThanMs);
  await new FileStore(filesDir).sweep(files, olderThanMs);
}
