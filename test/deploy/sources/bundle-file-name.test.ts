import { expect, test } from 'vitest';
import { bundleFileName } from '../../../src/deploy/sources/http-bundle-source.ts';

const LINK = 'https://store.example/exports/acme-export-2024-06-01.tar.gz?sig=1';

test.each([
  ['attachment; filename="docs-v1.2.3.zip"', [LINK], 'docs-v1.2.3.zip'],
  ["attachment; filename=x; filename*=UTF-8''b%C3%BCcher.zip", [LINK], 'bücher.zip'],
  ['attachment; filename="../../etc/passwd"', [LINK], 'passwd'],
  ['attachment; filename="C:\\\\temp\\\\a.zip"', [LINK], 'a.zip'],
  ['attachment', [LINK], 'acme-export-2024-06-01.tar.gz'],
  ['"""; filename', [LINK], 'acme-export-2024-06-01.tar.gz'],
  [null, [LINK], 'acme-export-2024-06-01.tar.gz'],
  [null, ['https://a.example/d%20e.zip'], 'd e.zip'],
  [null, ['https://a.example/100%.zip'], '100%.zip'],
  [null, ['https://a.example/'], null],
  ['attachment; filename="acme-2024-06-04 (1).tar.gz"', [LINK], 'acme-2024-06-04 (1).tar.gz'],
  ["attachment; filename*=UTF-8''acme-2024-06-04%20%281%29.tar.gz", [LINK], 'acme-2024-06-04 (1).tar.gz'],
  [null, ['https://a.example/acme-2024-06-04%20%281%29.tar.gz?sig=1'], 'acme-2024-06-04 (1).tar.gz'],
  ["attachment; filename*=UTF-8''a%E2%80%AEgz.zip", [LINK], 'agz.zip'],
  ['attachment; filename="a\u0085b.zip"', [LINK], 'ab.zip'],
  [null, ['https://a.example/a%0A%E2%81%A6b.zip'], 'ab.zip'],
])('bundleFileName(%j, %j) is %j', (contentDisposition, links, name) => {
  expect(bundleFileName(contentDisposition, links)).toBe(name);
});

test('bundleFileName() returns the archive name from the address before or after a redirect, and otherwise the last part of the address after the redirect', () => {
  expect(bundleFileName(null, [LINK, 'https://cdn.example/objects/af31'])).toBe('acme-export-2024-06-01.tar.gz');
  expect(bundleFileName(null, ['https://a.example/latest', LINK])).toBe('acme-export-2024-06-01.tar.gz');
  expect(bundleFileName(null, ['https://a.example/latest', 'https://b.example/af31'])).toBe('af31');
});
