import { Random } from './random.ts';
import type { Document, TestSet } from './test-set.ts';

const SEED = 9;
/** About 170 words, what a section of a documentation site has. */
const SECTION_CHARACTERS = 1_000;

/** Sections made of the sets' own sentences in another order, one at a time: 100,000 need no memory. */
export function* synthetic(sets: readonly TestSet[], count: number): Generator<Document> {
  const random = new Random(SEED);
  const documents = sets.flatMap((set) => set.documents);
  const titles = documents.map(({ title }) => title).filter((title) => title !== '');
  const sentences = documents.flatMap(({ text }) => text.split(/\n+|(?<=[.!?]) /)).filter((text) => text.length > 20);
  for (let at = 0; at < count; at += 1) {
    let text = '';
    while (text.length < SECTION_CHARACTERS) text += `${random.oneOf(sentences)}\n`;
    yield { id: `/page-${at}`, title: random.oneOf(titles), text };
  }
}
