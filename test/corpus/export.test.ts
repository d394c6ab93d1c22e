import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Exporter, organizations, startExporter } from '../acceptance/export-service.ts';
import { bundleFile, corpus, importBundle, newHome, whyNoCorpus } from '../helpers/corpus.ts';
import { openBench } from '../helpers/daemon.ts';
import { readArchive, readFolder } from '../helpers/read-archive.ts';
import { type Files, writeFiles } from '../helpers/write-files.ts';
import { BuiltSite } from './built-site.ts';
import { SITES } from './bundles.ts';

const run = promisify(execFile);
const isHidden = (path: string): boolean => /(?:^|\/)\./.test(path);

/** A service that exports the files of one bundle from a folder. */
async function exporterOf(files: Files): Promise<Exporter> {
  const folder = await bench.folder();
  await writeFiles(join(folder, 'built'), files);
  return startExporter(bench, { organizations: organizations({ kind: 'folder', path: './built' }) }, { folder });
}

const bench = openBench(afterAll);

describe.skipIf(corpus === undefined).each(SITES)(
  `an export of the site $name without a search model${whyNoCorpus}`,
  (known) => {
    const left = new Set(known.launchers);
    const isExported = (path: string): boolean => !left.has(path) && !isHidden(path);
    let service: Exporter;
    let site: BuiltSite;
    let jobId = '';

    beforeAll(async () => {
      const archive = await readArchive(bundleFile(known.name));
      site = new BuiltSite(new Map([...archive].map(([path, bytes]) => [path.slice(known.root.length), bytes])));
      service = await exporterOf(Object.fromEntries(archive));
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

    afterAll(() => service.daemon.kill());
  },
);

describe.skipIf(corpus === undefined)(`the folder of sphinx-symlinks.tar.gz${whyNoCorpus}`, () => {
  it('is exported and imported without broken symbolic links, and the report lists these links', async () => {
    const service = await exporterOf({});
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
