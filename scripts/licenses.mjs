import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Folder of the package that contains a module. Null for docshelf's own modules. */
export function packageFolder(file) {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0] ?? null;
}

/** Text of the licenses of packages whose code the build copies. @param folders folders of packages, without duplicates */
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
