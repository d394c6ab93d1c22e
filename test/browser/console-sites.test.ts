import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DocshelfError } from '../../src/domain/errors.ts';
import type { LastError, SiteStatusReport, StatusReport, StoredVersion } from '../../src/domain/status.ts';
import type { SiteActions } from '../../src/http/admin/actions.ts';
import { actionsThatNote, appWith, TOKEN } from '../http/admin/admin-example.ts';
import { STATUS, siteStatus } from '../http/status-example.ts';
import { ConsoleOperator } from './console-operator.ts';
import { hasChromium, listenWith, useChromium, whyNoChromium } from './reader.ts';

const DIGESTS = { '2.0': '2'.repeat(64), '2.1': '3'.repeat(64) } as const;
type Label = keyof typeof DIGESTS;
const SICK = ['kappa', 'mu', 'zeta'];
const DOMAINS = [...Array.from({ length: 37 }, (_, at) => `site-${at + 1}`), ...SICK];

const releaseOf = (version: Label) => ({ version, digest: DIGESTS[version] });
const stored = (version: Label): StoredVersion => ({
  ...releaseOf(version),
  ...{
    pages: 120,
    files: 300,
    bytes: 5_000_000,
    source: 'url',
    createdAt: STATUS.startedAt,
    fetchedAt: STATUS.startedAt,
  },
});

const FETCH_FAILED: LastError = {
  at: STATUS.startedAt,
  code: 'source_unreachable',
  message: 'Cannot fetch "https://bundles.example.com/export.tar.gz": connect ECONNREFUSED 10.0.0.7:443',
  next: 'Check that the server runs.',
};

function siteOf(domain: string): SiteStatusReport {
  const isSick = SICK.includes(domain);
  return siteStatus(domain, {
    title: `Docs of ${domain}`,
    state: domain === 'zeta' ? 'waiting' : isSick ? 'stale' : 'ready',
    pinned: null,
    active:
      domain === 'zeta' ? null : { ...releaseOf('2.0'), pages: 123, bytes: 5_000_000, activatedAt: STATUS.startedAt },
    versions: domain === 'zeta' ? [] : [stored('2.1'), stored('2.0')],
    lastError: isSick ? FETCH_FAILED : null,
    hosts: [`${domain}.docs.example`],
    notices: [],
  });
}

describe.skipIf(!hasChromium)(`the console with 40 sites${whyNoChromium}`, () => {
  const sites = new Map<string, SiteStatusReport>();
  let calls: unknown[][] = [];
  let admin: string;
  const chromium = useChromium();

  const status = (): StatusReport => ({
    ...STATUS,
    ...{ state: 'waiting', active: null, pinned: null, versions: [], lastError: null, search: null, notices: [] },
    deployment: { type: 'air-gapped', domain: null },
    sites: [...sites.values()],
  });

  function actionsOf(domain: string): SiteActions {
    const serve = async (version: string) => {
      const site = sites.get(domain);
      if (site?.active == null) throw new DocshelfError('version_not_found', `Cannot find version "${version}"`);
      calls.push([domain, version]);
      sites.set(domain, { ...site, active: { ...site.active, ...releaseOf(version as Label) } });
      return releaseOf(version as Label);
    };
    const page = (name: string) => ({ page: `${name}.html`, title: name });
    return {
      ...actionsThatNote([]).site(domain),
      activate: serve,
      rollback: () => serve(sites.get(domain)?.active?.version === '2.1' ? '2.0' : '2.1'),
      diff: async (before, after) => ({
        ...{ before, after, unchanged: 115 },
        added: [page('new')],
        removed: ['old-1', 'old-2', 'old-3'].map(page),
        moved: [{ ...page('there'), from: 'here.html' }],
        changed: [{ ...page('keys/rotate'), wordsAdded: 12, wordsRemoved: 3 }],
        leftOut: { added: 0, removed: 0, moved: 0, changed: 0 },
      }),
    };
  }

  beforeAll(async () => {
    const actions = { ...actionsThatNote([]), site: (domain: string | null) => actionsOf(domain ?? '') };
    const { app } = appWith({ status: async () => status(), actions });
    admin = await listenWith(app);
  });
  beforeEach(() => {
    calls = [];
    for (const domain of DOMAINS) sites.set(domain, siteOf(domain));
  });

  const enter = (profile = {}): Promise<ConsoleOperator> =>
    ConsoleOperator.signedIn(chromium.browser, admin, { token: TOKEN, ...profile });

  const rows = ({ page }: ConsoleOperator): Promise<string[]> =>
    page.locator('table').first().locator('tbody th a').allTextContents();

  it('lists the sites with problems first, and shows the number of sites in each state', async () => {
    const operator = await enter();
    expect(await rows(operator)).toEqual(['zeta', 'kappa', 'mu', ...DOMAINS.slice(0, 37)]);
    expect(await operator.page.title()).toBe('40 sites: 3 with problems · docshelf');
    expect(await operator.page.locator('#problems a').allTextContents()).toEqual(['zeta', 'kappa', 'mu']);
    const states = operator.page.getByRole('navigation', { name: 'States' }).getByRole('link');
    expect(await states.allTextContents()).toEqual(['All 40', 'With problems 3', 'Waiting 1', 'Stale 2', 'Ready 37']);
    await operator.looksWell('40 sites', { rowsMax: 8 });
    await operator.leave();
  });

  it('gives each view of the list a separate address, so that the back button returns to the previous view', async () => {
    const operator = await enter();
    const { page, press } = operator;
    await press('link', 'With problems 3');
    await page.waitForURL('**/?show=problems');
    expect(await rows(operator)).toEqual(['zeta', 'kappa', 'mu']);
    await press('link', 'Site');
    await page.waitForURL('**/?show=problems&sort=site');
    expect(await rows(operator)).toEqual(['kappa', 'mu', 'zeta']);
    await page.locator('table').first().getByRole('link', { name: 'mu', exact: true }).press('Enter');
    await page.waitForURL('**/sites/mu');
    await page.goBack();
    await page.waitForURL('**/?show=problems&sort=site');
    expect(await rows(operator)).toEqual(['kappa', 'mu', 'zeta']);
    await page.goBack();
    await page.goBack();
    expect(await rows(operator)).toHaveLength(40);
    await operator.show('?q=site-3&sort=-site');
    expect((await rows(operator)).slice(0, 3)).toEqual(['site-37', 'site-36', 'site-35']);
    expect(await page.locator('th[aria-sort]').textContent()).toBe('Site');
    expect(await page.locator('th[aria-sort]').getAttribute('aria-sort')).toBe('descending');
    await operator.leave();
  });

  it.each([true, false])(
    'filters by any words (JavaScript: %s), and keeps the focus in the filter field',
    async (javaScriptEnabled) => {
      const operator = await enter({ javaScriptEnabled });
      const { page } = operator;
      await page.getByRole('searchbox', { name: 'Filter' }).focus();
      await page.keyboard.type('econnrefused mu');
      if (!javaScriptEnabled) await page.keyboard.press('Enter');
      await page.getByText('1 of 40 shown').waitFor();
      expect(await rows(operator)).toEqual(['mu']);
      expect(new URL(page.url()).searchParams.get('q')).toBe('econnrefused mu');
      if (javaScriptEnabled) expect(await page.evaluate('document.activeElement.id')).toBe('filter');
      await page.reload();
      expect(await rows(operator)).toEqual(['mu']);
      await page.getByRole('searchbox', { name: 'Filter' }).fill('nobody');
      await page.keyboard.press('Enter');
      await operator.untilMessage('No site matches the filter.');
      await operator.leave();
    },
  );

  it('shows the consequence before it activates a version, and can undo the activation with one button', async () => {
    const operator = await enter();
    const { page, press, untilMessage } = operator;
    await operator.show('sites/site-1');
    await press('link', 'Activate 2.1');
    await page.waitForURL('**/sites/site-1/review?version=2.1');
    await untilMessage('Readers of site-1 will see 2.1 instead of 2.0.');
    await untilMessage('From 2.0 to 2.1: 1 added, 3 removed, 1 moved, 1 changed,');
    await untilMessage('12 added, 3 removed');
    const sides = page.getByRole('link', { name: /^Open keys\/rotate\.html/ });
    expect(await sides.allTextContents()).toEqual(['2.0', '2.1']);
    const answers = await Promise.all(
      (await sides.evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).href))).map(async (href) => {
        const answer = await page.context().request.get(href, { maxRedirects: 0 });
        return answer.headers().location;
      }),
    );
    expect(answers).toEqual(['https://site-1.example/keys/rotate.html', 'http://a/keys/rotate.html?preview=b']);
    expect(calls).toEqual([]);
    await operator.looksWell('consequence');
    await press('button', 'Activate 2.1');
    await untilMessage('Version 2.1 is active');
    await press('button', 'Undo: activate 2.0 again');
    await untilMessage('site-1: version 2.0 is active again');
    expect(await page.getByRole('button', { name: /^Undo/ }).count()).toBe(0);
    await press('button', 'Roll back');
    await untilMessage('Rolled back: version 2.1 is active');
    await press('button', 'Undo: activate 2.0 again');
    await untilMessage('site-1: version 2.0 is active again');
    expect(calls).toEqual(['2.1', '2.0', '2.1', '2.0'].map((version) => ['site-1', version]));
    await operator.leave();
  });

  it.each([true, false])(
    'activates the newest versions of selected sites, and undoes this action (JavaScript: %s)',
    async (javaScriptEnabled) => {
      const operator = await enter({ javaScriptEnabled, path: '' });
      const { page, press, untilMessage } = operator;
      await operator.show('?q=site-1&sort=site');
      for (const domain of ['site-1', 'site-10']) {
        await page.getByRole('checkbox', { name: `Select ${domain}`, exact: true }).focus();
        await page.keyboard.press('Space');
      }
      await press('button', 'Activate newest versions');
      await untilMessage('Readers of 2 sites will see another version.');
      await untilMessage('Readers of site-10 will see 2.1 instead of 2.0.');
      if (javaScriptEnabled) await operator.looksWell('review');
      await press('button', 'Activate on 2 sites');
      await untilMessage('2 of 2 versions were activated');
      if (javaScriptEnabled) await operator.looksWell('activated', { rowsMax: 4 });
      await press('button', 'Undo for 2 sites');
      await untilMessage('2 of 2 versions were activated again');
      expect(calls.map(String)).toEqual(['site-1,2.1', 'site-10,2.1', 'site-1,2.0', 'site-10,2.0']);
      await operator.leave();
    },
  );

  it('selects all rows that the filter shows, and reloads the config to retry sites with errors', async () => {
    const operator = await enter();
    const { page, press, untilMessage } = operator;
    await operator.show('?show=problems');
    await page.getByRole('checkbox', { name: 'Select all shown' }).focus();
    await page.keyboard.press('Space');
    expect(await page.locator('input[name=site]:checked').count()).toBe(3);
    await press('button', 'Reload config and retry');
    await untilMessage('The config was reloaded');
    expect(new URL(page.url()).searchParams.get('show')).toBe('problems');
    await page.getByRole('checkbox', { name: 'Select zeta' }).focus();
    await page.keyboard.press('Space');
    await press('button', 'Activate newest versions');
    await untilMessage('No selected site has a version to activate.');
    await untilMessage('No version is stored.');
    await operator.leave();
  });
});
