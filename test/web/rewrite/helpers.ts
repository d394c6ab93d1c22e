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
