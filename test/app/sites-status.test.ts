import { expect, test } from 'vitest';
import type { Site } from '../../src/app/sites/site.ts';
import type { Sites } from '../../src/app/sites/sites.ts';
import { daemonStatus } from '../../src/app/sites/status.ts';
import { type LoadedConfig, loadConfig } from '../../src/config/index.ts';

const load = (sites: readonly object[], search: object): Promise<LoadedConfig> =>
  loadConfig({
    file: null,
    env: { DOCSHELF__SITES: JSON.stringify(sites), DOCSHELF__SEARCH: JSON.stringify(search) },
    cwd: import.meta.dirname,
  });

/** Returns the field `pending` of the status after a reload with another config. */
async function pendingOf(opened: LoadedConfig, current: LoadedConfig, apiHasSearch = true): Promise<readonly string[]> {
  const site = (at: number) => {
    const config = current.sites[at];
    const before = opened.sites[at] ?? config;
    const report = async () => ({ notices: [] });
    const search = before?.config.search.enabled === true ? {} : null;
    return { opened: before, config, domain: config?.domain, report, search } as unknown as Site;
  };
  const all = current.sites.map((_, at) => site(at));
  const sites = { isList: true, only: null, all, current: { notices: [] }, state: 'ready' } as unknown as Sites;
  const facts = {
    jobs: { queued: 0, running: 0 },
    startedAt: '',
    programVersion: '',
    lastReload: null,
    notices: [],
  };
  return (await daemonStatus(sites, { ...facts, apiHasSearch, opened, current })).pending;
}

const acme = { domain: 'acme' };
const beta = { domain: 'beta', basePath: '/beta/' };

test('the status field pending lists a changed search setting of a site, because the change needs a restart', async () => {
  const before = await load([acme, beta], {});
  expect(await pendingOf(before, await load([acme, { ...beta, search: { enabled: false } }], {}))).toEqual([
    'sites[beta].search.enabled',
  ]);
  expect(await pendingOf(before, await load([acme, { ...beta, search: { model: 'off' } }], {}))).toEqual([
    'sites[beta].search.model',
  ]);
});

test('the status field pending contains a changed setting of the whole daemon only once, and no setting that a reload applies', async () => {
  const before = await load([acme, beta], {});
  expect(await pendingOf(before, await load([acme, beta], { enabled: false }))).toEqual(['search.enabled']);
  const moved = { ...beta, basePath: '/other/', title: 'Beta', trailingSlash: 'always' };
  expect(await pendingOf(before, await load([acme, moved], {}))).toEqual([]);
});

test('a new site with search needs a restart if the API has started without search', async () => {
  const before = await load([{ ...acme, search: { enabled: false } }], {});
  const after = await load([{ ...acme, search: { enabled: false } }, beta], {});
  expect(await pendingOf(before, after, false)).toEqual(['sites[beta].search.enabled']);
  expect(await pendingOf(before, after)).toEqual([]);
});
