import type { Command } from 'commander';
import { DocshelfCommand } from '../src/cli/command.ts';
import { type ShownCommand, shownCommands } from '../src/cli/completion.ts';

type Terms = Readonly<Record<string, string>>;

const FILES: Terms = {
  './config.yaml': 'Config file, unless --config or DOCSHELF_CONFIG names another file',
  './data': 'Data folder, unless storage.dir names another folder',
  './bundles': 'Archives that the daemon imports at start, unless staticExport.preload names another folder',
};
const ENVIRONMENT: Terms = {
  DOCSHELF_CONFIG: 'Config file',
  DOCSHELF__SECTION__KEY: 'Value of a setting; with __FILE at its end, a file that contains the value',
  DOCSHELF_API_KEY: 'Admin key of the export commands',
  NO_COLOR: 'Turns colors in the log off',
  NOTIFY_SOCKET: 'Set by systemd: the daemon reports when it is ready and when it stops',
};
const EXIT_CODES: Terms = {
  0: 'Success',
  64: 'Invalid command line',
  65: 'Rejected archive',
  69: 'A file, a host, or the daemon is unavailable',
  70: 'Internal error of docshelf',
  73: 'A file cannot be written',
  77: 'A key is missing, or lacks the permission',
  78: 'Invalid config',
};

export function manPage(program: Command, version: string): string {
  const commands = shownCommands(program).filter(
    ({ command }) => command instanceof DocshelfCommand && !command.isGroup,
  );
  return `.\\" Generated from the definitions of the commands.
.TH DOCSHELF 1 "" "docshelf ${version}" "User Commands"
.SH NAME
docshelf \\- serve, switch, and search documentation bundles, online or offline
.SH SYNOPSIS
.B docshelf
.I command
.RI [ options ]
.SH DESCRIPTION
${escaped(program.description())}.
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
    escaped(`${description}.`),
    termLines(terms),
    ...(command instanceof DocshelfCommand
      ? ['.PP', 'Example:', '.PP', '.nf', '.RS', escaped(command.example), '.RE', '.fi']
      : []),
  ];
}

const termLines = (terms: readonly (readonly [term: string, text: string])[]): string =>
  terms.map(([term, text]) => `.TP\n.B ${escaped(term)}\n${escaped(text)}`).join('\n');

/** Escapes backslashes, minus signs, and dots or quotes at the beginning of a line, which roff interprets. */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('"', '\\(dq')
    .replaceAll("'", '\\(aq')
    .replace(/^\./, '\\&.');
}
