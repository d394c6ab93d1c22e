import { describe, expect, it } from 'vitest';
import { FINDINGS_MAX } from '../../src/domain/job.ts';
import { FindingList } from '../../src/export/findings.ts';

function add(findings: FindingList, kind: string, count: number): void {
  for (let at = 0; at < count; at += 1) findings.add({ kind, page: `${String(at).padStart(6, '0')}.html`, detail: '' });
}

describe('FindingList (size-limited list in an export report)', () => {
  it('lists all findings of a rare kind, however many findings of a frequent kind exist', () => {
    const findings = new FindingList();
    add(findings, 'left_out', 90_000);
    add(findings, 'broken_reference', 700);
    add(findings, 'not_fetched', 3);
    const { counts, listed } = FindingList.of(findings.soFar).soFar;
    expect(counts).toEqual({ broken_reference: 700, left_out: 90_000, not_fetched: 3 });
    expect(listed).toHaveLength(FINDINGS_MAX);
    const of = (kind: string) => listed.filter((finding) => finding.kind === kind).length;
    expect([of('not_fetched'), of('broken_reference'), of('left_out')]).toEqual([3, 499, 498]);
  });

  it('lists all findings in the order of pages if the report has room for all', () => {
    const findings = new FindingList();
    add(findings, 'b', 2);
    add(findings, 'a', 1);
    expect(findings.soFar.listed.map(({ kind, page }) => `${page} ${kind}`)).toEqual([
      '000000.html a',
      '000000.html b',
      '000001.html b',
    ]);
  });
});
