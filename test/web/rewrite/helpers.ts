import { findReferences } from '../../../src/web/rewrite/find-references.ts';
import type { SourceType } from '../../../src/web/rewrite/source-text.ts';
import { rewriteFile } from '../../../src/web/rewrite/write.ts';

/** References as `kind url`. */
export function found(type: SourceType, text: string): string[] {
  const bytes = Buffer.from(text);
  return findReferences({ type, bytes }).references.map(({ kind, url }) => `${kind} ${url}`);
}

/** Replaces each reference by `replacement`, or adds `new/` to its address. */
export function rewritten(type: SourceType, text: string, replacement?: string): string {
  const bytes = Buffer.from(text);
  const references = findReferences({ type, bytes });
  return Buffer.from(rewriteFile(bytes, references, ({ url }) => replacement ?? `new/${url}`).bytes).toString();
}

/** A text, its references, and the text after `rewritten()`. */
export interface Probe {
  readonly text: string;
  readonly references: readonly string[];
  readonly after: string;
}

/**
 * Reads a text that contains `«kind url»` instead of each address, or `«kind url¦notation»` if the text writes the address in
 * another notation. `written` is the replacement in the notation of the text, and `raw` its notation for `‹kind url›`, which
 * marks an address in a script or style sheet of a page. docshelf leaves an address of the kind `mounted` unchanged.
 */
export function probeOf(marked: string, written = 'N', raw = written): Probe {
  const references: string[] = [];
  const fill = (write: (mark: string, kind: string, url: string, notation: string) => string): string =>
    marked.replace(/([«‹])(\w+) ([^¦»›]*)(?:¦([^»›]*))?[»›]/g, (_, mark, kind, url, notation = url) =>
      write(mark, kind, url, notation),
    );
  const text = fill((_mark, kind, url, notation) => {
    references.push(`${kind} ${url}`);
    return notation;
  });
  const after = fill((mark, kind, _url, notation) => {
    if (kind === 'mounted') return notation;
    return (kind === 'module' || kind === 'prefix' ? './' : '') + (mark === '«' ? written : raw);
  });
  return { text, references, after };
}
