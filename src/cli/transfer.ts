import { once } from 'node:events';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { constants, copyFile, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, posix, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import type { Command } from 'commander';
import { extract } from 'tar-stream';
import { signatureSlice } from '../app/slices.ts';
import { inspectArchive, isByProduct, signFile, verifyFile } from '../archive/index.ts';
import { readText } from '../config/read-config-file.ts';
import type { Delivered } from '../deploy/index.ts';
import { DocshelfError, errnoOf, rethrowAs, stateOf } from '../domain/errors.ts';
import { SIGNATURE_EXTENSION } from '../domain/file-name.ts';
import { ARCHIVE_LIMITS } from '../domain/limits.ts';
import { counted } from '../domain/text.ts';
import { compareFileNames, versionFromFileName } from '../domain/version.ts';
import { digestFile, listFiles, temporaryFolder } from '../files/index.ts';
import { importArchive, sentenceOf } from './bundle/import.ts';
import { type CommonOptions, command, group, type SiteChoice, siteCommand } from './command.ts';
import { loadSite } from './load-config.ts';
import { printResult, toMiB } from './output.ts';

export function transferCommand(programVersion: string): Command {
  return group(
    'transfer',
    'Move the image, the chart, and bundles across an air gap in one folder',
    'docshelf transfer pack --bundle acme-export-2026-11-01.tar.gz --output transfer',
    [packCommand(programVersion), unpackCommand()],
  );
}

function packCommand(programVersion: string): Command {
  return command(
    'pack',
    'Create a transfer folder of the given files, with checksums and a list of software parts',
    'docshelf transfer pack --image docshelf.tar --chart docshelf-0.1.0.tgz --bundle acme-export-2026-11-01.tar.gz --output transfer',
  )
    .requiredOption('--output <folder>', 'Folder to create')
    .option('--image <file>', 'Image archive of "docker save", "podman save", or "buildah push … oci-archive:…"')
    .option('--chart <file>', 'Chart archive of "helm package"')
    .option('--program <files...>', 'Packages of the program for hosts: archives, Debian packages, or npm packages')
    .option('--bundle <files...>', 'Bundles, each with its .minisig signature file if there is one')
    .option('--public-key <files...>', 'Trusted minisign public keys (if set, every bundle needs a valid signature)')
    .option('--signing-key-file <file>', 'Minisign secret key without a password, to sign the checksums')
    .option('--sbom-file <file>', 'List of software parts in CycloneDX format (default: the list of this program)')
    .action(async (options: PackOptions & CommonOptions) => {
      printResult(options, await packTransfer(options, programVersion), ({ files, folder }) => {
        const size = toMiB(files.reduce((sum, { bytes }) => sum + bytes, 0));
        return `Packed ${counted(files.length, 'file')} (${size}) into ${folder}. For the next steps, see its README.txt.`;
      });
    });
}

function unpackCommand(): Command {
  return siteCommand(
    'unpack',
    'Check a transfer folder and import its bundles',
    'docshelf transfer unpack transfer --public-key minisign.pub --config config.yaml',
  )
    .argument('<folder>', 'Transfer folder, or - for a tar of it from standard input')
    .option('--public-key <files...>', 'Trusted minisign public keys (default: staticExport.signature.publicKeys)')
    .option('--verify-only', 'Check the folder, but import no bundles')
    .option('--no-activate', 'Store the bundles, but keep the active version')
    .action(async (folder: string, options: UnpackOptions) => {
      printResult(options, await unpackTransfer(folder, options), ({ files, signatures, unsigned, imported }) =>
        [
          ...signatures.map(({ file, keyId }) => `${file} is signed with key ${keyId}.`),
          ...(unsigned.length > 0 ? [`Not signed: ${unsigned.join(', ')}.`] : []),
          `${counted(files.length, 'file matches its checksum', 'files match their checksums')}.`,
          ...imported.map(sentenceOf),
        ].join('\n'),
      );
    });
}

interface PackOptions {
  readonly output: string;
  readonly image?: string;
  readonly chart?: string;
  readonly program?: readonly string[];
  readonly bundle?: readonly string[];
  readonly publicKey?: readonly string[];
  readonly signingKeyFile?: string;
  readonly sbomFile?: string;
}

const OWN_SBOM = new URL('../sbom.json', import.meta.url);
const KEY_BYTES_MAX = 64 * 1024;

/** @throws DocshelfError `usage`, `cannot_read`, `cannot_write`, `no_signature`, `bad_signature`, and the codes of archives */
async function packTransfer(
  options: PackOptions,
  programVersion: string,
): Promise<{ folder: string; files: readonly TransferFile[] }> {
  const { image, chart, program = [], bundle = [], publicKey = [] } = options;
  const folder = resolve(options.output);
  if (image === undefined && chart === undefined && program.length === 0 && bundle.length === 0) {
    throw new DocshelfError('usage', 'Cannot pack a transfer: no files are given', {
      next: 'Pass files with --image, --chart, --program, or --bundle.',
    });
  }
  if (existsSync(folder)) {
    throw new DocshelfError('cannot_write', `Cannot create "${folder}": it already exists`, {
      next: 'Pass another folder with --output, or remove this folder.',
    });
  }
  const keys = await Promise.all(publicKey.map(readKey));
  await using working = await makeWork(folder);
  const work = working.path;
  if (image !== undefined) await copyImage(image, work);
  if (chart !== undefined) {
    await copyInto(chart, work, 'chart');
    await writeFile(join(work, VALUES_FILE), valuesText(options));
  }
  for (const file of program) await copyInto(file, work, 'program');
  for (const file of bundle) await copyBundle(file, work, keys);
  await copySbom(options.sbomFile, work);
  await writeFile(join(work, 'README.txt'), readmeText(options, await listFiles(work), programVersion));
  const files = await digestFolder(work);
  const sums = join(work, SUMS_FILE);
  await writeFile(sums, files.map(({ sha256, path }) => `${sha256}  ${path}\n`).join(''));
  if (options.signingKeyFile !== undefined) {
    const signature = await signFile(sums, await readKey(options.signingKeyFile), { trustedComment: SUMS_FILE });
    await writeFile(sums + SIGNATURE_EXTENSION, signature);
  }
  await rename(work, folder);
  return { folder, files };
}

async function copyBundle(file: string, work: string, keys: readonly string[]): Promise<void> {
  await refuseUnreadable(file);
  await inspectArchive(file, { name: basename(file), limits: ARCHIVE_LIMITS, foldsCase: false });
  const signature = await readFile(file + SIGNATURE_EXTENSION, 'utf8').catch(() => null);
  if (keys.length > 0 && signature === null) {
    throw new DocshelfError('no_signature', `Cannot trust "${basename(file)}": it has no signature`, {
      next: `Put "${basename(file)}${SIGNATURE_EXTENSION}" next to "${basename(file)}", or omit --public-key.`,
    });
  }
  if (keys.length > 0 && signature !== null) await verifyFile(file, signature, keys);
  await copyInto(file, work, 'bundles');
  if (signature !== null) await writeFile(join(work, 'bundles', basename(file) + SIGNATURE_EXTENSION), signature);
}

async function copyInto(file: string, work: string, place: string): Promise<void> {
  const name = basename(file);
  if (!PLAIN_NAME.test(name)) {
    throw new DocshelfError('usage', `Cannot pack "${file}": its name contains special characters`, {
      next: 'Rename the file: use only letters, digits, ".", "_", "+", "@", and "-".',
    });
  }
  await refuseUnreadable(file);
  const target = join(work, place, name);
  await mkdir(dirname(target), { recursive: true });
  // Fail if the target exists (COPYFILE_EXCL), because two bundles can have the same name. Use a reflink if possible.
  await copyFile(file, target, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL).catch(
    rethrowAs(
      'cannot_write',
      `copy "${file}"`,
      'Check that no two files have the same name, and that the disk has free space.',
    ),
  );
}

/** Maximum ratio of compressed to original size of an image. With a larger ratio, compression does not save enough space. */
const COMPRESSED_SHARE_MAX = 0.9;

/** Compresses the image, except if its layers are already compressed. Container engines load both formats. */
async function copyImage(file: string, work: string): Promise<void> {
  await copyInto(file, work, 'image');
  const copy = join(work, 'image', basename(file));
  const packed = `${copy}.gz`;
  await pipeline(createReadStream(copy), createGzip(), createWriteStream(packed)).catch(
    rethrowAs('cannot_write', `compress "${file}"`, 'Check that the disk has free space.'),
  );
  const [before, after] = await Promise.all([stat(copy), stat(packed)]);
  await rm(after.size < before.size * COMPRESSED_SHARE_MAX ? copy : packed);
}

async function copySbom(file: string | undefined, work: string): Promise<void> {
  const next = 'Run "npm run build" to create the list, or pass a list with --sbom-file.';
  const text = await readFile(file ?? OWN_SBOM, 'utf8').catch(
    rethrowAs('cannot_read', 'read the list of software parts', next),
  );
  await writeFile(join(work, 'sbom.cdx.json'), text);
}

function makeWork(folder: string) {
  const next = 'Pass --output with a folder whose parent folder is writable.';
  return mkdir(dirname(folder), { recursive: true })
    .then(() => temporaryFolder(`${folder}.part-`))
    .catch(rethrowAs('cannot_write', `create "${folder}"`, next));
}

async function refuseUnreadable(file: string): Promise<void> {
  const state = await stat(file).then((info) => (info.isFile() ? null : 'it is not a file'), stateOf);
  if (state === null) return;
  throw new DocshelfError('cannot_read', `Cannot read "${file}": ${state}`, { next: 'Pass an existing file.' });
}

async function readKey(file: string): Promise<string> {
  const next = 'Pass the file that contains the minisign key.';
  const reading = readText(file, KEY_BYTES_MAX).catch(rethrowAs('cannot_read', `read the key "${file}"`, next));
  return (await reading).trim();
}

const VALUES_FILE = 'values.yaml';

/** Values for the Helm chart. The operator adds the registry of the target network, which is unknown here. */
function valuesText({ bundle = [] }: PackOptions): string {
  const domain = domainOf(bundle);
  return `# Values of the chart for a cluster without an internet connection.
# Name your registry with --set image.repository=REGISTRY/docshelf.
deployment:
  type: air-gapped
${domain === undefined ? '  # domain: acme     # the domain of your bundles' : `  domain: ${domain}`}
`;
}

function domainOf(bundles: readonly string[]): string | undefined {
  return bundles.flatMap((file) => /^([a-z0-9-]+?)-export-/.exec(basename(file))?.[1] ?? [])[0];
}

function readmeText(
  { chart, bundle = [], signingKeyFile, sbomFile }: PackOptions,
  files: readonly string[],
  programVersion: string,
): string {
  const listed = sbomFile === undefined ? `docshelf ${programVersion}, which packed this folder` : 'docshelf';
  const image = files.find((path) => path.startsWith('image/'));
  const program = files.find((path) => path.startsWith('program/'));
  const isForCluster = image !== undefined || chart !== undefined;
  // `transfer unpack` activates the newest bundle by file name. A bundle from standard input has no file name, so it needs --version.
  const newest = bundle
    .map((file) => basename(file))
    .sort(compareFileNames)
    .at(-1);
  const signed =
    'minisign -V -p minisign.pub -m SHA256SUMS    (or docshelf transfer unpack . --verify-only --public-key minisign.pub)';
  /** Label and command of a line in the instructions. False if the folder lacks the files that the command needs. */
  type Row = readonly [label: string, command: string] | false;
  const host: Row[] = [
    [
      'Create the config on a host',
      `docshelf init --yes --type air-gapped --domain ${domainOf(bundle) ?? 'DOMAIN'} --config ../config.yaml    (once, not in this folder)`,
    ],
    newest !== undefined && [
      'Import all bundles on a host',
      'docshelf transfer unpack . --config ../config.yaml    (if the config has several sites, add --site DOMAIN)',
    ],
    ['Start the daemon on a host', 'docshelf serve --config ../config.yaml'],
    [
      'Or run the daemon as a service',
      'see "Air gap on a host" in the manual    (the other commands then need sudo and --config /etc/docshelf/config.yaml)',
    ],
    ['List versions on a host', 'docshelf bundle list --config ../config.yaml'],
    ['Roll back on a host', 'docshelf bundle rollback --config ../config.yaml'],
  ];
  const pod: Row[] = [
    newest !== undefined && [
      'Import all bundles into a pod',
      'tar -cf - . | kubectl --namespace docs exec -i deploy/docshelf -- docshelf transfer unpack -',
    ],
    newest !== undefined && [
      'Import one bundle into a pod',
      `kubectl --namespace docs exec -i deploy/docshelf -- docshelf bundle import - --version ${versionFromFileName(newest) ?? 'VERSION'} < bundles/${newest}`,
    ],
    ['List versions of a pod', 'kubectl --namespace docs exec deploy/docshelf -- docshelf bundle list'],
  ];
  const rows: Row[] = [
    ['Check the checksums', 'sha256sum --check SHA256SUMS'],
    ['Check the signature', signingKeyFile === undefined ? 'the folder is not signed' : signed],
    image !== undefined && [
      'Load the image',
      `docker load --input ${image}    (or podman load; then push it to your registry)`,
    ],
    chart !== undefined && [
      'Install the chart',
      `helm upgrade --install docshelf chart/${basename(chart)} --namespace docs --create-namespace --values values.yaml --set image.repository=REGISTRY/docshelf    (for an upgrade, --reset-then-reuse-values instead of --values values.yaml)`,
    ],
    program !== undefined && ['Install on a host', installCommand(program)],
    // List both the commands for hosts and for clusters if the folder contains no program, image or chart.
    ...(program !== undefined || !isForCluster ? host : []),
    ...(isForCluster || program === undefined ? pod : []),
  ];
  const lines = rows.flatMap((row) => (row === false ? [] : [`${`${row[0]}:`.padEnd(33)}${row[1]}`]));
  return `This folder contains the files that a docshelf deployment needs from outside. Run the commands in this folder.
${lines.join('\n')}
The file sbom.cdx.json (CycloneDX 1.6) lists the software parts of ${listed}, with digests and licenses.
`;
}

function installCommand(path: string): string {
  if (path.endsWith('.deb')) return `sudo dpkg --install ${path}`;
  const archive = /(docshelf-[^/]+-linux-[^/]+)\.tar\.gz$/.exec(path)?.[1];
  if (archive !== undefined) return `sudo tar -xzf ${path} -C /opt && export PATH="/opt/${archive}/bin:$PATH"`;
  return `npm install --global ${path}`;
}

interface UnpackOptions extends SiteChoice {
  readonly publicKey?: readonly string[];
  readonly verifyOnly?: boolean;
  readonly activate: boolean;
}

type VerifiedSignature = { readonly file: string; readonly keyId: string; readonly trustedComment: string };

/** Checks all files of a transfer before it imports the first bundle. */
async function unpackTransfer(given: string, options: UnpackOptions) {
  // With --verify-only and --public-key, the command needs no config.
  const isAlone = options.verifyOnly === true && options.publicKey !== undefined;
  const site = isAlone ? null : await loadSite(options);
  const signature = site && signatureSlice(site.config);
  const trusted = options.publicKey && (await Promise.all(options.publicKey.map(readKey)));
  const keys = trusted ?? signature?.publicKeys ?? [];

  // Unpack standard input in the data folder if it exists, because in a container only this folder has space for the files.
  const dataDir = site?.config.storage.dir;
  const place = dataDir !== undefined && existsSync(dataDir) ? dataDir : tmpdir();
  const toWriteFault = rethrowAs('cannot_write', `write to "${place}"`);
  await using piped = given === '-' ? await temporaryFolder(join(place, '.transfer-')).catch(toWriteFault) : null;
  const folder = piped === null ? resolve(given) : await unpackPiped(process.stdin, piped.path);
  const files = await digestFolder(folder).catch(rethrowAs('cannot_read', `read "${folder}"`));
  checkSums(await readSums(folder), files);
  const bundles = files
    .map(({ path }) => path)
    .filter((path) => path.startsWith('bundles/') && !path.endsWith(SIGNATURE_EXTENSION))
    .sort(compareFileNames);
  const signatures = await verifySignatures(folder, [SUMS_FILE, ...bundles], keys);
  const vouched = new Set(signatures.map(({ file }) => file));
  const unsigned = vouched.has(SUMS_FILE) ? [] : bundles.filter((path) => !vouched.has(path));
  const mustBeSigned = options.publicKey !== undefined || signature?.required === true;
  if (mustBeSigned && unsigned[0] !== undefined) {
    const state = `Cannot trust "${unsigned[0]}": neither it nor ${SUMS_FILE} is signed`;
    throw new DocshelfError('no_signature', state, {
      next: 'Sign the bundle with minisign, or pack the folder again with --signing-key-file.',
    });
  }

  const imported: Delivered[] = [];
  if (options.verifyOnly !== true && site !== null) {
    for (const path of bundles) {
      const request = { fileName: basename(path), version: null, signature: null, activate: options.activate };
      const taken = await importArchive(site, { json: options.json === true }, { file: join(folder, path) }, request);
      imported.push(taken.delivered);
    }
  }
  return { folder, files, signatures, unsigned, imported };
}

async function verifySignatures(folder: string, paths: readonly string[], keys: readonly string[]) {
  const verified: VerifiedSignature[] = [];
  if (keys.length === 0) return verified;
  for (const path of paths) {
    const file = join(folder, path);
    const text = await readFile(file + SIGNATURE_EXTENSION, 'utf8').catch(() => null);
    if (text !== null) verified.push({ file: path, ...(await verifyFile(file, text, keys, { name: path })) });
  }
  return verified;
}

const SUMS_FILE = 'SHA256SUMS';

type TransferFile = { readonly path: string; readonly bytes: number; readonly sha256: string };

/** Matches names that every file system accepts, and that sha256sum prints without escapes. */
const SEGMENT = '[A-Za-z0-9][A-Za-z0-9._+@-]{0,200}';
const PLAIN_NAME = new RegExp(`^${SEGMENT}$`);
const SUMS_LINE = new RegExp(`^(?<sha256>[0-9a-f]{64}) [ *](?<path>${SEGMENT}(?:/${SEGMENT})?)$`);
const SUMS_BYTES_MAX = 1024 ** 2;
/** Computes the digests of all files, in the order of their paths, except the checksums and their signature. */
async function digestFolder(folder: string): Promise<TransferFile[]> {
  const files: TransferFile[] = [];
  for (const path of await listFiles(folder)) {
    if (isOwn(path) || isStray(path)) continue;
    const file = join(folder, path);
    const info = await stat(file);
    // Reject links and pipes, because packing never creates them, and a link can lead out of the folder.
    if (!info.isFile()) throw mismatch(`"${path}" is not a file`);
    files.push({ path, bytes: info.size, sha256: await digestFile(file) });
  }
  return files;
}

const isOwn = (path: string): boolean => path === SUMS_FILE || path.startsWith(`${SUMS_FILE}.`);

/** True for files that file managers and operating systems add to a folder or a removable disk. */
function isStray(path: string): boolean {
  const VOLUME =
    /^(?:\.Trash[^/]*|\.Spotlight-V100|\.fseventsd|\.TemporaryItems|System Volume Information|\$RECYCLE\.BIN)\//i;
  return isByProduct(path) || VOLUME.test(path) || /(?:^|\/)\.directory$/.test(path);
}

/** Error codes if the path of a tar entry is too long, or if the tar contains the path both as a file and as a folder. */
const BAD_PATH: ReadonlySet<string> = new Set(['EEXIST', 'EISDIR', 'ENAMETOOLONG', 'ENOTDIR']);
const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);

/** Unpacks a tar of a transfer. @returns the folder in it that contains the checksums, which can have any name */
async function unpackPiped(input: Readable, folder: string): Promise<string> {
  const files = extract();
  await once(input, 'readable');
  const first: Buffer = input.read() ?? Buffer.alloc(0);
  input.unshift(first);
  const isGzip = first.subarray(0, 2).equals(GZIP_MAGIC);
  const reading = isGzip ? pipeline(input, createGunzip(), files) : pipeline(input, files);
  // Ignore a rejection of the pipeline, because the loop over its entries throws the same error.
  reading.catch(() => undefined);
  try {
    for await (const entry of files) {
      const path = posix.normalize(entry.header.name);
      const isFile = entry.header.type === 'file' && !path.startsWith('../');
      if (!isFile && entry.header.type !== 'directory') throw mismatch(`"${path}" is not a file`);
      const target = join(folder, path);
      await mkdir(isFile ? dirname(target) : folder, { recursive: true });
      if (isFile) await writeFile(target, entry as AsyncIterable<Buffer>, { mode: 0o600 });
      else entry.resume();
    }
    await reading;
  } catch (error) {
    const errno = errnoOf(error);
    if (error instanceof DocshelfError || (errno !== undefined && !BAD_PATH.has(errno))) throw error;
    throw mismatch(
      `standard input is not a complete tar (${error instanceof Error ? error.message : 'unknown error'})`,
    );
  }
  const sums = (await listFiles(folder)).filter((path) => basename(path) === SUMS_FILE);
  const [shortest] = sums.sort((a, b) => a.length - b.length);
  if (shortest !== undefined) return join(folder, dirname(shortest));
  throw new DocshelfError('cannot_read', `Cannot read the transfer: standard input contains no ${SUMS_FILE}`, {
    next: 'Pipe a tar of a folder that "docshelf transfer pack" created.',
  });
}

/** Rejects files that the checksums do not list. @throws DocshelfError `manifest_mismatch`, `wrong_digest` */
function checkSums(expected: ReadonlyMap<string, string>, files: readonly TransferFile[]): void {
  const paths = new Set(files.map(({ path }) => path));
  const named = new Set(expected.keys());
  const fewOf = (some: Set<string>) => [...some].slice(0, 5).join(', ');
  const strangers = paths.difference(named);
  if (strangers.size > 0) {
    const next = 'Move your own files out of the folder. If you did not add these files, copy the whole folder again.';
    throw mismatch(`its ${SUMS_FILE} does not list ${fewOf(strangers)}`, next);
  }
  const missing = named.difference(paths);
  if (missing.size > 0) throw mismatch(`${fewOf(missing)} is missing, but its ${SUMS_FILE} lists it`);
  for (const { path, sha256: found } of files) {
    const sum = expected.get(path);
    if (found === sum) continue;
    throw new DocshelfError('wrong_digest', `Cannot use "${path}": its SHA-256 is ${found}, expected ${sum}`, {
      next: 'Copy the file again: it changed during the transfer.',
      fields: { expected: sum, found },
    });
  }
}

async function readSums(folder: string): Promise<ReadonlyMap<string, string>> {
  const file = join(folder, SUMS_FILE);
  const text = await readText(file, SUMS_BYTES_MAX).catch(
    rethrowAs('cannot_read', `read "${file}"`, 'Pass a folder that "docshelf transfer pack" created.'),
  );
  const sums = new Map<string, string>();
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const { path, sha256 } = SUMS_LINE.exec(line)?.groups ?? {};
    if (path === undefined || sha256 === undefined) throw mismatch(`its ${SUMS_FILE} contains an invalid line`);
    sums.set(path, sha256);
  }
  return sums;
}

function mismatch(state: string, next = 'Copy the whole folder again. docshelf imported no bundle from it.') {
  return new DocshelfError('manifest_mismatch', `Cannot use the transfer: ${state}`, { next });
}
