import type { Mask, SectionFacts } from '../keyword/index.ts';
import type { Embedder } from '../ports.ts';
import type { VectorHit, VectorIndex } from '../semantic/index.ts';
import { votesIn, votesOn } from './rank.ts';

export class SemanticLeg {
  readonly #embedder: Embedder;
  readonly #vectors: VectorIndex;
  readonly #readable: Mask;

  constructor(embedder: Embedder, vectors: VectorIndex, facts: SectionFacts) {
    this.#embedder = embedder;
    this.#vectors = vectors;
    this.#readable = readableSections(embedder, facts);
  }

  /** Takes in the vectors that have joined. */
  refresh(): this {
    this.#vectors.refresh();
    return this;
  }

  close(): void {
    this.#vectors.close();
  }

  /** Null where the model has no vote, or cannot be asked. It is asked before this returns. */
  async read(query: string): Promise<Float32Array | null> {
    if (!votesOn(query, (language) => this.#embedder.reads(language))) return null;
    return this.#embedder.embedQuery(query).catch(() => null);
  }

  nearest(
    vector: Float32Array,
    given: readonly number[],
    { allowed, limit }: { readonly allowed: Mask; readonly limit: number },
  ): Map<number, VectorHit> {
    const readable = this.#readable;
    const also = readable === null ? given : given.filter((section) => readable[section] === 1);
    return this.#vectors.search(vector, { limit, allowed: both(allowed, readable), also });
  }
}

function readableSections(embedder: Embedder, facts: SectionFacts): Mask {
  // A language is judged once: working out a tag's script takes some microseconds.
  const votes = new Map<string | null, boolean>();
  const readable = new Uint8Array(facts.count);
  for (let section = 0; section < facts.count; section += 1) {
    const language = facts.language(section);
    const mayVote = votes.get(language) ?? votesIn(language, (tag) => embedder.reads(tag));
    votes.set(language, mayVote);
    readable[section] = mayVote ? 1 : 0;
  }
  return readable.includes(0) ? readable : null;
}

function both(one: Mask, other: Mask): Mask {
  if (one === null || other === null) return one ?? other;
  return one.map((may, section) => may & (other[section] ?? 0));
}
