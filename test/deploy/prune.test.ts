import { describe, expect, test } from 'vitest';
import { digestsToPrune, type PrunedRelease } from '../../src/deploy/activation.ts';

const release = (digest: string, fetchedAt: string, servedAt: string | null = null): PrunedRelease => ({
  digest,
  fetchedAt,
  servedAt,
});
const rule = (keep: number, inUse: string[], previous: string[] = []) => ({
  keep,
  inUse: new Set(inUse),
  previous: new Set(previous),
});

describe('digestsToPrune() (old releases to remove)', () => {
  test('orders releases by the time they were last active, not by their import', () => {
    const releases = [release('a', '2024-01-01', '2024-09-01'), release('b', '2024-02-01', '2024-03-01')];
    expect(digestsToPrune([...releases, release('c', '2024-05-01', '2024-09-02')], rule(1, ['c']))).toEqual(['b']);
  });

  test('keeps the newest releases that were never active, in addition to formerly active releases', () => {
    const staged = ['2024-02-01', '2024-03-01', '2024-04-01'].map((at) => release(at, at));
    const releases = [...staged, release('a', '2024-01-01', '2024-01-02'), release('z', '2024-05-01', '2024-05-02')];
    expect(digestsToPrune(releases, rule(2, ['z']))).toEqual(['2024-02-01']);
  });

  test('never selects the previously active release, which counts toward staticExport.keep', () => {
    const releases = [release('a', '1', '1'), release('b', '2', '2'), release('c', '3', '3')];
    expect(digestsToPrune(releases, rule(1, ['c'], ['a']))).toEqual(['b']);
    expect(digestsToPrune(releases, rule(2, ['c'], ['a']))).toEqual([]);
  });

  test('keeps only releases in use if staticExport.keep is 0', () => {
    const releases = [release('a', '1', '1'), release('b', '2'), release('c', '3', '3')];
    expect(digestsToPrune(releases, rule(0, ['c'], ['a']))).toEqual(['a', 'b']);
  });
});
