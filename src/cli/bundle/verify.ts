import { basename } from 'node:path';
import type { Command } from 'commander';
import { archiveLimits, signatureSlice } from '../../app/slices.ts';
import type { Config } from '../../config/index.ts';
import { checkSignature, type Signer } from '../../deploy/import/signature.ts';
import { DocshelfError, errnoState, rethrowAs } from '../../domain/errors.ts';
import { counted } from '../../domain/text.ts';
import { digestFile } from '../../files/index.ts';
import type { BundledSearch } from '../../web/own-search.ts';
import { parserOf, type SiteChoice, siteCommand } from '../command.ts';
import { loadSite } from '../load-config.ts';
import { isFile, ProgressBar, printResult, ReportedFailure, table, toMiB } from '../output.ts';
import { storedRelease, storedReleaseInfo } from '../stored-versions.ts';

export function bundleInspectCommand(): Command {
  return siteCommand(
    'inspect',
    'Show the content of an archive and check its file list, or show the data of a stored version',
    'docshelf bundle inspect docs-export-2024-06-01.tar.gz',
  )
    .argument('<archive-or-version>', 'Archive file or stored version')
    .action(async (name: string, options: SiteChoice) => {
      const { config } = await loadSite(options);
      const facts = (await isFile(name)) ? await inspectFile(name, config) : await inspectStored(name, config);
      printResult(options, facts, () => table(Object.entries(facts).map(([key, value]) => [key, textOf(key, value)])));
    });
}

/** Lists the files of an archive. Extracts only `_redirects`, `_headers` and a few pages, and verifies no digests. */
async function inspectFile(file: string, config: Config): Promise<Record<string, unknown>> {
  const { inspectArchive, readArchiveFiles, sitePaths } = await import('../../archive/index.ts');
  const { BundledSearchSurvey } = await import('../../web/own-search.ts');
  const { RULE_FILE_BYTES_MAX, RULE_FILES, readSiteRules } = await import('../../web/rules/index.ts');
  const reading = { name: basename(file), act: 'inspect', limits: archiveLimits(config), foldsCase: false } as const;
  const listing = await inspectArchive(file, reading);
  const { format, archiveBytes, files, pages, totalBytes, root, launchers, caseConflicts } = listing;
  const survey = new BundledSearchSurvey(pages);
  for (const path of sitePaths(listing)) survey.add(path);
  const paths = [...RULE_FILES, ...survey.pages];
  const read = await readArchiveFiles(file, listing, { ...reading, paths, bytesMax: RULE_FILE_BYTES_MAX });
  const notes = readSiteRules(new Map([...read].filter(([path]) => RULE_FILES.includes(path)))).notices;
  const texts = survey.pages.map((path) => Buffer.from(read.get(path) ?? []).toString('latin1'));
  const searches = searchFacts(survey.judge(texts));
  return { format, archiveBytes, files, pages, bytes: totalBytes, root, launchers, caseConflicts, searches, notes };
}

async function inspectStored(version: string, config: Config): Promise<Record<string, unknown>> {
  const { ownSearches } = await import('../../site/additions.ts');
  const { loadSiteRules } = await import('../../site/index.ts');
  const info = await storedReleaseInfo(version, config, 'inspect');
  const release = await storedRelease(version, config, 'inspect');
  const [rules, own] = await Promise.all([loadSiteRules(release), ownSearches()(release)]);
  return { version, ...info, searches: searchFacts(own), notes: [...info.notes, ...rules.notices] };
}

const searchFacts = (own: readonly BundledSearch[]) => own.map(({ kind, state, needs }) => ({ kind, state, needs }));

function textOf(key: string, value: unknown): string {
  if (typeof value === 'number' && /bytes/i.test(key)) return `${toMiB(value)} (${counted(value, 'byte')})`;
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  return Array.isArray(value) && value.length === 0 ? 'none' : JSON.stringify(value);
}

interface VerifyOptions extends SiteChoice {
  readonly sha256?: string;
  readonly signature?: string;
}

const digestOf = parserOf(
  (text) => (/^[0-9a-f]{64}$/i.test(text) ? text.toLowerCase() : null),
  'Use a SHA-256 digest of 64 hex digits.',
);
const SHOWN_MAX = 20;

export function bundleVerifyCommand(): Command {
  return siteCommand(
    'verify',
    'Check a complete archive like an import does, or the files of a stored version',
    'docshelf bundle verify docs-export-2024-06-01.tar.gz --sha256 "$(cut -d" " -f1 docs.sha256)"',
  )
    .argument('<archive-or-version>', 'Archive file or stored version')
    .option('--sha256 <digest>', 'Expected SHA-256 digest of the archive', digestOf)
    .option('--signature <text>', 'Text of the minisign signature (default: the .minisig file next to the archive)')
    .action(async (name: string, options: VerifyOptions) => {
      const { config } = await loadSite(options);
      if (await isFile(name)) {
        const verified = await verifyFile(name, options, config);
        printResult(options, verified, () => sentenceOf(name, verified));
        return;
      }
      const verified = await verifyStored(name, config);
      printResult(options, verified, () => linesOf(verified).join('\n'));
      if (verified.changed.length + verified.missing.length > 0) throw new ReportedFailure();
    });
}

async function verifyFile(file: string, options: VerifyOptions, config: Config) {
  using progress = new ProgressBar();
  const name = basename(file);
  const digest = await digestFile(file).catch(
    rethrowAs('cannot_read', `read "${name}"`, 'Make the archive readable for docshelf.', errnoState),
  );
  const expected = options.sha256 ?? digest;
  if (expected !== digest) {
    throw new DocshelfError('wrong_digest', `Cannot trust "${name}": its SHA-256 is ${digest}, not ${expected}`, {
      next: 'Fetch the archive again, and compare its digest with the published digest.',
    });
  }
  const signature = await signerOf(file, options, config);
  const { inspectArchive, verifyArchive } = await import('../../archive/index.ts');
  const isVerified = signature !== null || [options.sha256, config.staticExport.sha256].includes(digest);
  const reading = { name, act: 'verify', limits: archiveLimits(config), isVerified, foldsCase: false } as const;
  const draw = (phase: string) => (done: number, total: number) =>
    progress.draw(phase, done / Math.max(1, total), name);
  const listing = await inspectArchive(file, { ...reading, onProgress: draw('inspecting') });
  const { files, manifest } = await verifyArchive(file, listing, { ...reading, onProgress: draw('reading') });
  return {
    digest,
    archiveBytes: listing.archiveBytes,
    format: listing.format,
    files: files.length,
    pages: listing.pages,
    manifest: manifest && { domain: manifest.domain, version: manifest.version, createdAt: manifest.createdAt },
    signature,
  };
}

async function signerOf(file: string, { signature }: VerifyOptions, config: Config): Promise<Signer | null> {
  await using opened = new AsyncDisposableStack();
  const sources = async () => {
    const { openCommandSources } = await import('../../app/index.ts');
    return opened.use(await openCommandSources(config)).sources;
  };
  const archive = { file, name: basename(file), signature: signature ?? null };
  const { signal } = new AbortController();
  return await checkSignature(archive, signatureSlice(config), sources, config.network.retries, signal);
}

async function verifyStored(version: string, config: Config) {
  using progress = new ProgressBar();
  const release = await storedRelease(version, config, 'verify');
  const draw = (done: number, total: number) => progress.draw('reading', done / Math.max(1, total), version);
  const { verifyRelease } = await import('../../deploy/index.ts');
  const verdict = await verifyRelease(release, draw, new AbortController().signal);
  return { version, digest: release.digest, ...verdict };
}

function sentenceOf(file: string, verified: Awaited<ReturnType<typeof verifyFile>>): string {
  const { digest, archiveBytes, format, files, pages, manifest, signature } = verified;
  const signed = signature === null ? 'signature not checked' : `signed by ${signature.keyId}`;
  return [
    `${basename(file)} is valid: ${format}, ${toMiB(archiveBytes)}, ${counted(files, 'file')}, ${counted(pages, 'page')}, ${signed}.`,
    ...(manifest === null
      ? []
      : [
          `${manifest.domain}${manifest.version === null ? '' : `, version ${manifest.version}`}, created at ${manifest.createdAt}`,
        ]),
    `sha256 ${digest}`,
  ].join('\n');
}

function linesOf({ version, digest, sound, changed, missing, unknown }: Awaited<ReturnType<typeof verifyStored>>) {
  const isDamaged = changed.length + missing.length > 0;
  const state = isDamaged ? 'is damaged' : 'is intact';
  return [
    `Version ${version} (${digest.slice(0, 12)}) ${state}: ${counted(sound, 'unchanged file')}.`,
    ...listOf('changed', changed),
    ...listOf('missing', missing),
    ...listOf('not part of this bundle, never served', unknown),
    ...(isDamaged ? ['  Import the bundle of this version again with "docshelf bundle import".'] : []),
  ];
}

function listOf(state: string, paths: readonly string[]): string[] {
  const more = paths.length - SHOWN_MAX;
  return [
    ...paths.slice(0, SHOWN_MAX).map((path) => `  ${state}: ${path}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}
