import { DocshelfError } from '../domain/errors.ts';
import { type CallOutcome, outcomeOf } from '../threads/call-outcome.ts';
import type { FromThread } from './messages.ts';
import type { Embedder } from './ports.ts';

type Asked = FromThread & { readonly kind: 'embed' };
type MaybeEmbedder = Embedder | null;

/** Embeds for a thread whose model is an endpoint (`ParentEmbedder`): the way to it is here. Never rejects. */
export function embedFor(
  asked: Asked,
  embedder: MaybeEmbedder | Promise<MaybeEmbedder>,
  signal?: AbortSignal,
): Promise<CallOutcome> {
  return outcomeOf(asked.id, embed(asked, embedder, signal));
}

async function embed(
  { purpose, texts }: Asked,
  given: MaybeEmbedder | Promise<MaybeEmbedder>,
  signal: AbortSignal | undefined,
): Promise<Float32Array[]> {
  const embedder = await given;
  if (embedder === null) throw new DocshelfError('internal', 'Cannot embed: there is no embedder');
  if (purpose === 'passages') return embedder.embedPassages(texts, signal);
  return [await embedder.embedQuery(texts[0] ?? '', signal)];
}
