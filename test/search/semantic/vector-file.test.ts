import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readVectors, writeVectors } from '../../../src/search/semantic/vector-file.ts';

const MODEL = 'ab'.repeat(32);
const vectors = {
  modelDigest: MODEL,
  dims: 32,
  sections: Uint32Array.of(0, 0, 3),
  values: Int8Array.from({ length: 96 }, (_, at) => at - 48),
};

describe('the vector file', () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'docshelf-vectors-'));
    file = join(folder, 'vectors.bin');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('comes back as it was written, and leaves nothing beside it', async () => {
    await writeVectors(file, vectors);
    expect(await readVectors(file, MODEL)).toEqual(vectors);
    expect(await readdir(folder)).toEqual(['vectors.bin']);
  });

  it('comes back empty where a release has no passage', async () => {
    const none = { ...vectors, sections: new Uint32Array(0), values: new Int8Array(0) };
    await writeVectors(file, none);
    expect(await readVectors(file, MODEL)).toEqual(none);
  });

  it('is none for another model, for another format, and where there is no file', async () => {
    expect(await readVectors(file, MODEL)).toBeNull();
    await writeVectors(file, vectors);
    expect(await readVectors(file, 'cd'.repeat(32))).toBeNull();
    const bytes = await readFile(file);
    bytes.writeUInt32LE(2, 4);
    await writeFile(file, bytes);
    expect(await readVectors(file, MODEL)).toBeNull();
  });

  it('is refused with any one byte changed', async () => {
    await writeVectors(file, vectors);
    const sound = await readFile(file);
    for (let at = 0; at < sound.length; at += 1) {
      // The format version decides before anything else is looked at.
      if (at >= 4 && at < 8) continue;
      const bytes = Buffer.from(sound);
      bytes[at] = (bytes[at] as number) ^ 0x40;
      await writeFile(file, bytes);
      await expect(readVectors(file, MODEL), `byte ${at}`).rejects.toMatchObject({ code: 'release_damaged' });
    }
  });

  it.each([[Uint32Array.of(0, 2, 1)], [Uint32Array.of(0, 1, 0xffff_ffff)]])(
    'is refused with sections %j',
    async (sections) => {
      await writeVectors(file, { ...vectors, sections });
      await expect(readVectors(file, MODEL)).rejects.toMatchObject({ code: 'release_damaged' });
    },
  );

  it('is refused when it is cut anywhere', async () => {
    await writeVectors(file, vectors);
    const { length } = await readFile(file);
    for (let bytes = length - 1; bytes >= 0; bytes -= 13) {
      await truncate(file, bytes);
      await expect(readVectors(file, MODEL)).rejects.toMatchObject({ code: 'release_damaged' });
    }
  });

  it('stays what it was when the new one cannot be written', async () => {
    await writeVectors(file, vectors);
    await expect(writeVectors(join(folder, 'none', 'vectors.bin'), vectors)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await readVectors(file, MODEL)).toEqual(vectors);
  });
});
