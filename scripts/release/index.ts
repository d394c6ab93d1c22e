/**
 * Creates the files of a release in a folder. The same commit gives the same bytes, except for the signatures of a dry run.
 *
 *   npm run release -- --dry-run          all files, signed with a key that is created for this run
 *   npm run release                       the same from a clean checkout, signed with DOCSHELF_RELEASE_KEY or --signing-key-file
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { signFile } from '../../src/archive/index.ts';
import { parsePublicKey } from '../../src/archive/minisign.ts';
import { toMiB } from '../../src/cli/output.ts';
import { image } from './image.ts';
import { chartPackage, debianPackage, hostArchive, npmPackage } from './packages.ts';
import { type Artifact, newMinisignKey, provenance, releaseNotes } from './papers.ts';
import { PLATFORMS, type Release, ROOT, read } from './program.ts';
import { sha256 } from './tree.ts';

const { values } = parseArgs({
  options: {
    'dry-run': { type: 'boolean', default: false },
    output: { type: 'string', default: 'release' },
    'signing-key-file': { type: 'string' },
  },
});
const isDryRun = values['dry-run'];
const folder = resolve(process.env.INIT_CWD ?? '.', values.output);
const git = (...args: string[]): string => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();

const { version, repository } = JSON.parse(read('package.json')) as { version: string; repository: { url: string } };
const isChanged = git('status', '--porcelain') !== '';
if (isChanged && !isDryRun) fail('the checkout has changes: commit them first, or use --dry-run');
const release: Release = {
  version,
  revision: git('rev-parse', 'HEAD') + (isChanged ? '-changed' : ''),
  date: new Date(Number(process.env.SOURCE_DATE_EPOCH ?? git('log', '-1', '--format=%ct')) * 1000),
};
if (!isDryRun && !git('tag', '--points-at', 'HEAD').split('\n').includes(`v${version}`)) {
  fail(`this commit has no tag v${version}: create it first, or use --dry-run`);
}
if (!read('helm/Chart.yaml').includes(`version: ${version}\nappVersion: "${version}"\n`)) {
  fail(`helm/Chart.yaml has another version: set version and appVersion to ${version}`);
}
const notes = releaseNotes(read('CHANGELOG.md'), version);
const key = signingKey();

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const artifacts: (Artifact & { readonly bytes: number; readonly seconds: number })[] = [];
const name = `docshelf-${version}`;

await add(`${name}.tgz`, () => npmPackage(release));
const parts: object[] = [];
const digests: string[] = [];
for (const platform of PLATFORMS) {
  await add(`${name}-linux-${platform.node}.tar.gz`, () => hostArchive(release, platform));
  await add(`docshelf_${version}_${platform.system}.deb`, () => debianPackage(release, platform));
  await add(`${name}-image-${platform.system}.tar`, async () => {
    const made = await image(release, platform);
    digests.push(`${made.digest}  linux/${platform.system}\n`);
    parts.push(made.sbom);
    return made.archive;
  });
}
await add(`${name}-chart.tgz`, () => chartPackage(release));
await add('image-digests.txt', () => digests.join(''));
for (const [index, { system }] of PLATFORMS.entries()) {
  await add(`${name}-image-${system}.cdx.json`, () => `${JSON.stringify(parts[index], null, 2)}\n`);
}
await add(`${name}.cdx.json`, () => read('dist/sbom.json'));
await add('release-notes.md', () => notes);
const builder = process.env.DOCSHELF_RELEASE_BUILDER ?? 'https://docshelf.example/release/local';
await add(
  `${name}.intoto.json`,
  () => `${JSON.stringify(provenance(release, artifacts, repository.url, builder), null, 2)}\n`,
);
const sums = join(folder, 'SHA256SUMS');
await add('SHA256SUMS', () => artifacts.map((each) => `${each.sha256}  ${each.name}\n`).join(''));
const signed = await signFile(sums, key.secret, { trustedComment: `docshelf ${version}` });
await add('SHA256SUMS.minisig', () => signed);
await add('minisign.pub', () => key.public);

for (const { name: file, bytes, seconds } of artifacts) {
  console.log(`${toMiB(bytes).padStart(10)}  ${seconds.toFixed(1).padStart(6)} s  ${file}`);
}
console.log(
  `Created ${artifacts.length} files of docshelf ${version} (commit ${release.revision.slice(0, 12)}) in ${folder}.`,
);
if (key.isEphemeral) console.log('SHA256SUMS is signed with a key that exists for this run only.');

async function add(file: string, create: () => string | Buffer | Promise<Buffer>): Promise<void> {
  const begin = performance.now();
  const content = Buffer.from(await create());
  writeFileSync(join(folder, file), content);
  artifacts.push({
    name: file,
    sha256: sha256(content),
    bytes: content.length,
    seconds: (performance.now() - begin) / 1000,
  });
}

function signingKey(): { readonly secret: string; readonly public: string; readonly isEphemeral: boolean } {
  const file = values['signing-key-file'];
  const secret = file === undefined ? process.env.DOCSHELF_RELEASE_KEY : readFileSync(file, 'utf8');
  if (secret !== undefined) return { secret, public: publicHalf(secret), isEphemeral: false };
  if (!isDryRun)
    fail('no key signs this release: pass --signing-key-file or DOCSHELF_RELEASE_KEY, with a key of "minisign -G -W"');
  return { ...newMinisignKey(), isEphemeral: true };
}

/** Public key, which is a part of minisign's secret key, at its end before the checksum. */
function publicHalf(secret: string): string {
  const bytes = Buffer.from(secret.trim().split('\n').at(-1) ?? '', 'base64');
  const text = Buffer.concat([Buffer.from('Ed'), bytes.subarray(54, 62), bytes.subarray(94, 126)]).toString('base64');
  return `untrusted comment: minisign public key ${parsePublicKey(text).keyId}\n${text}\n`;
}

function fail(reason: string): never {
  console.error(`release: ${reason}`);
  process.exit(64);
}
