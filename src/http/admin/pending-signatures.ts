import { DocshelfError } from '../../domain/errors.ts';
import { collect } from '../../files/index.ts';

/** Contract, section 2. */
const KEEP_MS = 10 * 60_000;
const KEPT_MAX = 100;
/** Twice what minisign writes at most. */
const SIGNATURE_BYTES_MAX = 20_000;

/** By the name of the archive that follows. In memory: a restart forgets them. */
export class PendingSignatures {
  readonly #kept = new Map<string, { readonly text: string; readonly untilMs: number }>();

  put(fileName: string, text: string, nowMs = Date.now()): void {
    this.#forgetOld(nowMs);
    this.#kept.delete(fileName);
    const oldest = this.#kept.keys().next();
    if (this.#kept.size >= KEPT_MAX && oldest.done !== true) this.#kept.delete(oldest.value);
    this.#kept.set(fileName, { text, untilMs: nowMs + KEEP_MS });
  }

  /** Kept until its archive is taken in: a failed upload may be tried again. */
  get(fileName: string, nowMs = Date.now()): string | null {
    this.#forgetOld(nowMs);
    return this.#kept.get(fileName)?.text ?? null;
  }

  remove(fileName: string): void {
    this.#kept.delete(fileName);
  }

  #forgetOld(nowMs: number): void {
    for (const [fileName, { untilMs }] of this.#kept) if (untilMs <= nowMs) this.#kept.delete(fileName);
  }
}

/** @throws DocshelfError `payload_too_large`. */
export async function readSignature(body: ReadableStream<Uint8Array>): Promise<string> {
  const bytes = await collect(body, SIGNATURE_BYTES_MAX);
  if (bytes !== null) return bytes.toString();
  const message = `Cannot take the signature: it is larger than ${SIGNATURE_BYTES_MAX} bytes`;
  throw new DocshelfError('payload_too_large', message, {
    next: 'Send the text of the .minisig file.',
    fields: { bytesMax: SIGNATURE_BYTES_MAX },
  });
}
