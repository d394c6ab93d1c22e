import { describe, expect, it } from 'vitest';
import { DocshelfError } from '../../../src/domain/errors.ts';
import type { VersionsDiff } from '../../../src/site/versions/diff-pages.ts';
import { actionsThatNote, appWith, BEARER } from '../admin/admin-example.ts';
import { listenerBench } from '../listener/listener-bench.ts';
import { STATUS } from '../status-example.ts';
import { Operator } from './operator.ts';

const { open } = listenerBench({ name: 'admin' });
const PAGE = '/sites/acme/diff?from=2024-05-01&to=v3.2.0';
const HOSTILE = '<img src=x onerror="alert(1)">';

const operatorWith = (diff: () => Promise<VersionsDiff>) =>
  Operator.signedIn({ actions: actionsThatNote([], { diff }) });

describe('console page that compares two versions', () => {
  it('is opened by a form on the site page, in which the two newest versions are preselected', async () => {
    const operator = await Operator.signedIn();
    const page = await operator.page('/sites/acme');
    expect(page).toContain('action="../sites/acme/diff"');
    const chosenOn = (text: string) =>
      [...text.matchAll(/<option value="([^"]+)" selected=""/g)].map(([, label]) => label);
    const [newest, former] = STATUS.versions.map(({ version }) => version);
    expect(chosenOn(page)).toEqual([former, newest]);
    expect(chosenOn(await operator.page(`/sites/acme/diff?from=${newest}&to=${former}`))).toEqual([newest, former]);
    expect(await new Operator().page('/sites/acme')).not.toContain('/diff"');
  });

  it('shows the differences, and does not reload by itself', async () => {
    const operator = await Operator.signedIn();
    const page = await operator.page(PAGE);
    expect(operator.calls.at(-1)).toEqual(['diff', '2024-05-01', 'v3.2.0']);
    for (const text of [
      'From 2024-05-01 to v3.2.0: 1 added, 0 removed, 1 moved, 1 changed, 1170 unchanged pages.',
      'new.html',
      'from here.html',
      '3 added, 1 removed',
    ])
      expect(page).toContain(text);
    expect(page).not.toContain('data-events');
  });

  it('runs no comparison before versions are selected, or without a sign-in', async () => {
    const operator = await Operator.signedIn();
    expect(await operator.page('/sites/acme/diff')).toContain('Compare versions');
    const stranger = new Operator();
    expect(await stranger.page(PAGE)).toContain('Sign in to compare versions.');
    expect([operator.calls, stranger.calls]).toEqual([[], []]);
    const answer = await stranger.app.request(`${stranger.origin}/v1/diff?from=a&to=b`);
    expect([answer.status, stranger.calls]).toEqual([401, []]);
  });

  it('shows why versions cannot be compared', async () => {
    const gone = await operatorWith(() =>
      Promise.reject(new DocshelfError('version_not_found', 'Cannot find version "v9"', { next: 'Choose another.' })),
    );
    const page = await gone.page(PAGE);
    for (const text of ['The versions were not compared', 'Choose another.', 'version_not_found'])
      expect(page).toContain(text);
    const operator = await Operator.signedIn();
    expect(await operator.page('/sites/acme/diff?from=../x&to=v1')).toContain('bad_request');
    expect(operator.calls.filter(([name]) => name === 'diff')).toEqual([]);
  });

  it('aborts the comparison when the client disconnects', async () => {
    const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const diff = (_from: string, _to: string, signal: AbortSignal) =>
      new Promise<never>((_, reject) => {
        begun.resolve();
        signal.addEventListener('abort', () => {
          ended.resolve();
          reject(signal.reason);
        });
      });
    const { app, faults } = appWith({ actions: actionsThatNote([], { diff }) });
    const listener = await open({ fetch: app.fetch });
    const leaving = new AbortController();
    const options = { headers: BEARER, signal: leaving.signal };
    const pending = fetch(`${listener.url}/v1/diff?from=v1&to=v2`, options).catch(() => 'left');
    await begun.promise;
    leaving.abort();
    expect(await pending).toBe('left');
    await ended.promise;
    expect(faults).toEqual([]);
  });

  it('escapes page names and titles from bundles', async () => {
    const named = { page: `${HOSTILE}.html`, title: HOSTILE };
    const lists = {
      added: [named],
      removed: [named],
      moved: [{ ...named, from: HOSTILE }],
      changed: [{ ...named, wordsAdded: 0, wordsRemoved: 0 }],
    };
    const leftOut = { added: 1_000, removed: 1, moved: 0, changed: 0 };
    const operator = await operatorWith(async () => ({
      before: 'v1',
      after: 'v2',
      ...lists,
      unchanged: 0,
      leftOut,
    }));
    const page = await operator.page(PAGE);
    expect(page).not.toContain('<img src=x');
    expect(page.match(/&lt;img/g)).toHaveLength(15);
    expect(page).toContain('1,001 more pages are not shown');
    expect(page).toContain('1001 added');
  });
});
