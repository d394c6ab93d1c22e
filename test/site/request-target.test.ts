import { describe, expect, it } from 'vitest';
import { canonicalise } from '../../src/site/request.ts';

// The rows in test/http/rows cover all other targets.
describe('canonicalise()', () => {
  // Node's HTTP/1.1 parser rejects these targets, but HTTP/2 does not.
  it.each(['', 'a/b', '?x'])('reports the target %j as malformed', (target) => {
    expect(canonicalise(target)).toEqual({ kind: 'malformed' });
  });

  it('reports that an address over the limit has no valid path', () => {
    expect(canonicalise(`/${'a'.repeat(5000)}`)).toEqual({ kind: 'nowhere' });
  });

  it.each([
    ['/a#b?c', ''],
    ['/a?b#c', '?b'],
  ])('omits the fragment of the request target %s from the query', (target, query) => {
    expect(canonicalise(target)).toEqual({ kind: 'path', path: 'a', query });
  });
});
