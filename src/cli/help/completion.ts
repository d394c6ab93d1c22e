import { Argument, type Command } from 'commander';
import { command, print, printJson } from '../command.ts';
import { bashCompletion } from './completion-bash.ts';
import { fishCompletion } from './completion-fish.ts';
import { zshCompletion } from './completion-zsh.ts';
import type { CommandDefinition } from './definitions.ts';

const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;
type Shell = keyof typeof SHELLS;

/** @param definition of the whole program, of which this command is a part */
export function completionCommand(definition: () => CommandDefinition): Command {
  return command(
    'completion',
    'print the completion script of a shell',
    'docshelf completion bash > ~/.local/share/bash-completion/completions/docshelf',
  )
    .addArgument(new Argument('<shell>', 'bash, zsh or fish').choices(Object.keys(SHELLS)))
    .action((shell: Shell, options: { readonly json?: boolean }) => {
      const script = SHELLS[shell](definition());
      if (options.json === true) printJson({ shell, script });
      else print(script.trimEnd());
    });
}
