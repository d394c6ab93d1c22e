import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, Help } from 'commander';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { DocshelfCommand } from '../../src/cli/command.ts';
import { createProgram, run } from '../../src/cli/index.ts';

const below = (parent: Command, path = ''): [string, Command][] =>
  parent.commands.flatMap((child) => {
    const own = `${path} ${child.name()}`.trimStart();
    return [[own, child] as [string, Command], ...below(child, own)];
  });

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp();
  return text;
}

describe('createProgram()', async () => {
  const commands = below(await createProgram('1.2.3'));
  const isGroup = (command: Command) => command instanceof DocshelfCommand && command.isGroup;

  it('returns a program with single commands, command groups, and groups that can also run as commands', () => {
    expect(commands.length).toBeGreaterThan(30);
    const paths = commands.map(([path]) => path);
    for (const path of ['doctor', 'bundle', 'bundle import', 'transfer unpack', 'sites', 'sites remove'])
      expect(paths).toContain(path);
  });

  it.each(commands)('shows the options and an example in the help of %s', (path, command) => {
    const help = helpOf(command);
    expect(help).toMatch(new RegExp(`^Usage: docshelf ${path}`));
    expect(help).toMatch(new RegExp(`\\nExample:\\n {2}.*docshelf ${path}`));
    for (const option of isGroup(command) ? ['--help'] : ['--json', '--config', '--help'])
      expect(help).toContain(option);
    expect(help).not.toContain('\u001b');
  });

  it.each(commands)(
    'describes the command %s and its options with a capital letter and no final period',
    (_, command) => {
      const described = [...command.registeredArguments, ...new Help().visibleOptions(command)];
      for (const text of [command.description(), ...described.map(({ description }) => description)])
        expect(text).toMatch(/^\p{Lu}.*[^.]$/u);
    },
  );

  it.each(['activate', 'remove', 'preview', 'audit'])(
    'rejects an empty version as the argument of the command bundle %s',
    async (name) => {
      const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
      onTestFinished(() => written.mockRestore());
      expect(await run(['bundle', name, ''], '1.2.3')).toBe(64);
      expect(written.mock.calls.join()).toContain("value '' is invalid for argument 'version'");
    },
  );
});

describe('the program docshelf', () => {
  const MAIN = join(import.meta.dirname, '../../src/main.ts');
  const full = openSync('/dev/full', 'w');
  afterAll(() => closeSync(full));

  it('exits with the code of the command if the disk of standard error is full', () => {
    const { status } = spawnSync(process.execPath, [MAIN, 'nope'], { stdio: ['ignore', 'pipe', full] });
    expect(status).toBe(64);
  });

  it('exits with 73 if the disk of standard output is full', () => {
    const { status, stderr } = spawnSync(process.execPath, [MAIN, 'config', 'schema'], {
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([
      73,
      expect.stringMatching(/^docshelf: Cannot write the output: ENOSPC.*\n.*\n$/),
    ]);
  });

  it.each(['bundle list', 'healthcheck'])('exits with 73 for the command %s if storage.dir is a file', (command) => {
    const { status, stdout } = spawnSync(process.execPath, [MAIN, ...command.split(' '), '--json'], {
      cwd: '/',
      env: { DOCSHELF__STORAGE__DIR: MAIN },
      encoding: 'utf8',
    });
    expect([status, JSON.parse(stdout)]).toEqual([
      73,
      {
        code: 'cannot_write',
        error: expect.stringMatching(/^Cannot write: ENOTDIR/),
        next: 'Make storage.dir a folder that the user of docshelf can write to.',
      },
    ]);
  });
});
