import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { BUNDLE_LINK_FORMS, isBundleLink } from '../../domain/bundle-link.ts';
import { DEPLOYMENT_TYPES, DOMAIN_PATTERN } from '../../domain/deployment.ts';
import { DocshelfError } from '../../domain/errors.ts';
import { Secret } from '../../domain/secret.ts';
import { isVersion } from '../../domain/version.ts';
import type { InitAnswers } from './write.ts';

/** On standard error: standard output is for the command's answer. */
export async function askForAnswers(given: InitAnswers, file: string): Promise<InitAnswers> {
  using terminal = createInterface({ input: process.stdin, output: process.stderr });
  // `question` would lose all but the first line of what is pasted.
  const lines = terminal[Symbol.asyncIterator]();
  const words = async (question: string, otherwise: string, isSound: (text: string) => boolean, rule: string) => {
    terminal.setPrompt(`${question} [${otherwise}]: `);
    for (;;) {
      terminal.prompt();
      const line = await lines.next();
      if (line.done === true) throw new DocshelfError('canceled', 'Cannot write a config: the questions were left');
      const text = line.value.trim();
      if (text === '') return undefined;
      if (isSound(text)) return text;
      process.stderr.write(`  ${rule}\n`);
    }
  };

  process.stderr.write(`A config for docshelf, in ${file}${existsSync(file) ? ' (which is there)' : ''}.\n`);
  const types: readonly string[] = DEPLOYMENT_TYPES;
  const typeText = `Type of this deployment (${types.join(', ')})`;
  const type =
    given.type ?? (await words(typeText, 'client-hosted', (text) => types.includes(text), 'One of those three.'));
  const domain =
    given.domain ??
    (await words(
      'Domain of the site, such as acme',
      'as the first bundle says',
      (text) => DOMAIN_PATTERN.test(text),
      'Lower-case letters, digits and "-".',
    ));
  const hasLink = given.bundleUrlFile !== undefined || type === 'air-gapped';
  const link = hasLink
    ? undefined
    : await words(
        'Link to the bundle, which is kept in a file of its own',
        'none: archives come by folder or by hand',
        isBundleLink,
        `A link: ${BUNDLE_LINK_FORMS}.`,
      );
  const version =
    given.version ??
    (await words('Version to pin', 'none: the newest is served', isVersion, 'A version such as 2024-06-01 or v3.2.0.'));
  return {
    ...given,
    type: DEPLOYMENT_TYPES.find((each) => each === type),
    domain,
    link: link === undefined ? undefined : new Secret(link),
    version,
  };
}
