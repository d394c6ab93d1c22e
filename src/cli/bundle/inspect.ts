import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Command } from 'commander';
import { archiveLimits } from '../../app/slices.ts';
import type { Config } from '../../config/index.ts';
import { counted } from '../../domain/text.ts';
import { OwnSearches } from '../../serve/additions.ts';
import { loadSiteRules } from '../../serve/index.ts';
import { type OwnSearch, OwnSearchSurvey } from '../../web/own-search/survey.ts';
import { RULE_FILE_BYTES_MAX, RULE_FILES, readSiteRules } from '../../web/rules/index.ts';
import { answer, command, loadSite, type SiteChoice, withSite } from '../command.ts';
import { table, toMiB } from '../table.ts';
import { storedRelease, storedReleaseInfo } from './stored-release.ts';

export function bundleInspectCommand(): Command {
  return withSite(
    command(
      'inspect',
      'say what an archive holds and whether it would be taken in, or what is known of a stored version',
      'docshelf bundle inspect docs-export-2024-06-01.tar.gz',
    ),
  )
    .argument('<archive-or-version>', 'an archive file, or the version of a stored release')
    .action(async (name: string, options: SiteChoice) => {
      const { config } = await loadSite(options);
      const isFile = (await stat(name).catch(() => null))?.isFile() === true;
      const facts = isFile ? await inspectFile(name, config) : await inspectStored(name, config);
      answer(options, facts, () => table(Object.entries(facts).map(([key, value]) => [key, textOf(key, value)])));
    });
}

/** Reads the listing, the site's rules and a few pages. */
async function inspectFile(file: string, config: Config): Promise<Record<string, unknown>> {
  const { inspectArchive, readArchiveFiles, sitePaths } = await import('../../archive/index.ts');
  const reading = { name: basename(file), act: 'inspect', limits: archiveLimits(config), foldsCase: false } as const;
  const listing = await inspectArchive(file, reading);
  const { format, archiveBytes, files, pages, totalBytes, root, launchers, caseConflicts } = listing;
  const survey = new OwnSearchSurvey(pages);
  for (const path of sitePaths(listing)) survey.add(path);
  const paths = [...RULE_FILES, ...survey.pages];
  const read = await readArchiveFiles(file, listing, { ...reading, paths, bytesMax: RULE_FILE_BYTES_MAX });
  const notes = readSiteRules(new Map([...read].filter(([path]) => RULE_FILES.includes(path)))).notices;
  const texts = survey.pages.map((path) => Buffer.from(read.get(path) ?? []).toString('latin1'));
  const searches = searchFacts(survey.judge(texts));
  return { format, archiveBytes, files, pages, bytes: totalBytes, root, launchers, caseConflicts, searches, notes };
}

async function inspectStored(version: string, config: Config): Promise<Record<string, unknown>> {
  const info = await storedReleaseInfo(version, config, 'inspect');
  const release = await storedRelease(version, config, 'inspect');
  const [rules, own] = await Promise.all([loadSiteRules(release), new OwnSearches().of(release)]);
  return { version, ...info, searches: searchFacts(own), notes: [...info.notes, ...rules.notices] };
}

/** Searches that the pages bring themselves, and what each needs. */
function searchFacts(own: readonly OwnSearch[]) {
  return own.map(({ kind, state, needs }) => ({ kind, state, needs }));
}

function textOf(key: string, value: unknown): string {
  if (typeof value === 'number' && /bytes/i.test(key)) return `${toMiB(value)} (${counted(value, 'byte')})`;
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  return Array.isArray(value) && value.length === 0 ? 'none' : JSON.stringify(value);
}
