import { type Command, Option } from 'commander';
import { DocshelfError } from '../domain/errors.ts';
import { KEY_TYPES, type KeyType } from '../domain/organization.ts';
import { newKey } from '../http/keys/key-store.ts';
import { type CommonOptions, command, group } from './command.ts';
import { printResult } from './output.ts';

interface CreateOptions extends CommonOptions {
  readonly org: string;
  readonly type: KeyType;
  readonly id?: string;
}

/** Matches names of organizations and ids of keys, as the config schema does. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

export function keysCommand(): Command {
  return group(
    'keys',
    'Create keys for the search and export API',
    'docshelf keys create --org acme --type assistant',
    [
      command(
        'create',
        'Create a key and print it once (the config contains only its digest)',
        'docshelf keys create --org acme --type admin --id ci',
      )
        .requiredOption('--org <id>', 'Organization that owns the key')
        .addOption(
          new Option('--type <type>', 'Type of the key: admin (secret, may export) or assistant (public, may search)')
            .choices(KEY_TYPES)
            .makeOptionMandatory(),
        )
        .option('--id <name>', 'Name of the key (default: its type and the beginning of its digest)')
        .action((options: CreateOptions) => printResult(options, createKey(options), pageOf)),
    ],
  );
}

/** @throws DocshelfError `usage` for a name that the config would reject */
export function createKey({ org, type, id }: Pick<CreateOptions, 'org' | 'type' | 'id'>) {
  const { key, sha256 } = newKey(type);
  return {
    key,
    organization: checkedName(org, '--org'),
    id: checkedName(id ?? `${type}-${sha256.slice(0, 8)}`, '--id'),
    type,
    sha256,
  };
}

function checkedName(name: string, option: string): string {
  if (NAME.test(name)) return name;
  throw new DocshelfError('usage', `Cannot create a key: ${option} is not a valid name`, {
    next: 'Use 1 to 128 letters, digits, ".", "_", or "-", beginning with a letter or a digit.',
  });
}

function pageOf({ key, organization, id, type, sha256 }: ReturnType<typeof createKey>): string {
  const use =
    type === 'admin' ? 'This key is a secret: store it only on servers.' : 'This key is public: pages may contain it.';
  return `${key}

docshelf shows the key only once. ${use}
Add its digest to the config:

organizations:
  - id: ${organization}
    keys:
      - { id: ${id}, type: ${type}, sha256: ${sha256} }`;
}
