import { type CommandDefinition, listDefinitions, type OptionDefinition } from './definitions.ts';

const FILES: readonly (readonly [name: string, text: string])[] = [
  ['./config.yaml', 'the config, where neither --config nor DOCSHELF_CONFIG names another'],
  ['./data', 'the data folder, where storage.dir names no other'],
  ['./bundles', 'archives that are taken in at start, where staticExport.preload names no other folder'],
];
const ENVIRONMENT: readonly (readonly [name: string, text: string])[] = [
  ['DOCSHELF_CONFIG', 'the config file'],
  ['DOCSHELF__SECTION__KEY', 'a value of the config; with __FILE behind it, a file that holds the value'],
  ['DOCSHELF_API_KEY', 'the admin key of the export commands'],
  ['NO_COLOR', 'no colours in the log, whatever the terminal'],
  ['NOTIFY_SOCKET', 'set by systemd: the daemon tells when it is ready and when it stops'],
];
const EXIT_CODES: readonly (readonly [name: string, text: string])[] = [
  ['0', 'done'],
  ['64', 'the command line is wrong'],
  ['65', 'an archive is refused'],
  ['69', 'something needed is not there or does not answer'],
  ['70', 'a fault of docshelf itself'],
  ['73', 'something cannot be written'],
  ['77', 'a key is missing, or may not do that'],
  ['78', 'the config has a fault'],
];

/** The man page docshelf(1), from the same definitions that the program parses, in the macros of man(7). */
export function manPage(program: CommandDefinition, version: string): string {
  const commands = listDefinitions(program).filter(({ path, commands: below }) => path !== '' && below.length === 0);
  return `${[
    '.\\" Generated from the definitions of the commands.',
    `.TH DOCSHELF 1 "" "docshelf ${version}" "User Commands"`,
    '.SH NAME',
    'docshelf \\- serve, swap and search documentation bundles, online or offline',
    '.SH SYNOPSIS',
    '.B docshelf',
    '.I command',
    '.RI [ options ]',
    '.SH DESCRIPTION',
    escaped(program.description),
    '.SH COMMANDS',
    ...commands.flatMap(commandLines),
    '.SH "EXIT STATUS"',
    ...EXIT_CODES.flatMap(termLines),
    '.SH ENVIRONMENT',
    ...ENVIRONMENT.flatMap(termLines),
    '.SH FILES',
    ...FILES.flatMap(termLines),
  ].join('\n')}\n`;
}

function commandLines({ path, description, example, arguments: places, options }: CommandDefinition): string[] {
  const terms = places.map(({ term }) => term);
  return [
    `.SS "${escaped(['docshelf', path, ...terms].join(' '))}"`,
    `${escaped(sentence(description))}`,
    ...places
      .filter((place) => place.description !== '')
      .flatMap((place) => termLines([place.term, place.description])),
    ...options.flatMap(optionLines),
    ...(example === null ? [] : ['.PP', 'Example:', '.PP', '.nf', '.RS', escaped(example), '.RE', '.fi']),
  ];
}

function optionLines({ flags, description }: OptionDefinition): string[] {
  return termLines([flags, description]);
}

function termLines([term, text]: readonly [string, string]): string[] {
  return ['.TP', `.B ${escaped(term)}`, escaped(text)];
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** roff takes a backslash, a minus, and a dot or quote at a line's beginning for its own. */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('"', '\\(dq')
    .replaceAll("'", '\\(aq')
    .replace(/^\./, '\\&.');
}
