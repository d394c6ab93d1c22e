import { Command, InvalidArgumentError } from 'commander';
import type { Operation } from '../domain/operation.ts';
import { isVersion } from '../domain/version.ts';

export type CommonOptions = { readonly config?: string; readonly json?: boolean };

export type DaemonChoice = { readonly pid?: number; readonly adminUrl?: string };

export interface SiteChoice extends CommonOptions, Pick<DaemonChoice, 'adminUrl'> {
  readonly site?: string;
}

export type ActionOptions = SiteChoice & DaemonChoice;

export class DocshelfCommand extends Command {
  readonly example: string;
  readonly isGroup: boolean;

  constructor(name: string, description: string, example: string, isGroup = false) {
    super(name);
    this.example = example;
    this.isGroup = isGroup;
    this.description(description).addHelpText('after', `\nExample:\n  ${example}`);
  }
}

export function group(name: string, description: string, example: string, commands: readonly Command[]): Command {
  const parent = new DocshelfCommand(name, description, example, true);
  for (const child of commands) parent.addCommand(child);
  return parent;
}

export function command(name: string, description: string, example: string): Command {
  return new DocshelfCommand(name, description, example)
    .option('--config <file>', 'Config file (default: DOCSHELF_CONFIG, else ./config.yaml)')
    .option('--json', 'Print JSON');
}

export function daemonCommand(name: string, description: string, example: string): Command {
  return command(name, description, example)
    .option('--pid <pid>', 'Process id of the daemon to use, if several run on the data folder', processId)
    .option('--admin-url <url>', 'Admin URL of a daemon on another machine (set DOCSHELF__ADMIN__TOKEN to its token)');
}

export const siteCommand = (name: string, description: string, example: string): Command =>
  withSite(command(name, description, example));

export const withSite = (parent: Command): Command =>
  parent.option('--site <domain>', 'Site to use, if the config has several');

export const actionCommand = (name: string, { summary }: Pick<Operation, 'summary'>, example: string): Command =>
  daemonCommand(name, summary, example);

/** @param read parser of the value, which returns null for invalid text */
export function parserOf<T>(read: (text: string) => T | null, rule: string): (text: string) => T {
  return (text) => {
    const value = read(text);
    if (value === null) throw new InvalidArgumentError(rule);
    return value;
  };
}

export const versionLabel = parserOf(
  (text) => (isVersion(text) ? text : null),
  'Use a version such as 2024-06-01 or v3.2.0.',
);
export const portNumber = parserOf(
  (text) => (/^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : null),
  'Use a number from 0 to 65535; 0 selects a free port.',
);
const processId = parserOf(
  (text) => (/^[1-9]\d{0,9}$/.test(text) ? Number(text) : null),
  'Use a process id such as 4711.',
);
