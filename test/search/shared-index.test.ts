import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { searchRequestOf } from '../../src/domain/search.ts';
import { readAnswer } from '../../src/search/index.ts';
import { PLAIN_FORM } from '../../src/search/request.ts';
import { newFolder } from '../helpers/new-folder.ts';
import { engineOf, writeRelease } from './searched-site.ts';

it('EmbeddedEngine (built-in search engine) keeps the index of two sites open until both sites close', async () => {
  const folder = newFolder();
  const engine = engineOf(join(folder, 'vectors'), folder);
  onTestFinished(() => engine.stop());
  const html = '<!doctype html><title>Lantern</title><main><h1>Lantern</h1><p>Lantern oil.</p></main>';
  const release = await writeRelease(join(folder, 'release'), 'ab'.repeat(32), { 'index.html': html });
  await engine.build(release, new AbortController().signal);
  const [one, other] = [{}, {}];
  const search = async () => {
    const answer = await engine.search(release, searchRequestOf({ query: 'oil' }), 'v1', PLAIN_FORM, other);
    return readAnswer(answer).results.map(({ content }) => content);
  };
  for (const site of [one, other]) await engine.open(release, site);
  expect(await search()).toEqual(['Lantern oil.']);
  await engine.close(release, one);
  // Only an index that is still open responds without its file.
  await rm(join(release.releaseDir, 'search'), { recursive: true });
  expect(await search()).toEqual(['Lantern oil.']);
  await engine.close(release, other);
  await expect(engine.open(release, one)).rejects.toMatchObject({ code: 'index_damaged' });
});
