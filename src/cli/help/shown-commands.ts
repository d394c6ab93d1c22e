import { type Argument, type Command, Help, type Option } from 'commander';

const help = new Help();

/** `site`: the domain of one of the sites, which the program is asked for. */
export type ValueKind = readonly string[] | 'file' | 'folder' | 'site' | 'any';

export type ShownCommand = ReturnType<typeof shownCommand>;
export type ShownOption = ShownCommand['options'][number];

/** The program and all commands below it, each before those below it. */
export function shownCommands(command: Command, path = ''): ShownCommand[] {
  const below = help.visibleCommands(command).filter((child) => child.name() !== 'help');
  const pathOf = (child: Command) => `${path} ${child.name()}`.trimStart();
  return [
    shownCommand(command, path, below.map(pathOf)),
    ...below.flatMap((child) => shownCommands(child, pathOf(child))),
  ];
}

function shownCommand(command: Command, path: string, children: readonly string[]) {
  return {
    /** `bundle import`; empty for the program itself. */
    path,
    parent: path.includes(' ') ? path.slice(0, path.lastIndexOf(' ')) : '',
    name: nameOf(path),
    description: command.description(),
    children,
    places: command.registeredArguments.map((argument) => ({
      term: termOf(argument),
      description: argument.description,
      value: kindOf(argument.name(), argument.argChoices),
    })),
    // With --help, without what is hidden.
    options: help.visibleOptions(command).map(shownOption),
    command,
  };
}

function shownOption(option: Option) {
  const placeholder = /[<[]([^\]>.]+)/.exec(option.flags)?.[1];
  return {
    flags: option.flags,
    long: option.long ?? option.flags,
    description: help.optionDescription(option),
    placeholder,
    value: placeholder === undefined ? null : kindOf(placeholder, option.argChoices),
  };
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf(' ') + 1);
}

function termOf(argument: Argument): string {
  const name = argument.name() + (argument.variadic ? '...' : '');
  return argument.required ? `<${name}>` : `[${name}]`;
}

/** By the name of the place: `<file>`, `<key-file>`, `<archive-or-version>` take files. */
function kindOf(name: string, choices: readonly string[] | undefined): ValueKind {
  if (choices !== undefined) return choices;
  if (name === 'domain') return 'site';
  if (/(?:^|-)(?:files?|archive)(?:$|-)/.test(name)) return 'file';
  return /(?:^|-)(?:folder|dir)$/.test(name) ? 'folder' : 'any';
}
