import { afterAll, describe, expect, it } from 'vitest';
import { corpus, whyNoCorpus } from '../helpers/corpus.ts';
import { openBench } from '../helpers/daemon.ts';
import { IndexedBundle, type TitledPage } from './indexed-bundle.ts';

const FIRST = 3;
const FOUND_PART_MIN = 0.95;

/** Figures are printed with their aims. The assertion allows for a busy machine. */
const BUILD_10K_S = { aim: 10, max: 100 };
const VECTORS_A_SECOND = { aim: 25, min: 2 };

const EMBED_MS = 4_000;

describe.skipIf(corpus === undefined).each([
  { name: 'starlight.tar.zst', languages: 6 },
  { name: 'vitepress-docs.zip', languages: 8 },
])(`search in $name${whyNoCorpus}`, ({ name, languages }) => {
  const bench = openBench(afterAll);

  it(`finds a page by its title among the first ${FIRST} results, in each language`, async () => {
    const bundle = await IndexedBundle.importFrom(bench, name);
    printBuild(name, await bundle.build());
    const byLanguage = Map.groupBy(await bundle.titledPages(), ({ language }) => language);
    const parts = new Map<string, number>();
    for (const [language, pages] of byLanguage) {
      const known = uniquelyTitled(pages);
      const missed: string[] = [];
      for (const { file, title } of known) {
        const results = await bundle.search(title, language, FIRST);
        const found = results.map(({ path }) => path.replace(/#.*$/, ''));
        if (!found.some((path) => isPathOf(path, file))) missed.push(`"${title}" ${file} -> ${found.join(' ')}`);
      }
      parts.set(language, 1 - missed.length / known.length);
      console.log(`figure: known-item ${name} ${language} ${known.length - missed.length}/${known.length}`);
      if (missed.length > 0) console.log(missed.join('\n'));
    }
    expect(parts.size).toBe(languages);
    expect([...parts].filter(([, part]) => !(part >= FOUND_PART_MIN))).toEqual([]);
  });
});

describe.skipIf(corpus === undefined)(`indexing${whyNoCorpus}`, () => {
  const bench = openBench(afterAll);
  it('builds the keyword index of 1,169 pages', async () => {
    const bundle = await IndexedBundle.importFrom(bench, 'postgres-15.tar.gz');
    const facts = await bundle.build();
    printBuild('postgres-15.tar.gz', facts);
    expect(facts.sections).toBeGreaterThan(1_169);
    expect((facts.cpuSeconds / facts.sections) * 10_000).toBeLessThan(BUILD_10K_S.max);
  });

  it('embeds the passages of a manual', async () => {
    const bundle = await IndexedBundle.importFrom(bench, 'sphinx-manual.tar.gz');
    printBuild('sphinx-manual.tar.gz', await bundle.build());
    const { embedded, seconds, cpuSeconds } = await bundle.embedFor(EMBED_MS);
    console.log(
      `figure: embedded ${embedded} passages in ${seconds.toFixed(1)} s, ${(embedded / seconds).toFixed(1)} a second, ${(embedded / cpuSeconds).toFixed(1)} a second of processor time (aim ${VECTORS_A_SECOND.aim} a core)`,
    );
    expect(embedded / seconds).toBeGreaterThan(VECTORS_A_SECOND.min);
  });
});

function printBuild(
  name: string,
  { sections, seconds, cpuSeconds }: { sections: number; seconds: number; cpuSeconds: number },
): void {
  const [clock, processor] = [seconds, cpuSeconds].map((spent) => ((spent / sections) * 10_000).toFixed(1));
  console.log(
    `figure: keyword index of ${name}: ${sections} sections in ${seconds.toFixed(2)} s, ${Math.round(sections / seconds)} a second, 10,000 in ${clock} s (aim ${BUILD_10K_S.aim}), ${processor} s of processor time`,
  );
}

/** Pages with a unique title in their language. */
function uniquelyTitled(pages: readonly TitledPage[]): TitledPage[] {
  const byTitle = Map.groupBy(pages, ({ title }) => title);
  return pages.filter(({ title }) => title !== '' && byTitle.get(title)?.length === 1);
}

/** True if readers see the file at this address, in any form. */
function isPathOf(path: string, file: string): boolean {
  const plain = (text: string): string => text.replace(/(?:(?:^|\/)index)?\.html$/, '').replace(/^\/|\/$/g, '');
  return plain(decodeURI(path)) === plain(file);
}
