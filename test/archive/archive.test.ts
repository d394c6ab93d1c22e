import { mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { extractArchive, inspectArchive } from '../../src/archive/index.ts';
import { ARCHIVE_LIMITS } from '../../src/domain/limits.ts';
import { ARCHIVE_FORMATS, rawTar, rawZip, SITE_FILES, siteArchive, siteTar } from '../helpers/archives.ts';
import { Workbench } from './workbench.ts';

const options = { name: 'x.tar', limits: ARCHIVE_LIMITS, foldsCase: false };

let bench: Workbench;
beforeEach(() => {
  bench = new Workbench();
});

describe('inspectArchive() and extractArchive()', () => {
  it.each(ARCHIVE_FORMATS)('list and unpack an archive of the format %s', async (format) => {
    const { listing, extracted } = await bench.attempt(siteArchive(format));
    expect(listing).toMatchObject({ format, root: '', launchers: [], pages: 2, files: 4, caseConflicts: [] });
    expect(extracted.map((file) => file.path)).toEqual(Object.keys(SITE_FILES).sort());
    for (const [path, body] of Object.entries(SITE_FILES)) expect(await bench.read(path)).toBe(body);
  });

  it('return the digests of the files on disk', async () => {
    const { extracted } = await bench.attempt(rawZip([{ name: 'index.html', body: 'abc' }]));
    const sha256 = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
    expect(extracted).toEqual([{ path: 'index.html', size: 3, sha256 }]);
  });

  it('create files with mode 0644 and folders with 0755, whatever the archive and the umask say', async () => {
    const before = process.umask(0o077);
    try {
      await bench.attempt(siteArchive('zip'));
    } finally {
      process.umask(before);
    }
    expect((await stat(join(bench.siteDir, 'index.html'))).mode & 0o777).toBe(0o644);
    expect((await stat(join(bench.siteDir, 'guides'))).mode & 0o777).toBe(0o755);
  });

  it('unpack a file that is larger than the memory buffer', async () => {
    const body = Buffer.alloc(3 * 1024 ** 2, 'abcdefg');
    const { extracted } = await bench.attempt(rawTar([{ name: 'index.html', body }]));
    expect(extracted[0]?.size).toBe(body.length);
    expect(await bench.read('index.html')).toBe(body.toString());
  });

  it('omit from all paths a single top-level folder that wraps the site', async () => {
    const { listing, extracted } = await bench.attempt(
      rawTar([{ name: 'html/' }, { name: 'html/index.html', body: 'x' }]),
    );
    expect(listing?.root).toBe('html/');
    expect(extracted.map((file) => file.path)).toEqual(['index.html']);
  });

  it('omit launchers (programs that open the site, such as serve.js) from the site', async () => {
    const { listing, extracted } = await bench.attempt(
      rawTar([
        { name: '_docshelf/manifest.json', body: '{}' },
        { name: 'index.html', body: 'x' },
        { name: 'Start Docs.bat', body: 'x' },
        { name: 'serve.js', body: 'x' },
      ]),
    );
    expect(listing?.launchers).toEqual(['Start Docs.bat', 'serve.js']);
    expect(extracted.map((file) => file.path)).toEqual(['_docshelf/manifest.json', 'index.html']);
    await expect(stat(join(bench.siteDir, '_docshelf'))).rejects.toThrow();
    expect((await stat(join(bench.ownDir, 'manifest.json'))).isFile()).toBe(true);
  });

  it('report names that differ only by case if the file system ignores case', async () => {
    const { listing, stage } = await bench.attempt(
      rawZip([
        { name: 'Guide.html', body: 'x' },
        { name: 'guide.html', body: 'y' },
      ]),
    );
    expect(stage).toBe('passed');
    expect(listing?.caseConflicts).toEqual([['Guide.html', 'guide.html']]);
  });

  it('report progress up to 100 %', async () => {
    const file = join(bench.dir, 'archive');
    await writeFile(file, siteTar());
    const steps: number[] = [];
    const onProgress = (done: number, total: number) => steps.push(done / total);
    const listing = await inspectArchive(file, { ...options, onProgress });
    expect(steps.at(-1)).toBe(1);
    steps.length = 0;
    await extractArchive(file, listing, { ...options, siteDir: bench.siteDir, ownDir: bench.ownDir, onProgress });
    expect(steps.at(-1)).toBe(1);
    expect(steps).toEqual([...steps].sort((a, b) => a - b));
  });
});

describe('inspectArchive()', () => {
  it('names the type of a file that is not an archive', async () => {
    const { error } = await bench.attempt(Buffer.from('<!DOCTYPE html><title>Sign in</title>'));
    expect(error?.code).toBe('unknown_format');
    expect(error?.message).toContain('an HTML page');
    const { error: empty } = await bench.attempt(Buffer.alloc(0));
    expect(empty).toMatchObject({ code: 'unknown_format', next: expect.stringContaining('pass -i') });
    expect((await bench.attempt(Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0]))).error?.message).toContain('xz');
  });

  it('names the entry and the broken rule in its error, with an escaped entry name of limited length', async () => {
    const { error } = await bench.attempt(rawZip([{ name: `../\u001b[2J\u202e${'a'.repeat(5000)}`, body: 'x' }]));
    expect(error?.code).toBe('name_control');
    expect(error?.message).not.toMatch(/[\u0000-\u001f\u202e]/);
    expect(error?.message.length).toBeLessThan(400);
    expect(error?.fields).toHaveProperty('rule');
    expect((await bench.attempt(rawZip([{ name: '../evil', body: 'x' }]))).error?.message).toBe(
      'Cannot unpack "archive": entry "../evil" leaves the site',
    );
  });

  it('fails with cannot_read if the file does not exist', async () => {
    await expect(inspectArchive(join(bench.dir, 'missing'), options)).rejects.toMatchObject({ code: 'cannot_read' });
    await expect(inspectArchive(bench.dir, options)).rejects.toMatchObject({ code: 'cannot_read' });
  });

  it('stops if its signal is aborted', async () => {
    const file = join(bench.dir, 'archive');
    await writeFile(file, siteTar());
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(inspectArchive(file, { ...options, signal })).rejects.toThrow('enough');
  });

  it('reports the broken rule of a hostile archive, not its missing pages', async () => {
    expect(await bench.codeOf(rawTar([{ name: '../evil.txt', body: 'x' }]))).toBe('name_dotdot');
  });

  it('rejects two _docshelf folders, and accepts one _docshelf folder inside the wrapping folder', async () => {
    const page = { name: 'html/index.html', body: 'x' };
    const inner = { name: 'html/_docshelf/manifest.json', body: '{}' };
    const outer = { name: '_docshelf/search/header.json', body: '{}' };
    const outerToo = { name: 'html/_docshelf/search/header.json', body: '{}' };
    expect((await bench.attempt(rawTar([page, inner]))).extracted[0]?.path).toBe('_docshelf/manifest.json');
    expect((await bench.attempt(rawTar([page, outer]))).listing?.root).toBe('html/');
    expect(await bench.codeOf(rawTar([page, outerToo, outer]))).toBe('name_duplicate');
  });
});

describe('extractArchive()', () => {
  it('rejects an archive that has changed since it was inspected', async () => {
    const file = join(bench.dir, 'archive');
    await writeFile(file, rawTar([{ name: 'index.html', body: 'x' }]));
    const listing = await inspectArchive(file, options);
    await writeFile(file, rawTar([{ name: 'indey.html', body: 'x' }]));
    const extracting = extractArchive(file, listing, { ...options, siteDir: bench.siteDir, ownDir: bench.ownDir });
    await expect(extracting).rejects.toMatchObject({ code: 'damaged_archive' });
  });

  it('does not open or follow an existing file or link at the path of an entry', async () => {
    const file = join(bench.dir, 'archive');
    const victim = join(bench.dir, 'victim');
    await writeFile(file, rawTar([{ name: 'index.html', body: 'evil' }]));
    await mkdir(bench.siteDir, { recursive: true });
    await writeFile(victim, 'mine');
    await symlink(victim, join(bench.siteDir, 'index.html'));
    const listing = await inspectArchive(file, options);
    const extracting = extractArchive(file, listing, { ...options, siteDir: bench.siteDir, ownDir: bench.ownDir });
    await expect(extracting).rejects.toMatchObject({ code: 'name_case_conflict' });
    expect((await stat(victim)).size).toBe(4);
  });
});
