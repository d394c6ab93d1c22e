import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of the package that a module's file is of; null for a module of our own. */
export function packageFolder(file) {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0] ?? null;
}

/** The licences of these packages, as text: what is copied with their code. @param folders of packages, each once */
export function licenseTexts(folders) {
  const texts = folders.map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const files = readdirSync(folder, { withFileTypes: true })
      .filter(
        (file) => file.isFile() && /^(?:(?:un)?licen[cs]e|copying|notice|third_party_licen[cs]es)/i.test(file.name),
      )
      .map((file) => file.name);
    const parts = files.sort().map((file) => readFileSync(join(folder, file), 'utf8').trim());
    return [`${name} ${version}\nLicence: ${license}`, ...parts].join('\n\n');
  });
  return `${texts.sort().join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}
