import { execFile, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { appendFile, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import { FINGERPRINT_BYTES } from '../../../src/search/fingerprint.ts';
import { noteUse, segmentNames, sweepVectors, VectorCache } from '../../../src/search/semantic/vector-cache.ts';
import { newFolder } from '../../helpers/new-folder.ts';

const DIMS = 32;
const MODEL = { digest: 'ab'.repeat(32), dims: DIMS };
const keyOf = (text: string) => createHash('sha256').update(text).digest();
const vectorOf = (number: number) => Int8Array.from({ length: DIMS }, (_, at) => ((number * 31 + at * 7) % 255) - 127);
const entries = (...numbers: number[]) =>
  numbers.map((number) => ({ key: keyOf(`${number}`), vector: vectorOf(number) }));
/** Keys like in the list of a release. */
const keys = (...numbers: number[]) => numbers.map((number) => keyOf(`${number}`).toString('hex', 0, 16));
const upTo = (count: number) => Array.from({ length: count }, (_, at) => at);

let dir: string;
let folder: string;
beforeEach(async () => {
  dir = newFolder();
  folder = join(dir, MODEL.digest);
});

async function fill(...numbers: number[]): Promise<void> {
  const cache = new VectorCache(dir, MODEL);
  cache.put(entries(...numbers));
  cache.close();
}
async function storedKeys(...numbers: number[]): Promise<number[]> {
  const cache = new VectorCache(dir, MODEL);
  const found = new Map(
    Array.from(cache.records(), ({ key, vector }) => [Buffer.from(key).toString('hex'), vector.slice()]),
  );
  cache.close();
  return numbers.filter((number) => {
    const vector = found.get(keyOf(`${number}`).toString('hex'));
    if (vector !== undefined) expect(vector).toEqual(vectorOf(number));
    return vector !== undefined;
  });
}

describe('VectorCache (vectors of texts on disk)', () => {
  it('keeps stored vectors after a restart', async () => {
    await fill(1, 2, 3);
    await fill(4);
    expect(await storedKeys(1, 2, 3, 4, 5)).toEqual([1, 2, 3, 4]);
  });

  it('returns stored vectors before it is closed', async () => {
    const cache = new VectorCache(dir, MODEL);
    cache.put(entries(1));
    expect(await storedKeys(1)).toEqual([1]);
    cache.close();
  });

  it('keeps the vectors of two concurrent writers', async () => {
    const [one, two] = [new VectorCache(dir, MODEL), new VectorCache(dir, MODEL)];
    for (const at of upTo(20)) (at % 2 === 0 ? one : two).put(entries(at));
    one.close();
    two.close();
    expect(await storedKeys(...upTo(20))).toEqual(upTo(20));
  });

  it('writes no file if no vector is stored', async () => {
    new VectorCache(dir, MODEL).close();
    expect(await readdir(folder)).toEqual([]);
  });

  it('skips an incomplete record at the end, and reads later segments', async () => {
    await fill(1, 2);
    const [segment] = await segmentNames(folder);
    await appendFile(join(folder, segment ?? ''), Buffer.alloc(20, 7));
    await fill(3);
    expect(await storedKeys(1, 2, 3)).toEqual([1, 2, 3]);
  });

  it('loses only the damaged record if one record of a file is damaged', async () => {
    await fill(...upTo(10));
    const file = join(folder, (await segmentNames(folder))[0] ?? '');
    const bytes = await readFile(file);
    const recordBytes = (bytes.length - 16) / 10;
    bytes[16 + 4 * recordBytes + 40] = (bytes[16 + 4 * recordBytes + 40] as number) ^ 1;
    await writeFile(file, bytes);
    expect(await storedKeys(...upTo(10))).toEqual(upTo(10).filter((number) => number !== 4));
  });

  it.each([
    ['empty', Buffer.alloc(0)],
    ['cut within its header', Buffer.from('DSHC')],
    ['in another format', Buffer.alloc(4096, 1)],
  ])('skips a segment that is %s', async (_, content) => {
    await fill(1);
    await writeFile(join(folder, '0000000000000000.seg'), content);
    expect(await storedKeys(1, 2)).toEqual([1]);
  });

  it('keeps complete records if the process is killed while it writes', async () => {
    const module = new URL('../../../src/search/semantic/vector-cache.ts', import.meta.url).href;
    const program = `
      import { createHash } from 'node:crypto';
      import { VectorCache } from ${JSON.stringify(module)};
      const cache = new VectorCache(${JSON.stringify(dir)}, ${JSON.stringify(MODEL)});
      for (let n = 0; ; n += 1) {
        const key = createHash('sha256').update(String(n)).digest();
        cache.put([{ key, vector: Int8Array.from({ length: ${DIMS} }, (_, at) => ((n * 31 + at * 7) % 255) - 127) }]);
        console.log(n);
      }`;
    for (const afterMs of [20, 45]) {
      const child = spawn(process.execPath, ['--input-type=module', '-e', program]);
      let printed = '';
      child.stdout.on('data', (chunk) => {
        printed += chunk;
      });
      await once(child.stdout, 'data');
      await new Promise((resolve) => setTimeout(resolve, afterMs));
      child.kill('SIGKILL');
      await once(child, 'close');
      const done = Number(printed.slice(0, printed.lastIndexOf('\n')).split('\n').at(-1));
      expect(await storedKeys(...upTo(done + 1))).toEqual(upTo(done + 1));
    }
  });
});

describe('sweepVectors() (cleanup of the vector cache)', () => {
  const HOUR_MS = 3_600_000;
  const releases = { old: '0'.repeat(64), kept: '1'.repeat(64) };
  const sweep = (kept: string[], afterMs = HOUR_MS) => sweepVectors(folder, DIMS, new Set(kept), Date.now() + afterMs);

  it('removes vectors that only a deleted release used', async () => {
    await fill(1, 2, 3);
    await fill(4);
    await noteUse(folder, releases.old, keys(1, 2, 3));
    await noteUse(folder, releases.kept, keys(3, 4));
    expect(await sweep([releases.kept])).toBe(2);
    expect(await storedKeys(1, 2, 3, 4)).toEqual([3, 4]);
    expect(await segmentNames(folder)).toHaveLength(1);
    expect(await readdir(join(folder, 'uses'))).toEqual([releases.kept]);
  });

  it('keeps all used vectors if it removes many unused vectors', async () => {
    await fill(...upTo(200));
    const used = upTo(200).filter((number) => number % 2 === 1);
    await noteUse(folder, releases.kept, keys(...used));
    expect(await sweep([releases.kept])).toBe(100);
    expect(await storedKeys(...upTo(200))).toEqual(used);
  });

  it('keeps all segments if few of their records are unused', async () => {
    await fill(...upTo(10));
    await noteUse(folder, releases.kept, keys(...upTo(9)));
    expect(await sweep([releases.kept])).toBe(0);
    expect(await storedKeys(...upTo(10))).toEqual(upTo(10));
  });

  it('does not touch a segment that is being written', async () => {
    await fill(1, 2);
    expect(await sweep([], 0)).toBe(0);
    expect(await storedKeys(1, 2)).toEqual([1, 2]);
  });

  it('keeps a stored vector that a release lists as used, even if other listed vectors are not stored yet', async () => {
    await fill(1);
    await noteUse(folder, releases.kept, keys(1, 2));
    expect(await sweep([releases.kept])).toBe(0);
    expect(await storedKeys(1)).toEqual([1]);
  });

  it('ends in a process with 64 MiB of V8 memory if a release uses 3,000,000 vectors', async () => {
    new VectorCache(dir, MODEL).close();
    await noteUse(folder, releases.kept, []);
    await writeFile(join(folder, 'uses', releases.kept), randomBytes(3_000_000 * FINGERPRINT_BYTES));
    const module = new URL('../../../src/search/semantic/vector-cache.ts', import.meta.url);
    const call = `sweepVectors(${JSON.stringify(folder)}, ${DIMS}, new Set(['${releases.kept}']), Date.now())`;
    const script = `import { sweepVectors } from '${module}'; console.log(await ${call});`;
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, ['--max-old-space-size=64', '--input-type=module', '-e', script]);
    expect(stdout).toBe('0\n');
  });

  it('empties the cache if no release is kept', async () => {
    await fill(1, 2);
    await noteUse(folder, releases.old, keys(1, 2));
    expect(await sweep([])).toBe(2);
    expect(await segmentNames(folder)).toEqual([]);
  });

  it('keeps one of two equal records', async () => {
    await fill(1, 2);
    await fill(1, 2);
    await noteUse(folder, releases.kept, keys(1, 2));
    const before = await bytesOf(folder);
    expect(await sweep([releases.kept])).toBe(2);
    expect(await storedKeys(1, 2)).toEqual([1, 2]);
    expect(await bytesOf(folder)).toBeLessThan(before);
  });

  it('removes temporary files that a crashed process has left', async () => {
    await fill(1);
    await noteUse(folder, releases.kept, keys(1));
    const left = join(folder, 'uses', '.tmp-0123');
    await writeFile(left, 'x');
    await utimes(left, 0, 0);
    await sweep([releases.kept]);
    expect(await readdir(join(folder, 'uses'))).toEqual([releases.kept]);
  });
});

async function bytesOf(path: string): Promise<number> {
  const names = await segmentNames(path);
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(path, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
