import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { rawTar, rawZip } from '../helpers/archives.ts';
import { codesOf, openBench } from '../helpers/daemon.ts';
import { bundle, bundleWithManifest, sha256Of } from './bundles.ts';
import { Home, JUNE } from './home.ts';

const bench = openBench(afterEach);

describe('bundle verify', () => {
  test('reads a whole archive, and stores no version', async () => {
    const home = await Home.open(bench, 'without a daemon');
    const archive = bundleWithManifest('whole', { version: '7' });
    await writeFile(join(home.folder, 'whole.tar.gz'), archive);
    const result = await home.bundle(['verify', 'whole.tar.gz', '--sha256', sha256Of(archive)]);
    expect({ code: result.code, ...result.json() }).toEqual({
      code: 0,
      digest: sha256Of(archive),
      archiveBytes: archive.length,
      format: 'tar.gz',
      files: 3,
      pages: 2,
      manifest: { domain: 'docs', version: '7', createdAt: expect.any(String) },
      signature: null,
    });
    expect((await home.bundle(['list'])).json()).toMatchObject({ versions: [] });
  });

  test('exits with 65 for an archive that an import would reject', async () => {
    const home = await Home.open(bench, 'without a daemon');
    const broken = Buffer.from(bundle('broken'));
    // Checksum of the content in gzip (RFC 1952, section 2.3.1): the first of the last eight bytes.
    broken.writeUInt8(broken.readUInt8(broken.length - 8) ^ 1, broken.length - 8);
    // The listing and the pages that inspect reads are valid. Only a complete read finds the damage.
    const crc = 1;
    const rotten = rawZip([
      { name: 'index.html', body: '<title>Home</title>' },
      { name: 'style.css', body: 'p { margin: 0 }', local: { crc }, central: { crc } },
    ]);
    const lying = bundleWithManifest('lying', {
      files: [{ path: 'index.html', size: 1, sha256: sha256Of('x'), type: 'text/html' }],
    });
    await writeFile(join(home.folder, 'broken.tar.gz'), broken);
    await writeFile(join(home.folder, 'rotten.zip'), rotten);
    await writeFile(join(home.folder, 'lying.tar.gz'), lying);
    const refusalOf = async (...args: string[]): Promise<unknown> => {
      const result = await home.bundle(['verify', ...args]);
      return [result.code, result.json().code];
    };
    expect(await refusalOf('broken.tar.gz')).toEqual([65, 'wrong_crc']);
    expect((await home.bundle(['inspect', 'rotten.zip'])).code).toBe(0);
    expect(await refusalOf('rotten.zip')).toEqual([65, 'wrong_crc']);
    expect(await refusalOf('lying.tar.gz')).toEqual([65, 'manifest_mismatch']);
    expect(await refusalOf('docs-2024-06-01.tar.gz', '--sha256', sha256Of('another'))).toEqual([65, 'wrong_digest']);
    expect(await refusalOf('2030-01-01')).toEqual([69, 'version_not_found']);
  });

  test('accepts a plain tar without end blocks if the command states the digest of the tar', async () => {
    const home = await Home.open(bench, 'without a daemon');
    const archive = rawTar([{ name: 'index.html', body: '<title>Home</title>' }], Buffer.alloc(512));
    await writeFile(join(home.folder, 'open.tar'), archive);
    const refused = await home.bundle(['verify', 'open.tar']);
    expect([refused.code, refused.json().code]).toEqual([65, 'truncated']);
    expect(refused.json<{ next: string }>().next).toContain('sha256');
    expect((await home.bundle(['verify', 'open.tar', '--sha256', sha256Of(archive)])).json()).toMatchObject({
      pages: 1,
    });
  });

  test.each(['', 'abc', 'g'.repeat(64)])('rejects an invalid digest: "%s"', async (digest) => {
    const home = await Home.open(bench, 'without a daemon');
    expect(codesOf(await home.bundle(['verify', 'docs-2024-06-01.tar.gz', '--sha256', digest]))).toEqual([64, 'usage']);
  });

  test('lists the files of a stored version that were changed, removed or added on disk', async () => {
    const home = await Home.open(bench, 'without a daemon');
    await home.bundle(['import', 'docs-2024-06-01.tar.gz']);
    const digest = sha256Of(JUNE);
    const whole = await home.bundle(['verify', '2024-06-01']);
    const ofAll = { version: '2024-06-01', digest, sound: 2, changed: [], missing: [], unknown: [] };
    expect({ code: whole.code, ...whole.json() }).toEqual({ code: 0, ...ofAll });

    const site = join(home.folder, 'data/releases', digest, 'site');
    await writeFile(join(site, 'index.html'), (await readFile(join(site, 'index.html'), 'utf8')).replace('j', 'J'));
    await rm(join(site, 'guides/start.html'));
    await writeFile(join(site, 'stray.txt'), 'of nobody');
    const damaged = await home.bundle(['verify', '2024-06-01']);
    const found = { sound: 0, changed: ['index.html'], missing: ['guides/start.html'], unknown: ['stray.txt'] };
    expect({ code: damaged.code, ...damaged.json() }).toEqual({ code: 65, ...ofAll, ...found });
    const { stdout } = await bench.run(['bundle', 'verify', '2024-06-01'], { cwd: home.folder });
    expect(stdout).toContain('missing: guides/start.html');
  });
});

test('bundle diff compares stored versions and archives, with output as JSON, text or an HTML page', async () => {
  const home = await Home.open(bench, 'without a daemon');
  await home.bundle(['import', 'docs-2024-06-01.tar.gz']);
  await home.bundle(['import', 'docs-2024-07-01.tar.gz']);
  const diff = await home.bundle(['diff', '2024-06-01', '2024-07-01']);
  expect(diff.json()).toMatchObject({
    before: '2024-06-01',
    after: '2024-07-01',
    changed: [{ page: 'index.html' }, { page: 'guides/start.html' }],
  });
  const { before: _, after: __, ...pages } = diff.json() as Record<string, unknown>;
  const [june, july] = ['docs-2024-06-01.tar.gz', 'docs-2024-07-01.tar.gz'];
  for (const [before, after] of [
    [june, july],
    ['2024-06-01', july],
    [june, '2024-07-01'],
  ] as const) {
    expect((await home.bundle(['diff', before, after])).json()).toEqual({ before, after, ...pages });
  }
  const args = ['bundle', 'diff', '2024-06-01', '2024-07-01', '--html'];
  const html = await bench.run(args, { cwd: home.folder });
  expect(html.stdout).toMatch(/^<!doctype html>.*<td>changed<\/td><td>index\.html<\/td>/s);
  expect((await home.bundle(['diff', '2024-06-01', '1999'])).json()).toMatchObject({ code: 'version_not_found' });
  const bytes = await readFile(join(home.folder, july));
  await writeFile(join(home.folder, 'cut.tar.gz'), bytes.subarray(0, bytes.length - 9));
  await writeFile(join(home.folder, 'evil.tar.gz'), bundle('evil', { '../evil.html': 'out' }));
  for (const [name, code] of [
    ['cut.tar.gz', 'truncated'],
    ['evil.tar.gz', 'name_dotdot'],
  ]) {
    const refused = await home.bundle(['diff', '2024-06-01', name ?? '']);
    expect([refused.code, refused.json()]).toEqual([65, expect.objectContaining({ code })]);
  }
});

describe('bundle audit', () => {
  test('reports broken links and resources from other origins', async () => {
    const home = await Home.open(bench, 'without a daemon');
    const page =
      '<a href="/gone">a</a><a href="/guides/start#part">b</a><script src="https://cdn.example/x.js"></script>';
    await writeFile(join(home.folder, 'docs-9.tar.gz'), bundle('audited', { 'more.html': page }));
    await home.bundle(['import', 'docs-9.tar.gz', '--version', '9']);
    const result = await home.bundle(['audit', '9']);
    expect(result.code).toBe(0);
    const { counts, findings, pages } = result.json() as Record<string, unknown> & { findings: { page: string }[] };
    expect({ counts, pages }).toEqual({
      counts: { broken_reference: 1, missing_fragment: 1, off_origin_load: 1 },
      pages: 3,
    });
    expect(findings.map((finding) => finding.page)).toEqual(['more.html', 'more.html', 'more.html']);
    await home.bundle(['import', 'docs-2024-06-01.tar.gz']);
    expect((await home.bundle(['audit', '2024-06-01'])).json()).toMatchObject({ counts: {}, findings: [] });
  });

  test('reports with --base-path the addresses that docshelf does not rewrite', async () => {
    const home = await Home.open(bench, 'without a daemon');
    const site = bundle('mounted', {
      'a.css': 'b { background: url(/a.png) }',
      'a.png': 'png',
      'a.js': 'go("/guides/start")',
    });
    await writeFile(join(home.folder, 'docs-9.tar.gz'), site);
    await home.bundle(['import', 'docs-9.tar.gz', '--version', '9']);
    expect((await home.bundle(['audit', '9', '--base-path', '/docs'])).json()).toMatchObject({
      version: '9',
      basePath: '/docs/',
      builtFor: '/',
      rewritten: 2,
      left: [{ file: 'a.js', addresses: ['/guides/start'] }],
    });
    const { stdout } = await bench.run(['bundle', 'audit', '9', '--base-path', '/docs/'], { cwd: home.folder });
    expect(stdout).toMatch(/a\.js +\/guides\/start/);
    expect((await home.bundle(['audit', '9', '--base-path', '/'])).json()).toMatchObject({ rewritten: 0, left: [] });
    expect(codesOf(await home.bundle(['audit', '9', '--base-path', 'docs']))).toEqual([64, 'usage']);
  });
});
