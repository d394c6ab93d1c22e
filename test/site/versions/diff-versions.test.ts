import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ReleaseView } from '../../../src/domain/release.ts';
import { writeFileTable } from '../../../src/files/index.ts';
import { diffVersions } from '../../../src/site/versions/diff-versions.ts';
import { releases } from '../helpers.ts';

const HOME = '<!doctype html><title>Home</title><main><h1>Home</h1><p>All of it.</p></main>';
const never = new AbortController().signal;

/** Writes the files. @returns their folder */
async function stored(files: Record<string, string>): Promise<string> {
  const release: ReleaseView = releases.make(files);
  await writeFileTable(dirname(release.siteDir), [...release.files.values()]);
  return dirname(release.siteDir);
}

describe('diffVersions()', () => {
  it('compares releases on disk in a worker thread, and lists up to 500 pages of each kind', async () => {
    const before = await stored({ 'index.html': HOME });
    const many = Object.fromEntries(
      Array.from({ length: 510 }, (_, at) => [`p${at}.html`, HOME.replace('All', `${at}`)]),
    );
    const after = await stored({ 'index.html': HOME.replace('All', 'Some'), ...many });
    const diff = await diffVersions({ before, after }, never);
    expect(diff.changed).toEqual([{ page: 'index.html', title: 'Home', wordsAdded: 1, wordsRemoved: 1 }]);
    expect([diff.added.length, diff.leftOut.added]).toEqual([500, 10]);
  });

  it('rejects if a release or one of its pages has been deleted', async () => {
    const before = await stored({ 'index.html': HOME });
    const after = await stored({ 'index.html': HOME.replace('All', 'Some') });
    await rm(join(after, 'site/index.html'));
    await expect(diffVersions({ before, after }, never)).rejects.toMatchObject({ code: 'cannot_read' });
    await rm(after, { recursive: true });
    await expect(diffVersions({ before, after }, never)).rejects.toMatchObject({ code: 'cannot_read' });
  });

  it('stops at its time limit, and when the client disconnects', async () => {
    const before = await stored({ 'index.html': HOME });
    const after = await stored({ 'index.html': HOME.replace('All', 'Some') });
    await expect(diffVersions({ before, after }, never, 1)).rejects.toMatchObject({ code: 'deadline_exceeded' });
    const leaving = new AbortController();
    const pending = diffVersions({ before, after }, leaving.signal);
    leaving.abort(new Error('left'));
    await expect(pending).rejects.toThrow('left');
    expect((await diffVersions({ before, after }, never)).changed).toHaveLength(1);
  });

  it('runs one comparison at a time, and rejects a request if four other requests wait', async () => {
    const before = await stored({ 'index.html': HOME });
    const pending = Array.from({ length: 6 }, () => diffVersions({ before, after: before }, never));
    const settled = await Promise.allSettled(pending);
    expect(settled.map(({ status }) => status)).toEqual([...Array.from({ length: 5 }, () => 'fulfilled'), 'rejected']);
    await expect(pending[5]).rejects.toMatchObject({ code: 'busy' });
  });
});
