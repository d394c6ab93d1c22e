import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminKey, type Exporter, startExporter } from '../acceptance/export-service.ts';
import { bundleFile, corpus, importBundle, newHome, whyNoCorpus } from '../helpers/corpus.ts';
import { openBench } from '../helpers/daemon.ts';
import { readArchive, readFolder } from '../helpers/read-archive.ts';
import { type Files, writeFiles } from '../helpers/write-files.ts';
import { BuiltSite } from './built-site.ts';
import { SITES } from './bundles.ts';
import { SiteCrawl } from './site-crawl.ts';

const run = promisify(execFile);
const KEY = 'svc_corpus-admin';
const isHidden = (path: string): boolean => /(?:^|\/)\./.test(path);
/** These files belong to the site, but are not served. */
const isRules = (path: string): boolean => /^_(?:headers|redirects)$/.test(path);

/** A service that exports the files of one bundle from a folder. */
async function exporterOf(name: string, files: Files, config: object = {}): Promise<Exporter> {
  const folder = await bench.folder();
  await writeFiles(join(folder, 'built'), files);
  const domains = { acme: { source: { kind: 'folder', path: './built' } } };
  const organizations = [{ id: name, plan: 'enterprise', domains, keys: [adminKey('ci', KEY)] }];
  const service = await startExporter(bench, { organizations, ...config }, { folder });
  return Object.assign(service.as(KEY), { daemon: service.daemon });
}

async function storedFiles({ daemon }: Exporter): Promise<string[]> {
  const exports = join(daemon.dataDir, 'exports');
  const folders = ['files', 'bundles', 'manifests'];
  const names = await Promise.all(folders.map((folder) => readdir(join(exports, folder), { recursive: true })));
  return names.flat().sort();
}

const bench = openBench(afterAll);

describe.skipIf(corpus === undefined).each(SITES)(
  `an export of the site $name without a search model${whyNoCorpus}`,
  (known) => {
    const left = new Set(known.launchers);
    const isExported = (path: string): boolean => !left.has(path) && !isHidden(path);
    const isServed = (path: string): boolean => isExported(path) && !isRules(path);
    let service: Exporter;
    let site: BuiltSite;
    let jobId = '';

    beforeAll(async () => {
      const archive = await readArchive(bundleFile(known.name));
      site = new BuiltSite(new Map([...archive].map(([path, bytes]) => [path.slice(known.root.length), bytes])));
      service = await exporterOf('corpus', Object.fromEntries(archive));
      ({ jobId } = await service.export());
    });

    it('creates a bundle with the files of the folder, unchanged, and counts its pages', async () => {
      const { bundleUrl, sha256 } = await service.bundle(jobId);
      const file = join(await bench.folder(), 'acme.tar.gz');
      const bytes = await service.download(bundleUrl);
      expect(hash('sha256', bytes)).toBe(sha256);
      await writeFile(file, bytes);
      const exported = [...(await readArchive(file))].filter(([path]) => !path.startsWith('_docshelf/'));
      const wanted = [...site.files].filter(([path]) => isExported(path));
      expect(exported.map(([path]) => path).sort()).toEqual(wanted.map(([path]) => path).sort());
      expect(exported.filter(([path, content]) => !site.files.get(path)?.equals(content))).toEqual([]);
      expect((await service.job(jobId)).pageCount).toBe(known.pages);
    });

    // The same bytes as the archive, which other tests serve and crawl.
    if (known.name === 'docusaurus-classic.tar.gz')
      it('keeps every link of the original site working after the bundle is imported and served', async () => {
        const { bundleUrl } = await service.bundle(jobId);
        const file = join(await bench.folder(), 'acme.tar.gz');
        await writeFile(file, await service.download(bundleUrl));
        const folder = await newHome(bench);
        const { version } = await importBundle(bench, folder, file);
        const daemon = await bench.start(null, { folder });
        await daemon.untilServing(version);
        const crawl = new SiteCrawl(daemon.site);
        bench.onEnd(() => crawl.close());
        expect(await crawl.wrongFiles(site, isServed)).toEqual([]);
        const { wrong, links } = await crawl.wrongLinks(site, isServed);
        expect(wrong).toEqual([]);
        expect(links).toBeGreaterThan(known.pages / 2);
        await daemon.kill();
      });

    afterAll(() => service.daemon.kill());
  },
);

describe.skipIf(corpus === undefined)(`the folder of sphinx-symlinks.tar.gz${whyNoCorpus}`, () => {
  it('is exported and imported without broken symbolic links, and the report lists these links', async () => {
    const service = await exporterOf('corpus', {}, { search: { enabled: false } });
    const built = join(service.daemon.folder, 'built');
    await mkdir(built, { recursive: true });
    await run('tar', ['-x', '-f', bundleFile('sphinx-symlinks.tar.gz'), '-C', built]);
    const entries = await readdir(built, { recursive: true, withFileTypes: true });
    const links = entries.filter((entry) => entry.isSymbolicLink());
    expect(links.length).toBeGreaterThan(0);

    const { jobId } = await service.export();
    const { bundleUrl } = await service.bundle(jobId);
    const file = join(await bench.folder(), 'acme.tar.gz');
    await writeFile(file, await service.download(bundleUrl));
    const exported = [...(await readArchive(file))].filter(([path]) => !path.startsWith('_docshelf/'));
    const files = new Map([...(await readFolder(built))].filter(([path]) => !isHidden(path)));
    expect(exported.map(([path]) => path).sort()).toEqual([...files.keys()].sort());
    expect(exported.filter(([path, bytes]) => !files.get(path)?.equals(bytes))).toEqual([]);
    const { findings } = await service.report(jobId);
    const leftOut = findings.filter(({ kind }) => kind === 'left_out').map(({ page }) => page);
    for (const link of links) expect(leftOut).toContain(relative(built, join(link.parentPath, link.name)));

    const folder = await newHome(bench, { search: { enabled: false } });
    const { digest } = await importBundle(bench, folder, file);
    expect(digest).toBe((await service.bundle(jobId)).sha256);
  });
});

describe.skipIf(corpus === undefined)(`an export of docusaurus-classic.tar.gz with a model${whyNoCorpus}`, () => {
  it('creates the same archive if it is repeated, and another daemon uses the vectors in the archive unchanged', async () => {
    const archive = await readArchive(bundleFile('docusaurus-classic.tar.gz'));
    const pages = [...archive].filter(([path]) => /^(?:index\.html|docs\/[a-m])/.test(path)).slice(0, 30);
    const service = await exporterOf('corpus', Object.fromEntries(pages), { search: { model: 'builtin' } });
    const first = await service.ended((await service.start()).jobId);
    expect([first.status, first.error]).toEqual(['completed', null]);
    const before = await storedFiles(service);
    const { bundleUrl, sha256 } = await service.bundle(first.jobId);
    expect((await service.bundle((await service.export()).jobId)).sha256).toBe(sha256);
    expect(await storedFiles(service)).toEqual(before);

    const reader = await bench.start({
      staticExport: { bundleUrl },
      search: { model: 'builtin' },
      log: { access: false },
    });
    const { search } = await reader.until(({ search: { semantic } }) => semantic === 'ready');
    expect(search.embedded).toBeGreaterThan(0);
    const vectors = await readdir(join(reader.dataDir, 'vectors'), { recursive: true }).catch(() => []);
    expect(vectors.filter((name) => name.endsWith('.seg'))).toEqual([]);
  });
});
