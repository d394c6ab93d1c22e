import { execFileSync, spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { loadConfig } from '../../src/config/index.ts';
import { errorOf, folderWith } from './folder.ts';

/** Creates a named pipe next to a config with this text. */
async function folderWithPipe(yaml: string): Promise<string> {
  const cwd = await folderWith({ 'config.yaml': yaml });
  execFileSync('mkfifo', [join(cwd, 'pipe')]);
  return cwd;
}

const messageOf = async (cwd: string, file: string | null = null): Promise<string> =>
  (await errorOf(loadConfig({ file, env: {}, cwd }))).message;

describe('loadConfig() with a named pipe that no program writes to', () => {
  it.each([
    ['staticExport.bundleUrlFile', 'staticExport: { enabled: true, bundleUrlFile: pipe }'],
    ['server.tls.keyFile', 'server: { tls: { certFile: config.yaml, keyFile: pipe } }'],
    ['server.auth.usersFile', 'server: { auth: { kind: basic, usersFile: pipe } }'],
    ['organizationsFile', 'organizationsFile: pipe'],
  ])('rejects the pipe if the config names it as %s', async (key, yaml) => {
    expect(await messageOf(await folderWithPipe(yaml))).toMatch(
      new RegExp(`Cannot use "[^"]*pipe" as ${key}: it is a pipe, and no program writes to it`),
    );
  });

  it.each(['network: { caFile: pipe }', 'network: { registryAuthFile: pipe }'])(
    'rejects the pipe, which is not a regular file, in the config %s',
    async (yaml) => {
      expect(await messageOf(await folderWithPipe(yaml))).toContain('it is not a regular file');
    },
  );

  it('rejects the pipe as the config file', async () => {
    expect(await messageOf(await folderWithPipe(''), 'pipe')).toContain('it is a pipe, and no program writes to it');
  });
});

describe('loadConfig() with a pipe as the config file', () => {
  afterEach(() => void vi.restoreAllMocks());

  it('waits for the text if a program has opened the pipe to write', async () => {
    const cwd = await folderWithPipe('');
    const writer = spawn('sh', ['-c', 'exec > pipe; sleep 0.3; printf "log: { level: debug }"'], { cwd });
    // This returns after the program has opened the pipe.
    await using _ = await open(join(cwd, 'pipe'), 'r');
    const { config } = await loadConfig({ file: 'pipe', env: {}, cwd });
    expect(config.log.level).toBe('debug');
    writer.kill();
  });

  it('rejects the pipe if the program that writes to it needs more than ten seconds', async () => {
    const cwd = await folderWithPipe('');
    const writer = spawn('sh', ['-c', 'exec > pipe; printf "log:"; exec sleep 60'], { cwd });
    await using _ = await open(join(cwd, 'pipe'), 'r');
    vi.spyOn(performance, 'now').mockReturnValueOnce(-10_000);
    expect(await messageOf(cwd, 'pipe')).toContain('it is a pipe, and its program needs more than 10 seconds');
    writer.kill();
  });
});
