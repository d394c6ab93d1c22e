import type { Edit } from '../rewrite/write.ts';
import type { MountSource } from './edits.ts';

/** `page`: an HTML page. `payload`, `data`: text and JSON files. */
export type GeneratorPlace = 'page' | 'script' | 'payload' | 'data' | 'other';

/** A shape that a generator writes; a text of another shape is left alone. */
interface MountRow {
  readonly generator: string;
  readonly in: readonly GeneratorPlace[];
  /** In the text. */
  readonly mark: string | RegExp;
  edits(source: MountSource): Iterable<Edit>;
}

const ROWS: readonly MountRow[] = [];

export function editsOfGenerators(place: GeneratorPlace, source: MountSource): Edit[] {
  const { text } = source;
  return ROWS.filter((row) => row.in.includes(place) && isIn(text, row.mark)).flatMap((row) => [...row.edits(source)]);
}

function isIn(text: string, mark: string | RegExp): boolean {
  return typeof mark === 'string' ? text.includes(mark) : mark.test(text);
}
