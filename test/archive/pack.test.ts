import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkManifest, packTarGz, parseManifest } from '../../src/archive/index.ts';
import { Workbench } from './workbench.ts';

const files = [
  { path: 'index.html', bytes: Buffer.from('<p>Home</p>') },
  { path: 'assets/app.js', bytes: Buffer.from('1') },
  { path: `${'long/'.repeat(40)}ünïcode.html`, bytes: Buffer.from('<p>Deep</p>') },
];
const manifest = {
  domain: 'acme',
  version: 'v1.2.3',
  createdAt: '2024-06-01T00:00:00.000Z',
  generator: 'a test',
  typeOf: (path: string) => (path.endsWith('.html') ? 'text/html' : 'text/javascript'),
};

let bench: Workbench;
beforeEach(async () => {
  bench = await Workbench.open();
});
afterEach(() => bench.close());

describe('packTarGz()', () => {
  it('writes what unpacks to the same files, with a manifest that holds', async () => {
    const to = join(bench.dir, 'out.tar.gz');
    const { sizeBytes } = await packTarGz({ files, to, manifest });
    expect((await stat(to)).size).toBe(sizeBytes);
    const { extracted } = await bench.attempt(await readFile(to));
    for (const file of files) expect(await bench.read(file.path)).toBe(file.bytes.toString());
    const written = parseManifest(await readFile(join(bench.ownDir, 'manifest.json')), 'out');
    expect(written).toMatchObject({ domain: 'acme', version: 'v1.2.3', pageCount: 2 });
    checkManifest(written, extracted, 'out');
  });

  it('gives the same bytes for the same files in any order', async () => {
    const one = await packTarGz({ files, to: join(bench.dir, 'one') });
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const two = await packTarGz({ files: files.toReversed(), to: join(bench.dir, 'two') });
    expect(two).toEqual(one);
  });

  it('refuses a stream out of order, and leaves no half archive', async () => {
    const to = join(bench.dir, 'out.tar.gz');
    async function* stream() {
      yield* files;
    }
    await expect(packTarGz({ files: stream(), to })).rejects.toThrow('out of order');
    await expect(stat(to)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('never overwrites', async () => {
    const to = join(bench.dir, 'out.tar.gz');
    const first = await packTarGz({ files, to });
    await expect(packTarGz({ files: [], to })).rejects.toMatchObject({ code: 'EEXIST' });
    expect((await stat(to)).size).toBe(first.sizeBytes);
  });
});
