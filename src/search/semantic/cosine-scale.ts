import { DocshelfError } from '../../domain/errors.ts';
import type { Embedder } from '../ports.ts';

/**
 * Cosines mean different things: unrelated texts have .02 by MiniLM and .79 by multilingual-e5-small. Two anchors, measured on
 * questions with their own and with others' answers, bring them to the built-in model's scale, on which ranking is fitted.
 */
export interface CosineScale {
  /** Mean cosine of a question and its own answer; `unrelated`: and another's. */
  readonly related: number;
  readonly unrelated: number;
}

export const COMMON_SCALE: CosineScale = { related: 0.625, unrelated: 0.017 };

/** Half of what e5, the narrowest scale that was seen, has between its anchors. */
const SPAN_MIN = 0.04;

/** On eight subjects far apart, so that "another's answer" is an unrelated one. */
const ANSWERS: Readonly<Record<string, string>> = {
  'how do I change my password':
    'Open the account settings, choose Security, and enter a new password twice to replace the old one.',
  'what file formats can be imported':
    'The importer reads CSV, JSON and XML files; other formats must be converted before they are uploaded.',
  'why does the build run out of memory':
    'The compiler keeps every module in memory. Raise the heap limit or build fewer packages at the same time.',
  'delete an old database backup':
    'Backups are removed with the prune command, which asks for the date before which they are deleted.',
  'when is my invoice sent':
    'Billing takes place on the first day of each month; the invoice arrives by mail shortly afterwards.',
  'draw a line chart with two axes':
    'A chart has one axis by default. Pass a second scale to plot another series against its own axis on the right.',
  'translate the interface into another language':
    'Texts of the interface are kept in one catalogue per locale. Copy the English one and translate its messages.',
  'retry a request after a timeout':
    'The client repeats failed requests with exponential backoff, and gives up when the deadline has passed.',
};

/** Embeds 16 short texts: 0.1 s. @throws DocshelfError `model_invalid` where no answer is told; the embedder's errors */
export async function measureScale(embedder: Embedder, signal?: AbortSignal): Promise<CosineScale> {
  const passages = await embedder.embedPassages(Object.values(ANSWERS), signal);
  let related = 0;
  let unrelated = 0;
  for (const [own, question] of Object.keys(ANSWERS).entries()) {
    const query = await embedder.embedQuery(question, signal);
    for (const [at, passage] of passages.entries()) {
      const cosine = passage.reduce((sum, value, dim) => sum + value * (query[dim] as number), 0);
      if (at === own) related += cosine / passages.length;
      else unrelated += cosine / (passages.length * (passages.length - 1));
    }
  }
  if (related - unrelated >= SPAN_MIN) return { related, unrelated };
  const state = `an answer is as near to its question (${related.toFixed(3)}) as any other text (${unrelated.toFixed(3)})`;
  const name = embedder.digest.slice(0, 12);
  throw new DocshelfError('model_invalid', `Cannot use the embedding model "${name}": ${state}`, {
    next: 'Use a model that is made for retrieval, with its tokenizer, pooling and prompts beside it.',
  });
}

/** Straight, so that no order changes; cosines may leave -1 to 1. */
export function commonScaleOf({ related, unrelated }: CosineScale): (cosine: number) => number {
  const span = (COMMON_SCALE.related - COMMON_SCALE.unrelated) / (related - unrelated);
  return (cosine) => COMMON_SCALE.unrelated + (cosine - unrelated) * span;
}
