import { Random } from './random.ts';
import type { Document, TestSet } from './test-set.ts';

const SEED = 9;
/** About 170 words, like a section of a documentation site. */
const SECTION_CHARACTERS = 1_000;

/** Sections of shuffled sentences of the sets, one at a time, so that memory stays constant. */
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
