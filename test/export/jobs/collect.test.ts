import { beforeEach, describe, expect, it } from 'vitest';
import type { SiteSink, SiteSource } from '../../../src/domain/job.ts';
import { collectSite, type OnStep, readSiteTable, writeSiteTable } from '../../../src/export/jobs/collect.ts';
import { FileStore } from '../../../src/files/file-store.ts';
import { newFolder } from '../../helpers/new-folder.ts';

const REQUEST = { domain: 'acme', version: null, paths: null };
const HTML = Buffer.from('<!doctype html><title>Page</title>');

describe('collectSite()', () => {
  let dir = '';
  let store: FileStore;

  beforeEach(async () => {
    dir = newFolder();
    store = new FileStore(dir);
  });

  const collect = (give: (sink: SiteSink) => Promise<unknown>, onProgress: OnStep = () => {}) => {
    const source: SiteSource = async (_, sink) => void (await give(sink));
    return collectSite(source, REQUEST, store, onProgress, new AbortController().signal);
  };

  it('returns files in the order of their paths with size, digest and type, whatever the order of arrival', async () => {
    const { files } = await collect(async (sink) => {
      await Promise.all([sink.add('z.css', Buffer.from('a{}')), sink.add('index.html', HTML), sink.add('Z.txt', HTML)]);
    });
    expect(files.map(({ path }) => path)).toEqual(['Z.txt', 'index.html', 'z.css']);
    expect(files[1]).toEqual({
      path: 'index.html',
      size: HTML.length,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      type: expect.stringMatching(/^text\/html/),
    });
    expect(files[0]?.sha256).toBe(files[1]?.sha256);
  });

  it('writes the charset that a page declares to the content type of this page', async () => {
    const page = Buffer.from('<!doctype html><meta charset="iso-8859-1"><title>\xe4</title>', 'latin1');
    const { files } = await collect((sink) => sink.add('index.html', page));
    expect(files[0]?.type).toMatch(/iso-8859-1|windows-1252/i);
  });

  it('counts pages while they arrive from the source', async () => {
    const seen: Parameters<OnStep>[] = [];
    await collect(
      async (sink) => {
        sink.progress(0, 2);
        await sink.add('index.html', HTML);
        await sink.add('a.css', HTML);
        sink.progress(2, 2);
      },
      (...at) => seen.push(at),
    );
    expect(seen.at(0)).toEqual([0, 2, 0]);
    expect(seen.at(-1)).toEqual([2, 2, 1]);
  });

  it('rejects a site without a page, and a source that returns a path twice', async () => {
    await expect(collect((sink) => sink.add('a.css', HTML))).rejects.toMatchObject({ code: 'bad_source' });
    const twice = collect((sink) => sink.add('a.html', HTML).then(() => sink.add('a.html', HTML)));
    await expect(twice).rejects.toThrow('twice');
  });

  it('returns a file table that the next attempt of the job can read', async () => {
    const table = await collect(async (sink) => {
      sink.find({ kind: 'left_out', page: 'x', detail: 'why' });
      await sink.add('index.html', HTML);
    });
    const sha256 = await writeSiteTable(store, table);
    expect(await readSiteTable(store, sha256)).toEqual(table);
    expect(table.found).toMatchObject({ counts: { left_out: 1 } });
    expect(await writeSiteTable(store, table)).toBe(sha256);
  });
});
