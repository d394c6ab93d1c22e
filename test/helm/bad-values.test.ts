import { beforeAll, describe, expect, it } from 'vitest';
import { CHART, fetchHelm, helm, valueFiles } from './chart.ts';

beforeAll(fetchHelm, 120_000);

/** Message of helm for rejected values. */
function refusal(file: string): string {
  try {
    helm('template', 'docshelf', CHART, '--values', file);
  } catch (error) {
    return String((error as { stderr: unknown }).stderr);
  }
  throw new Error('helm has taken the values');
}

describe('values that the chart rejects', () => {
  it.each(valueFiles('test/helm/bad-values'))(
    'cause the error that the first line of the values file $name expects: $firstLine',
    ({ file, firstLine }) => {
      const text = refusal(file);
      expect(text).toMatch(new RegExp(firstLine.replace(/^# /, '')));
      // A template error would name Go types instead of the fix.
      expect(text).not.toMatch(/nil pointer|wrong type|can't evaluate|error calling (?!fail)/);
    },
  );
});
