import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import { type SigningKey, SigningKeys } from '../../../src/export/stores/disk-bundle-store.ts';
import { newFolder } from '../../helpers/new-folder.ts';

const DAY_MS = 24 * 3600_000;
const WEEK_MS = 7 * DAY_MS;
const START_MS = Date.parse('2024-06-01T12:00:00Z');

let home: string;
let dir: string;
let nowMs = START_MS;
beforeEach(async () => {
  home = newFolder();
  dir = join(home, 'link-keys');
  nowMs = START_MS;
});

const keysHere = (): SigningKeys =>
  new SigningKeys({ dir, rotateMs: WEEK_MS, signedMsMax: WEEK_MS, nowMs: () => nowMs });
const proofOf = ({ secret }: SigningKey): string => createHmac('sha256', secret).update('').digest('hex');
const filesHere = async (): Promise<string[]> => (await readdir(dir)).sort();

describe('SigningKeys (keys that sign download links)', () => {
  it('creates a key on first use, and only the owner of the file can read the key', async () => {
    const key = await keysHere().current();
    expect(key.id).toBe('1');
    expect(await filesHere()).toEqual(['1.json']);
    expect((await stat(join(dir, '1.json'))).mode & 0o777).toBe(0o600);
    expect((await stat(dir)).mode & 0o777).toBe(0o700);
  });

  it('keeps its key after a restart', async () => {
    const before = await keysHere().current();
    expect(proofOf(await keysHere().current())).toBe(proofOf(before));
  });

  it('creates one key if several processes start at the same time', async () => {
    const module = join(import.meta.dirname, '../../../src/export/stores/disk-bundle-store.ts');
    const program = `
      import { createHmac } from 'node:crypto';
      import { SigningKeys } from ${JSON.stringify(module)};
      const keys = new SigningKeys({ dir: ${JSON.stringify(dir)}, rotateMs: 1e9, signedMsMax: 1e9, nowMs: Date.now });
      const { id, secret } = await keys.current();
      console.log(id, createHmac('sha256', secret).update('').digest('hex'));`;
    const run = () => promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
    const answers = await Promise.all([run(), run(), run(), run()]);
    const [first] = answers;
    expect(first?.stdout).toMatch(/^1 [0-9a-f]{64}\n$/);
    expect(new Set(answers.map(({ stdout }) => stdout)).size).toBe(1);
    expect(await filesHere()).toEqual(['1.json']);
  });

  it('signs with a new key after the rotation time, and still finds the old key', async () => {
    const keys = keysHere();
    const first = await keys.current();
    nowMs += WEEK_MS - 1;
    expect((await keys.current()).id).toBe('1');
    nowMs += 1;
    const second = await keys.current();
    expect(second.id).toBe('2');
    expect(proofOf(second)).not.toBe(proofOf(first));
    expect(proofOf((await keys.find('1')) as SigningKey)).toBe(proofOf(first));
  });

  it('rotates once if several instances rotate at the same time', async () => {
    const all = Array.from({ length: 8 }, keysHere);
    await Promise.all(all.map((keys) => keys.current()));
    nowMs += WEEK_MS;
    const made = await Promise.all(all.map((keys) => keys.current()));
    expect(new Set(made.map(proofOf)).size).toBe(1);
    expect(await filesHere()).toEqual(['1.json', '2.json']);
  });

  it('finds a key that another process created after the last rotation', async () => {
    const [one, other] = [keysHere(), keysHere()];
    await one.current();
    nowMs += WEEK_MS;
    const made = await other.current();
    expect(proofOf((await one.find(made.id)) as SigningKey)).toBe(proofOf(made));
  });

  it('removes a key after all links that it signed have expired', async () => {
    const keys = keysHere();
    const alive: string[][] = [];
    for (let week = 0; week < 6; week += 1, nowMs += WEEK_MS + DAY_MS) {
      await keys.current();
      alive.push(await filesHere());
    }
    expect(alive.slice(0, 3)).toEqual([['1.json'], ['1.json', '2.json'], ['2.json', '3.json']]);
    expect(alive.at(-1)).toEqual(['5.json', '6.json']);
    expect(await keys.find('1')).toBe(null);
  });

  it('keeps a key while links that it signed can be valid, however many newer keys exist', async () => {
    const keys = new SigningKeys({ dir, rotateMs: DAY_MS, signedMsMax: WEEK_MS, nowMs: () => nowMs });
    for (let day = 0; day < 20; day += 1, nowMs += DAY_MS) {
      const { id } = await keys.current();
      // The links that the key of a week ago signed on its last day have just expired.
      if (day >= 7) expect(await keys.find(String(Number(id) - 7))).not.toBe(null);
    }
    expect((await filesHere()).length).toBeLessThanOrEqual(10);
  });

  it('neither creates nor removes a key if the clock jumps back', async () => {
    const keys = keysHere();
    await keys.current();
    nowMs += WEEK_MS;
    const before = await keys.current();
    for (const jump of [DAY_MS, 400 * DAY_MS]) {
      nowMs -= jump;
      expect(proofOf(await keys.current())).toBe(proofOf(before));
      expect(proofOf(await keysHere().current())).toBe(proofOf(before));
    }
    expect(await filesHere()).toEqual(['1.json', '2.json']);
  });

  it('still finds its older key after the clock was wrongly ahead and is correct again', async () => {
    const first = await keysHere().current();
    nowMs += 4000 * DAY_MS;
    await keysHere().current();
    nowMs = START_MS;
    expect(proofOf((await keysHere().find('1')) as SigningKey)).toBe(proofOf(first));
    await keysHere().current();
    expect(await filesHere()).toEqual(['1.json', '2.json']);
  });

  it.each(['', '0', '01', '-1', '1.json', '../link-keys/1', '1e3', '9999999999'])(
    'returns null for the key "%s"',
    async (id) => {
      const keys = keysHere();
      await keys.current();
      expect(await keys.find(id)).toBe(null);
    },
  );

  it.each(['', '{}', '{"secret":"AAAA","createdAt":"2024-06-01T12:00:00Z"}', 'null', '{"secret":"canary'])(
    'rejects a damaged key file with the content %j, and omits this content from the error',
    async (text) => {
      await keysHere().current();
      await writeFile(join(dir, '1.json'), text);
      const error = await keysHere()
        .current()
        .catch((reason) => reason);
      expect(error).toMatchObject({ code: 'cannot_read', next: expect.any(String) });
      expect(`${error.message} ${error.cause?.message}`).not.toContain('canary');
    },
  );
});
