import { existsSync } from 'node:fs';
import { createInterface, type Interface } from 'node:readline/promises';
import { isBundleLink } from '../../config/formats.ts';
import { DEPLOYMENT_TYPES, type DeploymentType, DOMAIN_PATTERN } from '../../domain/deployment.ts';
import { DocshelfError } from '../../domain/errors.ts';
import { Secret } from '../../domain/secret.ts';
import { isVersion } from '../../domain/version.ts';
import type { InitAnswers } from './write.ts';

interface Question<T> {
  readonly ask: string;
  /** Meaning of an empty answer, shown in brackets. */
  readonly otherwise: string;
  /** The answer's value, or null where it is none. */
  readonly read: (text: string) => T | null;
  readonly rule: string;
}

const TYPE: Question<DeploymentType> = {
  ask: `Type of this deployment (${DEPLOYMENT_TYPES.join(', ')})`,
  otherwise: 'client-hosted',
  read: (text) => DEPLOYMENT_TYPES.find((type) => type === text) ?? null,
  rule: 'One of those three.',
};
const DOMAIN: Question<string> = {
  ask: 'Domain of the site, such as acme',
  otherwise: 'as the first bundle says',
  read: (text) => (DOMAIN_PATTERN.test(text) ? text : null),
  rule: 'Lower-case letters, digits and "-".',
};
const LINK: Question<Secret> = {
  ask: 'Link to the bundle, which is kept in a file of its own',
  otherwise: 'none: archives come by folder or by hand',
  read: (text) => (isBundleLink(text) ? new Secret(text) : null),
  rule: 'An https, http, file: or oci:// link.',
};
const VERSION: Question<string> = {
  ask: 'Version to pin',
  otherwise: 'none: the newest is served',
  read: (text) => (isVersion(text) ? text : null),
  rule: 'A version such as 2024-06-01 or v3.2.0.',
};

/** Asks for what is not given. On standard error, so that standard output stays what the command answers. */
export async function askForAnswers(given: Partial<InitAnswers>, file: string): Promise<Partial<InitAnswers>> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Line by line: of what is pasted at once, `question` would lose all but the first.
  const lines = terminal[Symbol.asyncIterator]();
  const put = <T>(question: Question<T>): Promise<T | null> => answerTo(terminal, lines, question);
  try {
    process.stderr.write(`A config for docshelf, in ${file}${existsSync(file) ? ' (which is there)' : ''}.\n`);
    const type = given.type ?? (await put(TYPE)) ?? 'client-hosted';
    const domain = given.domain ?? (await put(DOMAIN));
    const hasLink = given.bundleUrlFile !== undefined || type === 'air-gapped';
    const link = hasLink ? null : await put(LINK);
    const version = given.version ?? (await put(VERSION));
    return { ...given, type, ...(domain && { domain }), ...(link && { link }), ...(version && { version }) };
  } finally {
    terminal.close();
  }
}

async function answerTo<T>(
  terminal: Interface,
  lines: AsyncIterator<string>,
  { ask, otherwise, read, rule }: Question<T>,
): Promise<T | null> {
  terminal.setPrompt(`${ask} [${otherwise}]: `);
  for (;;) {
    terminal.prompt();
    const line = await lines.next();
    // Ctrl-C, Ctrl-D: nothing is written.
    if (line.done === true) throw new DocshelfError('canceled', 'Cannot write a config: the questions were left');
    const text = line.value.trim();
    if (text === '') return null;
    const value = read(text);
    if (value !== null) return value;
    process.stderr.write(`  ${rule}\n`);
  }
}
