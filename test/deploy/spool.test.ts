import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, readdir, readFile, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, test } from 'vitest';
import { Part, sweepSpool } from '../../src/deploy/fetch/fetch.ts';
import { Secret } from '../../src/domain/secret.ts';
import { newFolder } from '../helpers/new-folder.ts';

const LINK = new Secret('https://store.example/b.tar.gz?sig=1');
const RENEWED = new Secret('https://store.example/b.tar.gz?sig=2#x');
const OTHER = new Secret('https://store.example/c.tar.gz');
const HOUR = 3600_000;
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const KEY = sha256('https://store.example/b.tar.gz');

let dir: string;
beforeEach(async () => {
  dir = newFolder();
});

const names = async (): Promise<string[]> => (await readdir(dir)).filter((name) => name !== 'lock').sort();

async function leavePart(link: Secret, text: string, etag: string | null = '"v1"'): Promise<void> {
  const part = await Part.open(dir, link);
  await part.restart(etag);
  await part.append(Buffer.from(text));
  await part.release();
}

describe('a partial download', () => {
  test('is resumed with a renewed link, and its digest covers all bytes', async () => {
    await leavePart(LINK, 'begin');
    expect(await names()).toEqual([`${KEY}.json`, `${KEY}.part`]);

    const part = await Part.open(dir, RENEWED);
    expect(part.resume).toEqual({ offset: 5, etag: '"v1"' });
    await part.append(Buffer.from(' and end'));
    expect(part.digest).toBe(sha256('begin and end'));
    await part.complete(join(dir, 'whole'));
    await part.release();
    expect(await readFile(join(dir, 'whole'), 'utf8')).toBe('begin and end');
    expect(await names()).toEqual(['whole']);
  });

  test('is neither resumed nor written through a symbolic link', async () => {
    await leavePart(LINK, 'begin');
    const [part, etag] = [join(dir, `${KEY}.part`), join(dir, `${KEY}.json`)];
    const theirs = [join(dir, 'theirs.part'), join(dir, 'theirs.json')] as const;
    await rename(part, theirs[0]);
    await symlink(theirs[0], part);
    const resumed = await Part.open(dir, LINK);
    expect(resumed.resume).toBe(null);
    await copyFile(etag, theirs[1]);
    await rm(etag);
    await symlink(theirs[1], etag);
    await resumed.restart('"v2"');
    await resumed.append(Buffer.from('another'));
    await resumed.release();
    expect(await readFile(theirs[0], 'utf8')).toBe('begin');
    expect(await readFile(theirs[1], 'utf8')).toContain('v1');
    expect(await readFile(part, 'utf8')).toBe('another');
  });

  test('is deleted if the server has sent no validator such as an ETag', async () => {
    await leavePart(LINK, 'begin', null);
    expect(await names()).toEqual([]);
  });

  test('is not resumed if the link has changed', async () => {
    await leavePart(OTHER, 'begin');
    const part = await Part.open(dir, LINK);
    expect(part.resume).toBe(null);
    await part.release();
  });

  test('is started over if it is too old', async () => {
    await leavePart(LINK, 'begin');
    const part = await Part.open(dir, LINK, Date.now() + 25 * HOUR);
    expect(part.resume).toBe(null);
    await part.restart('"v2"');
    await part.append(Buffer.from('x'));
    expect(part.digest).toBe(sha256('x'));
    await part.release();
  });

  test('is started over if its stored validator is damaged', async () => {
    await leavePart(LINK, 'begin');
    await writeFile(join(dir, `${KEY}.json`), '{"etag":');
    const part = await Part.open(dir, LINK);
    expect(part.resume).toBe(null);
    await part.release();
  });
});

describe('two fetches of one link', () => {
  test('use separate partial files, and only the file of the first fetch can be resumed later', async () => {
    const first = await Part.open(dir, LINK);
    await first.restart('"v1"');
    await first.append(Buffer.from('first'));
    const second = await Part.open(dir, LINK);
    expect(second.resume).toBe(null);
    await second.restart('"v2"');
    await second.append(Buffer.from('second'));
    expect(second.resume).toBe(null);

    await second.complete(join(dir, 'whole'));
    await second.release();
    expect(await readFile(join(dir, 'whole'), 'utf8')).toBe('second');
    expect(first.resume).toEqual({ offset: 5, etag: '"v1"' });
    await first.release();
    expect(await readFile(join(dir, `${KEY}.part`), 'utf8')).toBe('first');
    expect(await readFile(join(dir, `${KEY}.json`), 'utf8')).toBe('{"etag":"\\"v1\\""}');
  });

  test('lock the partial file against other processes, and a killed process releases its lock', async () => {
    const spool = new URL('../../src/deploy/fetch/fetch.ts', import.meta.url).href;
    const secret = new URL('../../src/domain/secret.ts', import.meta.url).href;
    // Opens the part, writes, and ends without releasing it.
    const script = (ending: string) => `
      const { Part } = await import(${JSON.stringify(spool)});
      const { Secret } = await import(${JSON.stringify(secret)});
      const part = await Part.open(${JSON.stringify(dir)}, new Secret(${JSON.stringify(LINK.reveal())}));
      console.log(JSON.stringify(part.resume));
      await part.restart('"other"');
      await part.append(Buffer.from('of the other process'));
      ${ending}`;
    const run = (ending: string) =>
      promisify(execFile)(process.execPath, ['--input-type=module', '-e', script(ending)]).catch((error) => error);

    await run(`process.kill(process.pid, 'SIGKILL')`);
    const part = await Part.open(dir, LINK);
    expect(part.resume).toEqual({ offset: 20, etag: '"other"' });

    const releaseLine = await run('await part.release()');
    expect(releaseLine.stdout).toBe('null\n');
    expect(await readFile(join(dir, `${KEY}.part`), 'utf8')).toBe('of the other process');
    expect(await names()).toEqual([`${KEY}.json`, `${KEY}.part`]);
    await part.release();
  });
});

describe('sweepSpool() (removal of old partial downloads)', () => {
  test('removes a partial file if its link is no longer configured or if the file is old', async () => {
    await leavePart(LINK, 'kept');
    await leavePart(OTHER, 'of another link');
    const files = {
      young: `${KEY}.0123456789abcdef.part`,
      old: `${sha256('x')}.0123456789abcdef.part`,
      foreign: 'notes.txt',
    };
    for (const name of Object.values(files)) await writeFile(join(dir, name), '');
    const yesterday = new Date(Date.now() - 25 * HOUR);
    await utimes(join(dir, files.old), yesterday, yesterday);
    await utimes(join(dir, files.foreign), yesterday, yesterday);

    await sweepSpool(dir, RENEWED, Date.now());
    expect(await names()).toEqual([files.foreign, files.young, `${KEY}.json`, `${KEY}.part`].sort());

    await sweepSpool(dir, LINK, Date.now() + 25 * HOUR);
    expect(await names()).toEqual([files.foreign]);
  });

  test('removes every partial file if no link is configured', async () => {
    await leavePart(LINK, 'begin');
    await sweepSpool(dir, null, Date.now());
    expect(await names()).toEqual([]);
  });

  test('removes no file while a fetch is running', async () => {
    const part = await Part.open(dir, LINK);
    await part.restart('"v1"');
    await part.append(Buffer.from('x'));
    await sweepSpool(dir, null, Date.now() + 48 * HOUR);
    expect(await names()).toEqual([`${KEY}.json`, `${KEY}.part`]);
    await part.release();
  });
});
