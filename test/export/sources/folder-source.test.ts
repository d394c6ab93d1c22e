import { execFile } from 'node:child_process';
import { chmod, mkdir, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import { layoutOf } from '../../../src/archive/layout.ts';
import { ARCHIVE_LIMITS, type ArchiveLimits } from '../../../src/domain/limits.ts';
import { MANIFEST_PATH } from '../../../src/domain/release.ts';
import { collectFolder } from '../../../src/export/sources/folder-source.ts';
import { ARCHIVE_FORMATS, gz, rawTar, SITE_FILES, siteArchive } from '../../helpers/archives.ts';
import { newFolder } from '../../helpers/new-folder.ts';
import { type Files, writeFiles } from '../../helpers/write-files.ts';
import { RecordingSink } from '../recording-sink.ts';

const NEVER = new AbortController().signal;
const run = promisify(execFile);

let dir: string;
let site: string;

beforeEach(async () => {
  dir = newFolder();
  site = join(dir, 'site');
  await mkdir(site);
});

const write = (files: Files) => writeFiles(site, files);

const pages = (...paths: string[]) => Object.fromEntries(paths.map((path) => [path, `page ${path}`]));

interface Wish {
  readonly path?: string;
  readonly paths?: readonly string[] | null;
  readonly limits?: Partial<ArchiveLimits>;
  readonly signal?: AbortSignal;
  readonly sink?: RecordingSink;
}

async function collect(wish: Wish = {}): Promise<RecordingSink> {
  const { path = site, paths = null, limits = {}, signal = NEVER, sink = new RecordingSink() } = wish;
  const options = { path, workDir: join(dir, 'work'), limits: { ...ARCHIVE_LIMITS, ...limits } };
  await collectFolder(options, { domain: 'acme', version: null, paths }, sink, signal);
  return sink;
}

describe('collectFolder() (export of a folder)', () => {
  it('returns every file byte for byte', async () => {
    await write(SITE_FILES);
    const sink = await collect();
    expect(sink.texts).toEqual(SITE_FILES);
    expect(sink.findings).toEqual([]);
  });

  it('returns the rule files of a site, but no hidden files', async () => {
    await write({ ...SITE_FILES, _headers: '/*\n  X-Robots-Tag: noindex', _redirects: '/a /b', '.env': 'KEY=1' });
    const { files } = await collect();
    expect([files.has('_headers'), files.has('_redirects'), files.has('.env')]).toEqual([true, true, false]);
  });

  it('omits files of the operating system such as .DS_Store and __MACOSX, and lists them in the export report', async () => {
    const files = { 'Thumbs.db': '', 'html/index.html': 'x', 'html/._index.html': '', '__MACOSX/html/a.html': '' };
    await write({ ...files, 'html/a/Desktop.ini': '', 'html/a/b.html': 'y', '.DS_Store': '' });
    const sink = await collect();
    expect(sink.paths).toEqual(['a/b.html', 'index.html']);
    const left = ['.DS_Store', 'Thumbs.db', '__MACOSX', 'html/._index.html', 'html/a/Desktop.ini'];
    expect(sink.leftOut.sort()).toEqual(left);
  });

  it.each(ARCHIVE_FORMATS)('reads the site from a %s archive', async (format) => {
    const path = join(dir, 'site.bin');
    await writeFile(path, siteArchive(format));
    const sink = await collect({ path });
    expect(sink.texts).toEqual(SITE_FILES);
  });

  it('omits start scripts such as Start Docs.bat, and omits serve.js and README.txt only if start scripts exist', async () => {
    await write({ ...pages('index.html'), 'serve.js': '', 'README.txt': '', 'a/serve.js': '' });
    expect((await collect()).paths).toEqual(['README.txt', 'a/serve.js', 'index.html', 'serve.js']);
    await write({ 'Start Docs.bat': '' });
    const sink = await collect();
    expect(sink.paths).toEqual(['a/serve.js', 'index.html']);
    expect(sink.leftOut.sort()).toEqual(['README.txt', 'Start Docs.bat', 'serve.js']);
  });

  it('omits start scripts and docshelf data of an archive, and lists their paths in the export report', async () => {
    const path = join(dir, 'site.tar.gz');
    const names = ['html/index.html', 'html/Start Docs.sh', 'html/serve.js', '_docshelf/manifest.json'];
    await writeFile(path, gz(rawTar(names.map((name) => ({ name, body: 'x' })))));
    const sink = await collect({ path });
    expect(sink.paths).toEqual(['index.html']);
    expect(sink.leftOut.sort()).toEqual(['_docshelf/', 'html/Start Docs.sh', 'html/serve.js']);
  });

  it('omits from all paths a top-level folder that contains the whole site', async () => {
    await write({ ...pages('html/index.html', 'html/a/b.html'), '.git/config': '' });
    expect((await collect()).paths).toEqual(['a/b.html', 'index.html']);
  });

  it('omits hidden files, version control and the folder of docshelf, but keeps .well-known', async () => {
    await write({
      ...pages('index.html', 'a/.draft.html', '_docshelf/manifest.json', '.well-known/security.txt'),
      '.git/config': '',
      '.git/objects/aa': '',
    });
    const sink = await collect();
    expect(sink.paths).toEqual(['.well-known/security.txt', 'index.html']);
    expect(sink.leftOut).toEqual(['.git', '_docshelf', 'a/.draft.html']);
  });

  it('omits files whose names are not allowed in an archive', async () => {
    await write({ ...pages('index.html', 'back\\slash.html', 'tab\there.html', 'é.html'.normalize('NFC')) });
    await writeFile(join(site, 'é.html'.normalize('NFD')), '');
    await writeFile(Buffer.concat([Buffer.from(`${site}/latin-`), Buffer.of(0xe9), Buffer.from('.html')]), '');
    const sink = await collect();
    expect(sink.paths.length).toBe(2);
    const details = sink.findings.map(({ detail }) => detail).join('\n');
    for (const code of ['name_backslash', 'name_control', 'name_not_utf8', 'Unicode']) expect(details).toContain(code);
    expect(sink.findings.length).toBe(4);
  });

  it('omits special files and files larger than a bundle can contain', async () => {
    await write(pages('index.html', 'large.bin'));
    await truncate(join(site, 'large.bin'), 2000);
    await run('mkfifo', [join(site, 'pipe')]);
    const sink = await collect({ limits: { fileBytesMax: 1000 } });
    expect([sink.paths, sink.leftOut]).toEqual([['index.html'], ['large.bin', 'pipe']]);
  });
});

describe('symbolic links of collectFolder()', () => {
  it('are followed within the folder, to files and folders', async () => {
    await write(pages('index.html', 'v2/index.html', 'v2/a/b.html'));
    await symlink('v2', join(site, 'latest'));
    await symlink('../index.html', join(site, 'v2/home.html'));
    const sink = await collect();
    expect(sink.findings).toEqual([]);
    expect(sink.text('latest/a/b.html')).toBe('page v2/a/b.html');
    expect(sink.text('latest/home.html')).toBe('page index.html');
    expect(sink.paths.length).toBe(7);
  });

  it('are omitted if their target is outside the folder or missing, or if they form a loop', async () => {
    await writeFile(join(dir, 'secret.txt'), 'secret');
    await mkdir(join(dir, 'site-2'));
    await write(pages('index.html', 'a/index.html'));
    await symlink('/etc/hostname', join(site, '1'));
    await symlink('../secret.txt', join(site, '2'));
    await symlink('../site-2', join(site, '3'));
    await symlink('nothing', join(site, '4'));
    await symlink('5', join(site, '5'));
    await symlink('..', join(site, 'a/up'));
    await symlink('.', join(site, 'a/self'));
    const sink = await collect();
    expect(sink.leftOut).toEqual(['1', '2', '3', '4', '5', 'a/self', 'a/up']);
    expect(sink.paths).toEqual(['a/index.html', 'index.html']);
  });

  it('are followed once if two folders link to each other', async () => {
    await write(pages('index.html', 'a/x.html', 'b/y.html'));
    await symlink('../b', join(site, 'a/b'));
    await symlink('../a', join(site, 'b/a'));
    const sink = await collect();
    expect(sink.paths).toEqual(['a/b/y.html', 'a/x.html', 'b/a/x.html', 'b/y.html', 'index.html']);
    expect(sink.leftOut).toEqual(['a/b/a', 'b/a/b']);
  });

  it('can be the path of the source itself', async () => {
    await write(pages('index.html'));
    await symlink('site', join(dir, 'link'));
    expect((await collect({ path: join(dir, 'link') })).paths).toEqual(['index.html']);
  });
});

describe('requested paths of collectFolder()', () => {
  const SITE = pages('index.html', '404.html', 'ja/404.html', 'a.html', 'guides/index.html', 'guides/start.html');

  it.each([
    ['/guides/start', 'guides/start.html'],
    ['guides/start.html', 'guides/start.html'],
    ['/guides/', 'guides/index.html'],
    ['/guides', 'guides/index.html'],
    ['/a/', 'a.html'],
    ['/guides/./st%61rt?x=1#top', 'guides/start.html'],
    ['/', 'index.html'],
  ])('select the page at %s, all 404 pages, and all files that are not pages', async (path, page) => {
    await write({ ...SITE, 'app.js': '', 'guides/start.txt': '' });
    const sink = await collect({ paths: [path] });
    expect(sink.paths).toEqual(['404.html', 'app.js', 'guides/start.txt', 'ja/404.html', page].sort());
    expect(sink.findings).toEqual([]);
  });

  it('are listed in the export report if they have no page, while pages of valid paths are exported', async () => {
    await write(SITE);
    const sink = await collect({ paths: ['/a', '/none', '/%ff', '//elsewhere.dev/a'] });
    const missing = sink.findings.map(({ kind, page }) => [kind, page]);
    expect(missing).toEqual(['/none', '/%ff', '//elsewhere.dev/a'].map((path) => ['path_not_found', path]));
    expect(sink.paths).toContain('a.html');
  });

  it('cause the export to fail if none of them has a page', async () => {
    await write({ ...SITE, 'app.js': '' });
    await expect(collect({ paths: ['/none', '/app.js'] })).rejects.toMatchObject({ code: 'bad_source' });
  });

  it('can select the pages of one folder, which stay in this folder when the export is imported', async () => {
    await write(pages('index.html', 'guides/index.html'));
    const { paths } = await collect({ paths: ['/guides/'] });
    expect(paths).toEqual(['guides/index.html']);
    expect(layoutOf([MANIFEST_PATH, ...paths].map((name) => ({ name, kind: 'file' })))).toMatchObject({
      root: '',
      pages: 1,
    });
  });
});

describe('source that cannot be exported', () => {
  async function archive(...names: string[]): Promise<string> {
    const path = join(dir, 'site.tar');
    await writeFile(path, rawTar(names.map((name) => ({ name, body: 'x' }))));
    return path;
  }

  it.each([
    ['does not exist', () => collect({ path: join(dir, 'none') })],
    ['is empty', () => collect()],
    ['contains no page', () => write({ 'a.md': '' }).then(() => collect())],
    [
      'contains too many files',
      () => write(pages('a.html', 'b.html', 'c.html')).then(() => collect({ limits: { entriesMax: 2 } })),
    ],
    [
      'contains too many bytes',
      () => write(pages('a.html', 'b.html')).then(() => collect({ limits: { totalBytesMax: 15 } })),
    ],
    ['is a pipe', () => run('mkfifo', [join(dir, 'pipe')]).then(() => collect({ path: join(dir, 'pipe') }))],
    ['is an archive without a page', () => archive('a.txt').then((path) => collect({ path }))],
  ])('causes bad_source if it %s', async (_state, attempt) => {
    await expect(attempt()).rejects.toMatchObject({ code: 'bad_source', next: expect.any(String) });
  });

  it('is described as missing in the error if it does not exist', async () => {
    await expect(collect({ path: join(dir, 'none') })).rejects.toThrow(/^Cannot .*none": it does not exist/);
  });

  it('causes name_dotdot if it is an archive that contains a path with ".."', async () => {
    const path = await archive('index.html', '../evil.html');
    await expect(collect({ path })).rejects.toMatchObject({ code: 'name_dotdot' });
  });

  it.skipIf(process.getuid?.() === 0)('causes bad_source if it has an unreadable folder', async () => {
    await write(pages('index.html', 'a/b.html'));
    await chmod(join(site, 'a'), 0);
    await expect(collect()).rejects.toMatchObject({ code: 'bad_source' });
    await chmod(join(site, 'a'), 0o755);
  });

  it('causes bad_source if one of its files is deleted during the export', async () => {
    await write(pages('index.html'));
    const sink = new RecordingSink();
    const { FileStore } = await import('../../../src/files/file-store.ts');
    const store = new FileStore(join(dir, 'files'));
    sink.add = async (_path, content) => {
      await rm(site, { recursive: true });
      if (!('sha256' in content)) await store.put(content);
    };
    await expect(collect({ sink })).rejects.toMatchObject({ code: 'bad_source' });
  });
});

describe('collectFolder() of a large folder', () => {
  it('reads a limited number of files concurrently, and reports progress that increases up to 100 %', async () => {
    await write(Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`${at % 20}/${at}.html`, 'x'.repeat(at)])));
    const sink = await collect();
    expect(sink.files.size).toBe(400);
    expect(sink.inFlightMax).toBeGreaterThan(1);
    expect(sink.inFlightMax).toBeLessThanOrEqual(16);
    expect(sink.shares).toEqual([...sink.shares].sort((a, b) => a - b));
    expect(sink.shares.at(-1)).toBe(1);
  });

  it('stops all work when aborted', async () => {
    await write(Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`${at}.html`, ''])));
    const stop = new AbortController();
    const reason = new Error('canceled');
    const sink = new RecordingSink();
    const add = sink.add.bind(sink);
    sink.add = async (path, content) => {
      await add(path, content);
      if (sink.files.size === 50) stop.abort(reason);
    };
    await expect(collect({ sink, signal: stop.signal })).rejects.toBe(reason);
    expect(sink.inFlight).toBe(0);
    expect(sink.files.size).toBeLessThan(80);
  });
});
