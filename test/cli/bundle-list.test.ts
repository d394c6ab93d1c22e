import { expect, it } from 'vitest';
import { VERSION_COLUMNS } from '../../src/cli/bundle/index.ts';
import { listing } from '../../src/cli/output.ts';

it('bundle list prints a header, a row for each version, and a row for a site without a version', () => {
  const version = {
    version: '2024-06-01',
    digest: 'a'.repeat(64),
    pages: 12,
    files: 30,
    bytes: 5 * 1024 ** 2,
    source: 'import' as const,
    createdAt: '2024-06-01T10:00:00Z',
    fetchedAt: '2024-06-02T10:00:00Z',
    isActive: true,
    isPinned: true,
  };
  expect(listing(VERSION_COLUMNS, [version, {}]).split('\n')).toEqual([
    'VERSION     STATE           PAGES  SIZE     CREATED     SOURCE  DIGEST',
    '2024-06-01  active, pinned  12     5.0 MiB  2024-06-01  import  aaaaaaaaaaaa',
    '-',
  ]);
});
