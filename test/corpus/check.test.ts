import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkSite } from '../../src/export/check-site.ts';
import { mediaTypeOfFile } from '../../src/web/media-type.ts';
import { bundleFile, corpus, whyNoCorpus } from '../helpers/corpus.ts';
import { readArchive } from '../helpers/read-archive.ts';
import { SITES } from './bundles.ts';

let siteDir: string;

beforeAll(async () => {
  siteDir = await mkdtemp(join(tmpdir(), 'docshelf-check-'));
});
afterAll(() => rm(siteDir, { recursive: true, force: true }));

describe.skipIf(corpus === undefined).each(SITES)(`checkSite() of $name${whyNoCorpus}`, (known) => {
  it('finds the known number of broken references', async () => {
    const files = [];
    for (const [name, bytes] of await readArchive(bundleFile(known.name))) {
      const path = name.slice(known.root.length);
      const to = join(siteDir, known.name, path);
      await mkdir(dirname(to), { recursive: true });
      await writeFile(to, bytes);
      files.push({ path, size: bytes.length, sha256: '', type: mediaTypeOfFile(path, bytes) });
    }
    files.sort((a, b) => (a.path < b.path ? -1 : 1));
    const counts = new Map<string, number>();
    await checkSite({
      siteDir: join(siteDir, known.name),
      spoolFile: join(siteDir, `${known.name}.references`),
      files,
      hosts: [],
      find: ({ kind }) => counts.set(kind, (counts.get(kind) ?? 0) + 1),
      onProgress: () => undefined,
      signal: new AbortController().signal,
    });
    expect(counts.get('broken_reference') ?? 0).toBe(known.unresolved[0] + known.fileReferences);
  });
});
