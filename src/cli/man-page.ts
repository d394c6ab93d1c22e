import type { Command } from 'commander';
import { DocshelfCommand } from './command.ts';
import { type ShownCommand, shownCommands } from './completion.ts';

type Terms = Readonly<Record<string, string>>;

const FILES: Terms = {
  './config.yaml': 'the config, where neither --config nor DOCSHELF_CONFIG names another',
  './data': 'the data folder, where storage.dir names no other',
  './bundles': 'archives that are taken in at start, where staticExport.preload names no other folder',
};
const ENVIRONMENT: Terms = {
  DOCSHELF_CONFIG: 'the config file',
  DOCSHELF__SECTION__KEY: 'a value of the config; with __FILE behind it, a file that holds the value',
  DOCSHELF_API_KEY: 'the admin key of the export commands',
  NO_COLOR: 'no colours in the log, whatever the terminal',
  NOTIFY_SOCKET: 'set by systemd: the daemon tells when it is ready and when it stops',
};
const EXIT_CODES: Terms = {
  0: 'done',
  64: 'the command line is wrong',
  65: 'an archive is refused',
  69: 'something needed is not there or does not answer',
  70: 'a fault of docshelf itself',
  73: 'something cannot be written',
  77: 'a key is missing, or may not do that',
  78: 'the config has a fault',
};

export function manPage(program: Command, version: string): string {
  const commands = shownCommands(program).filter(
    ({ command }) => command instanceof DocshelfCommand && !command.isGroup,
  );
  return `.\\" Generated from the definitions of the commands.
.TH DOCSHELF 1 "" "docshelf ${version}" "User Commands"
.SH NAME
docshelf \\- serve, swap and search documentation bundles, online or offline
.SH SYNOPSIS
.B docshelf
.I command
.RI [ options ]
.SH DESCRIPTION
${escaped(program.description())}
.SH COMMANDS
${commands.flatMap(commandLines).join('\n')}
.SH "EXIT STATUS"
${termLines(Object.entries(EXIT_CODES))}
.SH ENVIRONMENT
${termLines(Object.entries(ENVIRONMENT))}
.SH FILES
${termLines(Object.entries(FILES))}
`;
}

function commandLines({ path, description, places, options, command }: ShownCommand): string[] {
  const terms = [...places.filter((place) => place.description !== ''), ...options].map(
    (each) => ['term' in each ? each.term : each.flags, each.description] as const,
  );
  return [
    `.SS "${escaped(['docshelf', path, ...places.map(({ term }) => term)].join(' '))}"`,
    escaped(`${description.charAt(0).toUpperCase()}${description.slice(1)}.`),
    termLines(terms),
    ...(command instanceof DocshelfCommand
      ? ['.PP', 'Example:', '.PP', '.nf', '.RS', escaped(command.example), '.RE', '.fi']
      : []),
  ];
}

function termLines(terms: readonly (readonly [term: string, text: string])[]): string {
  return terms.map(([term, text]) => `.TP\n.B ${escaped(term)}\n${escaped(text)}`).join('\n');
}

/** roff interprets backslashes, minus signs, and dots or quotes at the beginning of a line. */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('"', '\\(dq')
    .replaceAll("'", '\\(aq')
    .replace(/^\./, '\\&.');
}
