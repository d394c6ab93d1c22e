import { FINDINGS_MAX, type Finding } from '../domain/job.ts';

/** Counts all findings of a report, but lists at most FINDINGS_MAX, divided among the kinds of findings. */
export class FindingList {
  readonly #counts = new Map<string, number>();
  readonly #listed = new Map<string, Finding[]>();

  static of({ counts, listed }: FoundSoFar): FindingList {
    const findings = new FindingList();
    for (const finding of listed) findings.#list(finding);
    for (const [kind, count] of Object.entries(counts)) findings.#counts.set(kind, count);
    return findings;
  }

  add(finding: Finding): void {
    this.#counts.set(finding.kind, (this.#counts.get(finding.kind) ?? 0) + 1);
    this.#list(finding);
  }

  get soFar(): FoundSoFar {
    const counts = Object.fromEntries([...this.#counts].sort(([a], [b]) => compare(a, b)));
    const listed = this.#shares().sort(
      (a, b) => compare(a.page, b.page) || compare(a.kind, b.kind) || compare(a.detail, b.detail),
    );
    return { counts, listed };
  }

  #list(finding: Finding): void {
    const ofKind = this.#listed.get(finding.kind);
    if (ofKind === undefined) this.#listed.set(finding.kind, [finding]);
    else if (ofKind.length < FINDINGS_MAX) ofKind.push(finding);
  }

  #shares(): Finding[] {
    const kinds = [...this.#listed.values()].sort((a, b) => a.length - b.length);
    const shares: Finding[] = [];
    for (const [at, ofKind] of kinds.entries())
      shares.push(...ofKind.slice(0, Math.ceil((FINDINGS_MAX - shares.length) / (kinds.length - at))));
    return shares.slice(0, FINDINGS_MAX);
  }
}

export type FoundSoFar = { readonly counts: Readonly<Record<string, number>>; readonly listed: readonly Finding[] };

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
