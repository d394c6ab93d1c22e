import { describe, expect, it } from 'vitest';
import { ImmutableNames } from '../../src/web/immutable-names.ts';
import { bundleFile, corpus, whyNoCorpus } from '../helpers/corpus.ts';
import { readArchive } from '../helpers/read-archive.ts';
import { NEXT_JULY, NEXT_JUNE } from './bundles.ts';

/** Known patterns of names with a content hash, and their number of files. */
const KNOWN: readonly (readonly [bundle: string, pattern: RegExp, files: number])[] = [
  [NEXT_JUNE, /^_next\/static\//, 17],
  [NEXT_JULY, /^_next\/static\//, 17],
  ['mixed-export.zip', /^_next\/static\//, 17],
  ['vitepress-docs.zip', /^assets\//, 592],
  ['docusaurus-classic.tar.gz', /^(?:fr\/)?assets\//, 174],
  ['starlight.tar.zst', /^_astro\/|^pagefind\/.*\.pf_/, 553],
  ['sphinx-manual.tar.gz', /^_images\/inheritance-/, 6],
  ['postgres-15.zip', /^$/, 0],
];

describe.skipIf(corpus === undefined)(`immutable file names in real bundles${whyNoCorpus}`, () => {
  it.each(KNOWN)('include the hashed names of the generator and no other names: %s', async (bundle, pattern, count) => {
    const paths = [...(await readArchive(bundleFile(bundle))).keys()];
    const names = new ImmutableNames({
      namesIn: (folder) =>
        paths
          .filter((path) => path.startsWith(folder) && !path.includes('/', folder.length))
          .map((path) => path.slice(folder.length)),
    });
    const expected = paths.filter((path) => pattern.test(path));
    expect(paths.filter((path) => names.has(path))).toEqual(expected);
    expect(expected.length).toBe(count);
  });
});
