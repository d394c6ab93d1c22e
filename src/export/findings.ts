import { type ExportReport, FINDINGS_MAX, type Finding } from '../domain/job.ts';

/** Collects what an export finds, within the bound of a report: the rest is counted. Plain data comes out. */
export class Findings {
  readonly #counts = new Map<string, number>();
  readonly #listed: Finding[] = [];

  static of({ counts, listed }: FoundSoFar): Findings {
    const findings = new Findings();
    for (const [kind, count] of Object.entries(counts)) findings.#counts.set(kind, count);
    findings.#listed.push(...listed);
    return findings;
  }

  add(finding: Finding): void {
    this.#counts.set(finding.kind, (this.#counts.get(finding.kind) ?? 0) + 1);
    if (this.#listed.length < FINDINGS_MAX) this.#listed.push(finding);
  }

  /** In the order of pages, kinds and details, so that the same site gives the same report. */
  get soFar(): FoundSoFar {
    const counts = Object.fromEntries([...this.#counts].sort(([a], [b]) => compare(a, b)));
    const listed = [...this.#listed].sort(
      (a, b) => compare(a.page, b.page) || compare(a.kind, b.kind) || compare(a.detail, b.detail),
    );
    return { counts, listed };
  }
}

export interface FoundSoFar {
  /** How many of each kind. */
  readonly counts: Readonly<Record<string, number>>;
  readonly listed: readonly Finding[];
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

export function reportOf(
  jobId: string,
  totals: { readonly pages: number; readonly files: number; readonly bytes: number },
  { counts, listed }: FoundSoFar,
): ExportReport {
  return { jobId, pages: totals.pages, files: totals.files, bytes: totals.bytes, counts, findings: listed };
}
