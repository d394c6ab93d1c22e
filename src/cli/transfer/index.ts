import type { Command } from 'commander';
import { counted } from '../../domain/text.ts';
import { answer, type CommonOptions, command, group, withSite } from '../command.ts';
import { toMiB } from '../table.ts';
import { type PackOptions, packTransfer } from './pack.ts';
import { type UnpackOptions, unpackTransfer } from './unpack.ts';

export function transferCommand(): Command {
  return group(
    'transfer',
    'carry image, chart and bundles over an air gap in one folder',
    'docshelf transfer pack --bundle acme-export-2026-11-01.tar.gz --output transfer',
    [packCommand(), unpackCommand()],
  );
}

function packCommand(): Command {
  return command(
    'pack',
    'make a folder of everything that has to cross, with checksums and a list of parts',
    'docshelf transfer pack --image docshelf.tar --chart docshelf-0.1.0.tgz --bundle acme-export-2026-11-01.tar.gz --output transfer',
  )
    .requiredOption('--output <folder>', 'the folder that is made')
    .option('--image <file>', 'archive of the image: "docker save", "podman save", "buildah push … oci-archive:…"')
    .option('--chart <file>', 'the chart, as "helm package" makes it')
    .option('--bundle <files...>', 'bundles; a signature beside one (.minisig) goes with it')
    .option('--public-key <files...>', 'minisign keys: a bundle whose signature does not hold is refused')
    .option('--signing-key-file <file>', 'minisign secret key without password, that signs the checksums')
    .option('--sbom-file <file>', 'another list of parts than that of this program')
    .action(async (options: PackOptions & CommonOptions) => {
      answer(options, await packTransfer(options), ({ files, folder }) => {
        const size = toMiB(files.reduce((sum, { bytes }) => sum + bytes, 0));
        return `Packed ${counted(files.length, 'file')} (${size}) into ${folder}. Its README.txt says what to do inside.`;
      });
    });
}

function unpackCommand(): Command {
  return withSite(
    command(
      'unpack',
      'check such a folder whole, and take its bundles in',
      'docshelf transfer unpack transfer --public-key minisign.pub --config config.yaml',
    ),
  )
    .argument('<folder>', 'the folder that came over')
    .option('--public-key <files...>', 'minisign keys that may sign (default: staticExport.signature.publicKeys)')
    .option('--verify-only', 'check, and take nothing in')
    .option('--no-activate', 'only store the bundles')
    .action(async (folder: string, options: UnpackOptions) => {
      answer(options, await unpackTransfer(folder, options), ({ files, signatures, unsigned, imported }) =>
        [
          ...signatures.map(({ file, keyId }) => `${file} is signed with key ${keyId}.`),
          ...(unsigned.length > 0 ? [`Not signed: ${unsigned.join(', ')}.`] : []),
          `${counted(files.length, 'file is as it was', 'files are as they were')} packed.`,
          ...imported.map(
            ({ version, activated }) =>
              `Took in version ${version}${activated ? '; it is the active version now' : ''}.`,
          ),
        ].join('\n'),
      );
    });
}
