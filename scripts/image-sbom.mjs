/**
 * The list of parts of an image, CycloneDX 1.6: that of the program (dist/sbom.json), Node, and the packages of the
 * operating system as dpkg or apk has them; a base without either has none. Run in the image, by the Dockerfile:
 *
 *   node image-sbom.mjs dist/sbom.json sbom.json [ROOT]
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [from, to, root = '/'] = process.argv.slice(2);
const sbom = JSON.parse(readFileSync(from, 'utf8'));
const os = osOf(textAt('etc/os-release'));
const packages = [
  ...blocksOf(textAt('var/lib/dpkg/status'), /^([A-Za-z-]+): (.*)$/)
    .filter((block) => block.Status?.endsWith(' installed'))
    .map(({ Package, Version, Architecture }) => packageOf('deb', Package, Version, Architecture)),
  ...blocksOf(textAt('lib/apk/db/installed'), /^([A-Za-z]):(.*)$/).map(({ P, V, A }) => packageOf('apk', P, V, A)),
];
const node = process.versions.node;
const added = [
  {
    type: 'platform',
    'bom-ref': `pkg:generic/node@${node}`,
    name: 'node',
    version: node,
    purl: `pkg:generic/node@${node}`,
  },
  ...(os === null ? [] : [os]),
  ...packages,
].sort((a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1));
const components = [...sbom.components, ...added];
const program = sbom.metadata.component['bom-ref'];
const dependencies = sbom.dependencies.map((each) =>
  each.ref === program ? { ...each, dependsOn: [...each.dependsOn, ...added.map((part) => part['bom-ref'])] } : each,
);
writeFileSync(to, `${JSON.stringify({ ...sbom, components, dependencies }, null, 2)}\n`);

function textAt(path) {
  const file = join(root, path);
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

/** Records of `name: value` lines, parted by empty ones; continued lines are no part of what is read here. */
function blocksOf(text, line) {
  return text
    .split(/\n\n+/)
    .map((block) =>
      Object.fromEntries(
        block.split('\n').flatMap((each) => [line.exec(each)?.slice(1) ?? []].filter(({ length }) => length)),
      ),
    )
    .filter((block) => Object.keys(block).length > 0);
}

function osOf(release) {
  const { ID: id, VERSION_ID: version = '' } = Object.fromEntries(
    release
      .split('\n')
      .flatMap((each) => [/^([A-Z_]+)="?([^"]*)"?$/.exec(each)?.slice(1) ?? []].filter(({ length }) => length)),
  );
  return id === undefined ? null : { type: 'operating-system', 'bom-ref': `os:${id}@${version}`, name: id, version };
}

/** A package URL (purl-spec): the distribution is its namespace. */
function packageOf(type, name, version, arch) {
  const purl = `pkg:${type}/${os?.name ?? 'unknown'}/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${arch}`;
  return { type: 'library', 'bom-ref': purl, name, version, purl };
}
