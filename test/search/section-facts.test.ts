import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readSectionFacts, SectionFactsWriter } from '../../src/search/indexing/section-facts.ts';

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'docshelf-facts-'));
  onTestFinished(() => rm(path, { recursive: true }));
  return path;
}

const FACTS = [
  {
    language: 'en',
    passages: [
      { start: 0, end: 800 },
      { start: 740, end: 1_490 },
    ],
  },
  { language: null, passages: [] },
  { language: 'pt-BR', passages: [{ start: 3, end: 70_000 }] },
];

async function write(dir: string): Promise<void> {
  const facts = new SectionFactsWriter();
  for (const { language, passages } of FACTS) facts.add(language, passages);
  await facts.write(dir);
}

describe('readSectionFacts()', () => {
  it('gives back what was written', async () => {
    const dir = await folder();
    await write(dir);
    const read = await readSectionFacts(dir, FACTS.length);
    expect(read.count).toBe(3);
    expect(FACTS.map((_, at) => ({ language: read.language(at), passages: read.passages(at) }))).toEqual(FACTS);
    expect(read.passages(3)).toEqual([]);
  });

  it('refuses facts of another number of sections, and what is none', async () => {
    const dir = await folder();
    await expect(readSectionFacts(dir, 0)).rejects.toMatchObject({ code: 'index_damaged' });
    await write(dir);
    await expect(readSectionFacts(dir, 2)).rejects.toMatchObject({ code: 'index_damaged' });
    const sound = await readFile(join(dir, 'sections.bin'));
    for (let at = 0; at < sound.length; at += 1) {
      const bytes = Buffer.from(sound);
      bytes[at] = (bytes[at] as number) ^ 0x40;
      await writeFile(join(dir, 'sections.bin'), bytes);
      await expect(readSectionFacts(dir, 3), `byte ${at}`).rejects.toMatchObject({ code: 'index_damaged' });
    }
  });
});
