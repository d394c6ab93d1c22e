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

/** The same pattern as in the config schema. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

export function keysCommand(): Command {
  return group('keys', 'make keys for the search and export API', 'docshelf keys create --org acme --type assistant', [
    command(
      'create',
      'make a key: it is printed once, and what is stored is its digest',
      'docshelf keys create --org acme --type admin --id ci',
    )
      .requiredOption('--org <id>', 'the organization that it belongs to')
      .addOption(
        new Option('--type <type>', 'admin: a secret that may export; assistant: public, may search')
          .choices(KEY_TYPES)
          .makeOptionMandatory(),
      )
      .option('--id <name>', 'name of the key (default: its type and the beginning of its digest)')
      .action((options: CreateOptions) => printResult(options, createKey(options), pageOf)),
  ]);
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
  throw new DocshelfError('usage', `Cannot make a key: ${option} takes no such name`, {
    next: 'A name is 1 to 128 letters, digits, ".", "_" or "-", beginning with a letter or a digit.',
  });
}

function pageOf({ key, organization, id, type, sha256 }: ReturnType<typeof createKey>): string {
  const use =
    type === 'admin'
      ? 'It is a secret: keep it where only servers read it.'
      : 'It is public: it may stand in the code of pages.';
  return `${key}

This is the only time that the key is shown. ${use}
The config gets its digest:

organizations:
  - id: ${organization}
    keys:
      - { id: ${id}, type: ${type}, sha256: ${sha256} }`;
}
