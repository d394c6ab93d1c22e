import { expect, test } from 'vitest';
import { compareVersions } from '../../src/domain/version.ts';

test.each([
  ['2024-06-01', '2024-06-02', -1],
  ['2024-06-01', '2024-06-01', 0],
  ['2025-01-01', '2024-12-31', 1],
  ['v1.2.3', 'v1.10.0', -1],
  ['v2', '2.0.0', 0],
  ['1.0.0-alpha', '1.0.0-alpha.1', -1],
  ['1.0.0-alpha.1', '1.0.0-alpha.beta', -1],
  ['1.0.0-beta.2', '1.0.0-beta.11', -1],
  ['1.0.0-rc.1', '1.0.0', -1],
  ['1.0.0+build.1', '1.0.0', 0],
  ['v99999999999999999999.0.0', 'v99999999999999999999.0.1', -1],
  ['2024-06-01', 'v1.2.3', null],
  ['v1.2.3', 'latest', null],
  ['0123456789ab', 'v1', null],
])('compareVersions(%j, %j) is %j, and its opposite the other way round', (a, b, order) => {
  expect(compareVersions(a, b)).toBe(order);
  expect(compareVersions(b, a)).toBe(order === null || order === 0 ? order : -order);
});
