import { expect, it } from 'vitest';
import { canonicalise } from '../../src/site/request.ts';

// Node's HTTP/1.1 parser rejects these targets, but HTTP/2 does not. The rows in test/http/rows cover all other targets.
it.each(['', 'a/b', '?x'])('canonicalise() reports the target %j as malformed', (target) => {
  expect(canonicalise(target)).toEqual({ kind: 'malformed' });
});
