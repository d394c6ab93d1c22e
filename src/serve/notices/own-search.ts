import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { ReleaseView } from '../../domain/release.ts';
import type { OwnSearch } from '../../web/own-search.ts';
import { readHead } from '../first-pages.ts';

/** Entries that are looked at between two turns of other requests. */
const ENTRIES_A_TURN = 2_048;

/** The searches that releases bring, read once for each. */
export class OwnSearches {
  readonly #known = new WeakMap<ReleaseView, Promise<readonly OwnSearch[]>>();

  /** None where they cannot be read: a box that stays keeps no version from being served. */
  of(release: ReleaseView): Promise<readonly OwnSearch[]> {
    const known = this.#known.get(release);
    if (known !== undefined) return known;
    const read = readOwnSearches(release).catch(() => {
      this.#known.delete(release);
      return [];
    });
    this.#known.set(release, read);
    return read;
  }
}

async function readOwnSearches({ files, pages, siteDir }: ReleaseView): Promise<readonly OwnSearch[]> {
  const { OwnSearchSurvey } = await import('../../web/own-search.ts');
  const survey = new OwnSearchSurvey(pages);
  let turn = 0;
  for (const { path } of files.values()) {
    turn = (turn + 1) % ENTRIES_A_TURN;
    if (turn === 0) await setImmediate();
    survey.add(path);
  }
  const texts: string[] = [];
  for (const path of survey.pages) texts.push((await readHead(join(siteDir, path))).toString('latin1'));
  return survey.judge(texts);
}
