import { describe, expect, it } from 'vitest';
import { canonicalise } from '../../src/site/request.ts';

// The rows in test/http/rows cover all other targets.
describe('canonicalise() (normalization of a request target)', () => {
  // Node's HTTP/1.1 parser rejects these targets, but HTTP/2 does not.
  it.each(['', 'a/b', '?x'])('returns "malformed" for the target %j', (target) => {
    expect(canonicalise(target)).toEqual({ kind: 'malformed' });
  });

  it('returns no path for an address that is longer than the limit', () => {
    expect(canonicalise(`/${'a'.repeat(5000)}`)).toEqual({ kind: 'nowhere' });
  });

  it.each([
    ['/a#b?c', ''],
    ['/a?b#c', '?b'],
  ])('omits the fragment of the request target %s from the query', (target, query) => {
    expect(canonicalise(target)).toEqual({ kind: 'path', path: 'a', query });
  });
});
