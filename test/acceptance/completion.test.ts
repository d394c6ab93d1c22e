import { execFile, spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DocshelfCommand } from '../../src/cli/command.ts';
import { createProgram } from '../../src/cli/index.ts';
import { openBench } from '../helpers/daemon.ts';
import { writePrograms } from '../helpers/shell.ts';

const bench = openBench(afterAll);
const run = promisify(execFile);
const DIST = join(import.meta.dirname, '../../dist');
const MAN_PAGE = join(DIST, 'man/docshelf.1');
const has = (program: string): boolean => spawnSync(program, ['--version']).error === undefined;

/** Typed text, and words that must and must not be offered: commands, options, words, files. */
const LINES: readonly [line: string, offered: readonly string[], others: readonly string[]][] = [
  ['docshelf ', ['serve', 'bundle', 'doctor', 'init', 'transfer', 'completion'], ['import']],
  ['docshelf bun', ['bundle'], ['serve']],
  ['docshelf bundle ', ['import', 'activate', 'rollback'], ['serve']],
  ['docshelf bundle import a', ['archive.tar.gz'], ['rollback']],
  ['docshelf bundle import --', ['--no-activate', '--config', '--json'], ['--type']],
  ['docshelf init --type ', ['cloud', 'client-hosted', 'air-gapped'], ['acme']],
  ['docshelf keys create --org acme --type a', ['admin', 'assistant'], ['client-hosted']],
  ['docshelf serve --config a', ['archive.tar.gz'], []],
  ['docshelf bundle activate --site ', ['acme', 'globex'], ['--json', 'SITE']],
  ['docshelf bundle list --site a', ['acme'], ['globex']],
  ['docshelf bundle list --config one.yaml --site ', ['initech'], ['acme', 'globex']],
  ['docshelf sites remove ', ['acme', 'globex'], ['SITE']],
  ['docshelf sites ', ['remove'], ['acme']],
  ['docshelf completion ', ['bash', 'zsh', 'fish'], ['serve']],
];

describe('shell completion', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await bench.folder();
    await writeFile(join(folder, 'archive.tar.gz'), '');
    await mkdir(join(folder, 'data'));
    await bench.writeConfig(folder, {
      sites: [{ domain: 'acme' }, { domain: 'globex', basePath: '/globex/' }],
      staticExport: null,
    });
    await writeFile(join(folder, 'one.yaml'), 'sites: [{ domain: initech }]\n');
    // The scripts run the program to list its sites.
    writePrograms(folder);
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { code, stdout } = await bench.run(['completion', shell]);
      expect(code).toBe(0);
      await writeFile(join(folder, `completion.${shell}`), stdout);
    }
  });

  /** Puts the program on the PATH. */
  const inFolder = () => ({ cwd: folder, env: { ...process.env, PATH: `${join(folder, 'bin')}:${process.env.PATH}` } });

  /** Words that bash offers for a line, through the function that the script registers. */
  async function offeredByBash(line: string): Promise<string[]> {
    const words = line.split(' ').map((word) => `'${word}'`);
    const script = `
      source completion.bash
      # Known only inside a real completion.
      compopt() { :; }
      COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}
      [[ $(complete -p docshelf) =~ -F\\ ([a-z_]+) ]] && "\${BASH_REMATCH[1]}"
      printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout } = await run('bash', ['--norc', '-uc', script], inFolder());
    return stdout.trim().split('\n');
  }

  test.each(LINES)('completes "%s" in bash', async (line, offered, others) => {
    const words = await offeredByBash(line);
    expect(words).toEqual(expect.arrayContaining([...offered]));
    for (const other of others) expect(words).not.toContain(other);
  });

  test.skipIf(!has('fish')).each(LINES)('completes "%s" in fish', async (line, offered, others) => {
    const { stdout } = await run('fish', ['-N', '-c', `source completion.fish; complete -C"${line}"`], inFolder());
    const words = stdout.split('\n').map((each) => each.split('\t')[0]);
    expect(words).toEqual(expect.arrayContaining([...offered]));
    for (const other of others) expect(words).not.toContain(other);
  });

  test.skipIf(!has('zsh'))('loads in zsh, and defines a zsh function for docshelf commands', async () => {
    // Completion needs a terminal, so the test only loads the script. compinit checks the words of _arguments.
    const script =
      'autoload -Uz compinit; compinit -D -u; source ./completion.zsh; print -l $_comps[docshelf]; functions +';
    const { stdout, stderr } = await run('zsh', ['-f', '-c', script], { cwd: folder });
    expect(stderr).toBe('');
    for (const name of ['_docshelf', '_docshelf_bundle_import', '_docshelf_completion', '_docshelf_init']) {
      expect(stdout.split('\n')).toContain(name);
    }
  });

  test('rejects an unknown shell, and lists the supported shells', async () => {
    const { code, stderr } = await bench.run(['completion', 'tcsh']);
    expect(code).toBe(64);
    expect(stderr).toMatch(/bash, zsh, fish/);
  });
});

const commandsUnder = (parent: Command, path = 'docshelf'): [string, Command][] =>
  parent.commands.flatMap((child) => {
    const own = `${path} ${child.name()}`;
    const isGroup = child instanceof DocshelfCommand && child.isGroup;
    return [...(isGroup ? [] : [[own, child] as [string, Command]]), ...commandsUnder(child, own)];
  });

describe('the man page', () => {
  test('describes every command with its options and an example', async () => {
    const text = (await readFile(MAN_PAGE, 'utf8')).replaceAll('\\-', '-');
    const sections = text.split(/^\.S[SH] /m);
    const commands = commandsUnder(await createProgram('1.2.3'));
    expect(commands.length).toBeGreaterThan(30);
    for (const [path, { options }] of commands) {
      const section = sections.find((part) => new RegExp(`^"${path}(?: [<[]|")`).test(part));
      expect(section, path).toMatch(new RegExp(`\\nExample:\\n[^]*\\b${path}\\b`));
      for (const { long, hidden } of options) if (!hidden) expect(section, path).toContain(long);
    }
  });

  test.skipIf(!has('mandoc') && !has('man'))('is formatted without an error', async () => {
    if (spawnSync('mandoc', ['-Tlint', '-W', 'error', MAN_PAGE]).error === undefined) {
      await run('mandoc', ['-Tlint', '-W', 'error', MAN_PAGE]);
    }
    const { stdout } = await run('man', ['--warnings', '-l', MAN_PAGE], {
      env: { ...process.env, MANPAGER: 'cat', MANWIDTH: '100' },
    });
    expect(stdout).toMatch(/EXIT STATUS/);
  });
});
