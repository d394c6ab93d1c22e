import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { yieldToReaders } from '../../threads/index.ts';
import { KeywordIndex } from '../keyword/index.ts';
import type { EmbedOrder } from '../orders.ts';
import type { Embedder, EmbedProgress } from '../ports.ts';
import { embedRelease, type PassageText, passageText } from '../semantic/embed-release.ts';
import { sweepVectors } from '../semantic/sweep-vectors.ts';
import { readVectors } from '../semantic/vector-file.ts';
import { KEYWORD_FILE, VECTOR_FILE } from './build-index.ts';
import { readSectionFacts, type SectionFacts } from './section-facts.ts';

/** Vectors that are there for this model are kept; its `digest` is known before it is loaded. */
export async function embedInThread(
  { searchDir, release, cacheDir }: EmbedOrder,
  digest: string,
  load: () => Promise<Embedder>,
  onProgress: (progress: EmbedProgress) => void,
  signal: AbortSignal,
): Promise<{ modelDigest: string }> {
  yieldToReaders();
  const file = join(searchDir, VECTOR_FILE);
  const known = await readVectors(file, digest).catch(() => null);
  if (known !== null) {
    onProgress({ passages: known.sections.length, embedded: known.sections.length });
    return { modelDigest: digest };
  }
  const keyword = KeywordIndex.open(join(searchDir, KEYWORD_FILE));
  try {
    const facts = await readSectionFacts(searchDir, keyword.count);
    const embedder = await load();
    try {
      await embedRelease({
        passages: () => passageTexts(keyword, facts, embedder),
        embedder,
        release,
        cacheDir,
        file,
        signal,
        onProgress,
      });
      await sweepCache(searchDir, join(cacheDir, digest), embedder.dims);
    } finally {
      await embedder.close?.();
    }
  } finally {
    keyword.close();
  }
  return { modelDigest: digest };
}

/** Bounded by the releases that are stored. A sweep that fails is made good after the next release. */
async function sweepCache(searchDir: string, folder: string, dims: number): Promise<void> {
  const releasesDir = dirname(dirname(searchDir));
  const stored = await readdir(releasesDir).catch(() => null);
  if (stored !== null) await sweepVectors(folder, dims, new Set(stored), Date.now()).catch(() => undefined);
}

function* passageTexts(keyword: KeywordIndex, facts: SectionFacts, embedder: Embedder): Generator<PassageText> {
  for (let number = 0; number < facts.count; number += 1) {
    const language = facts.language(number);
    if (language !== null && !embedder.reads(language)) continue;
    const section = keyword.section(number);
    if (section === null) continue;
    for (const passage of facts.passages(number)) yield { section: number, text: passageText(section, passage) };
  }
}
