import { readFile } from 'node:fs/promises';
import type { Finding, SiteSink } from '../../src/domain/job.ts';

/** Keeps what a source gives, as text. */
export class RecordingSink implements SiteSink {
  readonly files = new Map<string, string>();
  readonly findings: Finding[] = [];
  readonly shares: number[] = [];
  inFlight = 0;
  inFlightMax = 0;

  async add(path: string, content: Uint8Array | { readonly file: string }): Promise<void> {
    this.inFlight += 1;
    this.inFlightMax = Math.max(this.inFlightMax, this.inFlight);
    const bytes = content instanceof Uint8Array ? content : await readFile(content.file);
    this.inFlight -= 1;
    if (this.files.has(path)) throw new Error(`"${path}" is given twice`);
    this.files.set(path, Buffer.from(bytes).toString('utf8'));
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

  /** Paths of what was left out. */
  get leftOut(): string[] {
    return this.findings.filter(({ kind }) => kind === 'left_out').map(({ page }) => page);
  }
}
