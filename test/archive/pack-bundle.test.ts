import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, hash } from 'node:crypto';
import { mkdir, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { gzip } from '../../src/archive/compression.ts';
import {
  archiveOrder,
  type PackBundleOptions,
  type PackEntry,
  type PackedArchive,
  packBundle,
} from '../../src/archive/pack.ts';
import { toDocshelfError } from '../../src/domain/errors.ts';
import { Workbench } from './workbench.ts';

/** Compressible and incompressible bytes in turns, equal in every run. */
function mixed(sizeBytes: number): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0, bytes = 0; bytes < sizeBytes; at += 1) {
    const digest = createHash('sha512').update(String(at)).digest();
    const part = at % 3 === 0 ? Buffer.from(`<p class="line">${at}</p>\n`.repeat(40)) : digest;
    parts.push(part);
    bytes += part.length;
  }
  return Buffer.concat(parts).subarray(0, sizeBytes);
}

/** Sizes around the limits of tar blocks and of our blocks, and one that is read in chunks. */
const contents: Readonly<Record<string, Buffer>> = {
  'index.html': Buffer.from('<p>Home</p>'),
  'empty.txt': Buffer.alloc(0),
  'block.bin': mixed(512),
  'window.bin': mixed(32 * 1024 + 1),
  'large.bin': mixed(1_500_001),
  [`${'long/'.repeat(40)}page.html`]: Buffer.from('<p>Deep</p>'),
  'ünïcode/日本.html': Buffer.from('<p>名</p>'),
  ...Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`many/${at}.html`, mixed(20_000 + at)])),
};

let bench: Workbench;
let entries: PackEntry[];

beforeEach(async () => {
  bench = new Workbench();
  const source = join(bench.dir, 'source');
  entries = await Promise.all(
    Object.entries(contents).map(async ([path, bytes]) => {
      const file = join(source, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, bytes);
      return { path, file, size: bytes.length, sha256: hash('sha256', bytes) };
    }),
  );
});

const out = () => join(bench.dir, 'out', 'site.tar.gz');
const pack = async (options: Partial<PackBundleOptions> = {}): Promise<PackedArchive> => {
  await mkdir(dirname(out()), { recursive: true });
  return packBundle({ entries, to: out(), ...options });
};
const codeOf = async (packing: Promise<unknown>) =>
  packing.then(
    () => null,
    (error: unknown) => toDocshelfError(error).code,
  );
const left = () => readdir(dirname(out()));

describe('packBundle()', () => {
  it('packs files in the given order, and docshelf unpacks the same bytes', async () => {
    await pack();
    const { listing, extracted, error } = await bench.attempt(await readFile(out()));
    expect(error).toBeNull();
    expect(Array.from(listing?.entries ?? [], ({ name }) => name)).toEqual(Object.keys(contents));
    const digests = Object.fromEntries(extracted.map(({ path, sha256 }) => [path, sha256]));
    expect(digests).toEqual(
      Object.fromEntries(entries.map((entry) => [entry.path, 'sha256' in entry && entry.sha256])),
    );
  });

  it('returns the digest and the size of the file on disk', async () => {
    const packed = await pack();
    const bytes = await readFile(out());
    expect(packed).toEqual({ sha256: hash('sha256', bytes), sizeBytes: bytes.length });
    expect(await left()).toEqual(['site.tar.gz']);
  });

  it('packs the same entries to the same bytes, from files and from memory', async () => {
    const { sha256 } = await pack();
    expect((await pack()).sha256).toBe(sha256);
    async function* inMemory() {
      for (const [path, bytes] of Object.entries(contents)) yield { path, bytes };
    }
    expect((await pack({ entries: inMemory() })).sha256).toBe(sha256);
  });

  it.each([1, 6, 9])(
    'creates one gzip member at level %i, without time and operating system in its header',
    async (level) => {
      await pack({ level });
      const bytes = await readFile(out());
      expect([...bytes.subarray(0, 10)]).toEqual([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
      const tar = gunzipSync(bytes);
      expect(bytes.readUInt32LE(bytes.length - 4)).toBe(tar.length);
      expect(tar.length % 512).toBe(0);
    },
  );

  it('creates a smaller archive at level 9 than at level 1, at most 1 % larger than the output of gzip -9', async () => {
    const fast = await pack({ level: 1 });
    const best = await pack({ level: 9 });
    expect(best.sizeBytes).toBeLessThan(fast.sizeBytes);
    const whole = spawnSync('gzip', ['-9'], { input: gunzipSync(await readFile(out())), maxBuffer: 2 ** 26 });
    expect(best.sizeBytes).toBeLessThan(whole.stdout.length * 1.01);
  });

  it('writes entries with fixed mode, owner and time, which GNU tar lists and unpacks', async () => {
    await pack();
    const lines = execFileSync('tar', ['--list', '--verbose', '--numeric-owner', '--utc', '-f', out()]).toString();
    for (const line of lines.trim().split('\n')) expect(line).toMatch(/^-rw-r--r-- 0\/0 +\d+ 1970-01-01 00:00 /);
    const to = join(bench.dir, 'gnu');
    await mkdir(to);
    execFileSync('tar', ['-C', to, '-xf', out()]);
    for (const [path, bytes] of Object.entries(contents)) expect(await readFile(join(to, path))).toEqual(bytes);
  });

  it.skipIf(spawnSync('python3', ['--version']).status !== 0)(
    "creates an archive that Python's tarfile reads",
    async () => {
      await pack();
      const script =
        'import hashlib, json, sys, tarfile\n' +
        'tar = tarfile.open(sys.argv[1])\n' +
        'print(json.dumps({m.name: hashlib.sha256(tar.extractfile(m).read()).hexdigest() for m in tar if m.isreg()}))';
      const found = JSON.parse(execFileSync('python3', ['-c', script, out()]).toString());
      expect(found).toEqual(Object.fromEntries(Object.entries(contents).map(([path, b]) => [path, hash('sha256', b)])));
    },
  );

  it('replaces an existing archive only after the new archive is complete', async () => {
    const first = await pack();
    await expect(pack({ entries: [{ path: 'gone', file: join(bench.dir, 'gone'), size: 1 }] })).rejects.toThrow();
    expect(hash('sha256', await readFile(out()))).toBe(first.sha256);
    const second = await pack({ entries: [{ path: 'a', bytes: Buffer.from('a') }] });
    expect(hash('sha256', await readFile(out()))).toBe(second.sha256);
    expect(await left()).toEqual(['site.tar.gz']);
  });

  it.each(['many/30.html', 'large.bin'])(
    'rejects the file %s if the file has shrunk, grown, changed or disappeared',
    async (path) => {
      const file = join(bench.dir, 'source', path);
      const bytes = contents[path] as Buffer;
      const faults = {
        shrunk: () => truncate(file, bytes.length - 1),
        grown: () => writeFile(file, Buffer.concat([bytes, Buffer.from('.')])),
        changed: () => writeFile(file, Buffer.from(bytes).fill('x', bytes.length - 1)),
        gone: () => execFileSync('rm', [file]),
      };
      for (const [name, damage] of Object.entries(faults)) {
        await damage();
        expect([name, await codeOf(pack())]).toEqual([name, 'cannot_read']);
        await writeFile(file, bytes);
      }
      expect(await left()).toEqual([]);
    },
  );

  it('rejects a duplicate path', async () => {
    const entry = { path: 'a', bytes: Buffer.from('a') };
    expect(await codeOf(pack({ entries: [entry, entry] }))).toBe('internal');
    expect(await left()).toEqual([]);
  });

  it('stops with the reason of the abort signal, and leaves no file', async () => {
    const abort = new AbortController();
    const reason = new Error('enough');
    const packing = pack({
      signal: abort.signal,
      onProgress: (doneBytes) => {
        if (doneBytes > 100_000) abort.abort(reason);
      },
    });
    await expect(packing).rejects.toBe(reason);
    expect(await left()).toEqual([]);
  });

  it('fails if the iteration over the entries fails', async () => {
    const fault = new Error('the list broke');
    async function* broken() {
      yield* entries.slice(0, 30);
      throw fault;
    }
    await expect(pack({ entries: broken() })).rejects.toBe(fault);
    expect(await left()).toEqual([]);
  });

  it('fails if the output folder does not exist', async () => {
    await expect(packBundle({ entries, to: join(bench.dir, 'none', 'a.tar.gz') })).rejects.toMatchObject({
      code: 'ENOENT',
    });
  });

  it('reports the number of packed bytes, increasing up to the total', async () => {
    const seen: number[] = [];
    await pack({ onProgress: (doneBytes) => seen.push(doneBytes) });
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    expect(seen.at(-1)).toBe(Object.values(contents).reduce((sum, bytes) => sum + bytes.length, 0));
  });

  it('reads only a limited number of bytes ahead', async () => {
    let given = 0;
    let packed = 0;
    let aheadMax = 0;
    async function* counted() {
      for (let at = 0; at < 300; at += 1) {
        given += 1;
        aheadMax = Math.max(aheadMax, given - packed);
        yield { path: `${at}`, bytes: mixed(100_000) };
      }
    }
    await pack({
      entries: counted(),
      onProgress: () => {
        packed += 1;
      },
    });
    expect(packed).toBe(300);
    expect(aheadMax).toBeLessThanOrEqual(20);
  });

  it('packs an empty bundle as an empty tar', async () => {
    const { sizeBytes } = await pack({ entries: [] });
    expect(gunzipSync(await readFile(out()))).toEqual(Buffer.alloc(1024));
    expect((await stat(out())).size).toBe(sizeBytes);
  });
});

describe('gzip()', () => {
  it.each([1, 6, 9])('creates the same bytes at level %i, however the content is split into chunks', async (level) => {
    const content = mixed(3_000_001);
    const packed = async (chunkBytes: number): Promise<string> => {
      const chunks = Readable.from(
        (function* () {
          for (let at = 0; at < content.length; at += chunkBytes) yield content.subarray(at, at + chunkBytes);
        })(),
      );
      return hash('sha256', await buffer(Readable.from(gzip(chunks, level))));
    };
    const whole = await packed(content.length);
    expect(await packed(65_537)).toBe(whole);
    expect(await packed(1_013)).toBe(whole);
  });
});

describe('archiveOrder()', () => {
  it("puts the manifest first, then docshelf's own data, then the site by path", () => {
    const order = ['_docshelf/manifest.json', '_docshelf/search/a', '_docshelf/search/b', 'Z.html', '_a', 'a.html'];
    const entriesOf = (paths: string[]) => paths.map((path) => ({ path }));
    expect(entriesOf(order.toReversed()).sort(archiveOrder)).toEqual(entriesOf(order));
  });
});
