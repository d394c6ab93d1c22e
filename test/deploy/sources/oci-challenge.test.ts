import { describe, expect, test } from 'vitest';
import { parseChallenges } from '../../../src/deploy/sources/oci-bundle-source.ts';

describe('parseChallenges() (WWW-Authenticate header of a registry)', () => {
  test('parses schemes and parameters, quoted, plain and escaped', () => {
    const header = 'Bearer realm="https://auth.example/token?a=1,2",service="a \\"b\\"",scope=pull, Basic realm="x"';
    expect(parseChallenges(header)).toEqual([
      { scheme: 'bearer', parameters: { realm: 'https://auth.example/token?a=1,2', service: 'a "b"', scope: 'pull' } },
      { scheme: 'basic', parameters: { realm: 'x' } },
    ]);
  });

  test('accepts names in any case, and a scheme without parameters', () => {
    expect(parseChallenges('BASIC Realm=x')).toEqual([{ scheme: 'basic', parameters: { realm: 'x' } }]);
    expect(parseChallenges('Negotiate, Basic')).toEqual([
      { scheme: 'negotiate', parameters: {} },
      { scheme: 'basic', parameters: {} },
    ]);
  });

  test('returns no challenge for an empty text', () => {
    expect(parseChallenges('')).toEqual([]);
    expect(parseChallenges(' ,;= ')).toEqual([]);
  });
});
