import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Finding, SiteSink, StoredContent } from '../../src/domain/job.ts';
import type { FileStore } from '../../src/files/file-store.ts';

/** In-memory site that receives the files of a source. */
export class RecordingSink implements SiteSink {
  readonly files = new Map<string, Buffer>();
  /** Media types of stored files. */
  readonly types = new Map<string, string>();
  readonly findings: Finding[] = [];
  readonly shares: number[] = [];
  inFlight = 0;
  inFlightMax = 0;
  readonly #store: FileStore | null;

  /** @param store contains the content of stored files */
  constructor(store: FileStore | null = null) {
    this.#store = store;
  }

  async add(path: string, content: Uint8Array | { readonly file: string } | StoredContent): Promise<void> {
    this.inFlight += 1;
    this.inFlightMax = Math.max(this.inFlightMax, this.inFlight);
    const isStored = 'sha256' in content;
    if (isStored && this.#store === null) throw new Error(`"${path}" is stored, and no store is known`);
    const file = isStored ? this.#store?.pathOf(content.sha256) : content instanceof Uint8Array ? null : content.file;
    const bytes = content instanceof Uint8Array ? Buffer.from(content) : await readFile(file ?? '');
    this.inFlight -= 1;
    if (this.files.has(path)) throw new Error(`"${path}" is given twice`);
    if (isStored) {
      if (createHash('sha256').update(bytes).digest('hex') !== content.sha256) throw new Error(`"${path}" is damaged`);
      this.types.set(path, content.type);
    }
    this.files.set(path, bytes);
  }

  find(finding: Finding): void {
    this.findings.push(finding);
  }

  progress(done: number, total: number): void {
    this.shares.push(done / total);
  }

  get paths(): string[] {
    return [...this.files.keys()].sort();
  }

  /** File as text. @throws Error if the site has no such file */
  text(path: string): string {
    const bytes = this.files.get(path);
    if (bytes === undefined) throw new Error(`the site has no "${path}", but ${this.paths.join(', ')}`);
    return bytes.toString('utf8');
  }

  /** All files as text, by path. */
  get texts(): Record<string, string> {
    return Object.fromEntries(this.paths.map((path) => [path, this.text(path)]));
  }

  found(kind: string): Finding[] {
    return this.findings.filter((finding) => finding.kind === kind);
  }

  /** Details of the findings of a kind. */
  details(kind: string): string[] {
    return this.found(kind).map(({ detail }) => detail);
  }

  /** Paths of omitted files. */
  get leftOut(): string[] {
    return this.found('left_out').map(({ page }) => page);
  }
}
