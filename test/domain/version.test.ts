import { expect, test } from 'vitest';
import { compareFileNames, compareVersions, versionFromFileName } from '../../src/domain/version.ts';

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
])('compareVersions(%j, %j) is %j, and the opposite with swapped arguments', (a, b, order) => {
  expect(compareVersions(a, b)).toBe(order);
  expect(compareVersions(b, a)).toBe(order === null || order === 0 ? order : -order);
});

test.each([
  ['acme-export-2024-06-04.tar.gz', '2024-06-04'],
  ['acme-v1.2.3.zip', 'v1.2.3'],
  // Chrome, Edge, KDE, and Firefox mark a copy in these ways.
  ['acme-export-2024-06-04 (1).tar.gz', '2024-06-04'],
  ['acme-export-2024-06-04 (12).tgz', '2024-06-04'],
  ['acme-export-2024-06-04(2).tar.zst', '2024-06-04'],
  ['v1.2.3 (1).zip', 'v1.2.3'],
  ['v1.2.3(1).tar', 'v1.2.3'],
  // Some programs treat only .gz as the extension, and mark a copy before it.
  ['acme-export-2024-06-04.tar (1).gz', '2024-06-04'],
  ['acme-export-2024-06-04.tar(1).zst', '2024-06-04'],
  ['acme-export-2024-06-04.tar.gz (1)', '2024-06-04'],
  // This file is a copy of a copy.
  ['acme-export-2024-06-04 (1) (2).tar.gz', '2024-06-04'],
  ['acme-export-2024-06-04 (1).tar (1).gz', '2024-06-04'],
  // Web forms, stores, and browsers encode the space before the mark.
  ['acme-export-2024-06-04+(1).tar.gz', '2024-06-04'],
  ['acme-export-2024-06-04_(1).tar.gz', '2024-06-04'],
  ['acme-export-2024-06-04%20(1).tar.gz', '2024-06-04'],
  ['acme-export-2024-06-04%20%281%29.tar.gz', '2024-06-04'],
  ['acme-export-2024-06-04\u00a0(1).tar.gz', '2024-06-04'],
  // Safari, and Chrome on Android, mark a copy in these ways.
  ['acme-export-2024-06-04-1.tar.gz', '2024-06-04'],
  ['acme-export-2024-06-04.tar-2.gz', '2024-06-04'],
  // wget and curl --no-clobber mark a copy in these ways.
  ['acme-export-2024-06-04.tar.gz.1', '2024-06-04'],
  // Finder, Explorer, and GNOME mark a copy in these ways.
  ['acme-export-2024-06-04 2.tar.gz', '2024-06-04'],
  ['acme-export-2024-06-04 copy.tar.gz', '2024-06-04'],
  ['acme-export-2024-06-04 copy 2.tar.gz', '2024-06-04'],
  ['acme-export-2024-06-04 - Copy.tar.gz', '2024-06-04'],
  ['acme-export-2024-06-04.tar - Copy (2).gz', '2024-06-04'],
  ['acme-export-2024-06-04 (copy).tar.gz', '2024-06-04'],
])('versionFromFileName(%j) is %j', (name, version) => {
  expect(versionFromFileName(name)).toBe(version);
});

test.each([
  'acme.tar.gz',
  'acme (1).tar.gz',
  // The number after the version can be a pre-release, a build, or a time.
  'acme-v1.2.3-1.tar.gz',
  'acme-v1.2.3-rc (1).tar.gz',
  'acme-2024-06-04-1530.tar.gz',
  'acme-2024-06-04-12.tar.gz',
  'acme-2024-06-04 (draft).tar.gz',
  'acme-2024-06-04 (12345).tar.gz',
  'acme-2024-06-04.5.tar.gz',
  'acme-2024-13-04 (1).tar.gz',
  '(1).tar.gz',
  '',
])('versionFromFileName(%j) is null', (name) => {
  expect(versionFromFileName(name)).toBeNull();
});

test.each(['(1)', ' ', '.tar', '-1', ' copy', '.gz.1', ' (', '+(1', ' - Copy', ' 1'])(
  'versionFromFileName() returns null in bounded time for the longest name that repeats %j',
  (piece) => {
    const name = piece.repeat(255).slice(0, 255);
    for (let turn = 0; turn < 100; turn += 1) expect(versionFromFileName(`${name.slice(1)}x`)).toBeNull();
    expect(versionFromFileName(name)).toBeNull();
    expect(versionFromFileName(`${piece.repeat(20_000)}2024-06-04.tar.gz`)).toBeNull();
  },
);

test('compareFileNames() sorts archives of a site by version, pre-releases before their version', () => {
  const inOrder = [
    'docs-1.9.tar.gz',
    'docs-1.9.1.tar.gz',
    'docs-1.10.zip',
    'docs-2024-06-01.tar.gz',
    'docs-2024-06-02 (1).tar.gz',
    'docs-v1.0.0-beta.tar.gz',
    'docs-v1.0.0-beta.2.tar.gz',
    'docs-v1.0.0.tar.gz',
    'docs-v1.0.1.zip',
  ];
  expect(inOrder.toReversed().sort(compareFileNames)).toEqual(inOrder);
});
