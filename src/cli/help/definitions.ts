import type { Argument, Command, Option } from 'commander';
import { DocshelfCommand } from '../command.ts';

/** A command as help, shell completion and the man page tell of it: plain data, read from commander's definitions. */
export interface CommandDefinition {
  /** `bundle import`; empty for the program itself. */
  readonly path: string;
  readonly description: string;
  /** Shown under the help. */
  readonly example: string | null;
  readonly arguments: readonly ArgumentDefinition[];
  readonly options: readonly OptionDefinition[];
  readonly commands: readonly CommandDefinition[];
}

/** Values of a place: one of these words, a file, a folder, or anything. */
export type ValueKind = { readonly words: readonly string[] } | 'file' | 'folder' | 'any';

export interface ArgumentDefinition {
  /** `<file>` */
  readonly term: string;
  readonly description: string;
  readonly value: ValueKind;
}

export interface OptionDefinition {
  /** `-V, --version`, `--config <file>` */
  readonly flags: string;
  /** `--config` */
  readonly long: string;
  readonly description: string;
  /** Null where it takes none. */
  readonly value: ValueKind | null;
}

export function define(command: Command): CommandDefinition {
  return defineBelow(command, []);
}

/** The command and all below it, each before those below it. */
export function listDefinitions(definition: CommandDefinition): readonly CommandDefinition[] {
  return [definition, ...definition.commands.flatMap(listDefinitions)];
}

function defineBelow(command: Command, path: readonly string[]): CommandDefinition {
  const help = command.createHelp();
  return {
    path: path.join(' '),
    description: command.description(),
    example: command instanceof DocshelfCommand ? command.example : null,
    arguments: command.registeredArguments.map((argument) => ({
      term: termOf(argument),
      description: argument.description,
      value: kindOf(argument.name(), argument.argChoices),
    })),
    // With --help, without what is hidden.
    options: help.visibleOptions(command).map(defineOption),
    commands: help
      .visibleCommands(command)
      .filter((child) => child.name() !== 'help')
      .map((child) => defineBelow(child, [...path, child.name()])),
  };
}

function termOf(argument: Argument): string {
  const name = argument.name() + (argument.variadic ? '...' : '');
  return argument.required ? `<${name}>` : `[${name}]`;
}

function defineOption(option: Option): OptionDefinition {
  const placeholder = /[<[]([^\]>.]+)/.exec(option.flags)?.[1];
  return {
    flags: option.flags,
    long: option.long ?? option.flags,
    description: describe(option),
    value: placeholder === undefined ? null : kindOf(placeholder, option.argChoices),
  };
}

/** As commander's help says it: with the choices and the default. */
function describe({ description, argChoices, defaultValue, defaultValueDescription, negate }: Option): string {
  const shown = negate || defaultValue === undefined ? null : (defaultValueDescription ?? String(defaultValue));
  const more = [
    ...(argChoices === undefined ? [] : [`one of ${argChoices.join(', ')}`]),
    ...(shown === null ? [] : [`default: ${shown}`]),
  ];
  return more.length === 0 ? description : `${description} (${more.join('; ')})`;
}

/** By the name of the place: `<file>`, `<key-file>`, `<archive-or-version>` take files. */
function kindOf(name: string, choices: readonly string[] | undefined): ValueKind {
  if (choices !== undefined) return { words: choices };
  if (/(?:^|-)(?:files?|archive)(?:$|-)/.test(name)) return 'file';
  return /(?:^|-)(?:folder|dir)$/.test(name) ? 'folder' : 'any';
}
