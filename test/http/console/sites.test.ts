import { describe, expect, it } from 'vitest';
import { DocshelfError } from '../../../src/domain/errors.ts';
import type { StatusReport } from '../../../src/domain/status.ts';
import { actionsThatNote, DIGEST } from '../admin/admin-example.ts';
import { STATUS, siteStatus } from '../status-example.ts';
import { Operator } from './operator.ts';

const SITES = [
  siteStatus('beta', { state: 'ready', lastError: null }),
  siteStatus('site-10', { state: 'ready', lastError: null, active: null }),
  siteStatus('site-9', { state: 'off', lastError: STATUS.lastError }),
  siteStatus('late', { state: 'ready' }),
  siteStatus('alpha', { state: 'ready', lastError: null, search: { ...STATUS.search, keyword: 'failed' } as never }),
  siteStatus('stale', { state: 'stale' }),
  siteStatus('empty', { state: 'waiting', active: null, lastError: null }),
];
const shelf = (sites = SITES): StatusReport => ({ ...STATUS, sites });

const listed = (page: string): (string | undefined)[] =>
  [...page.matchAll(/<tr id="site-([^"]+)"/g)].map(([, domain]) => domain);

describe('list of sites on the console', () => {
  it.each([
    ['by default with problems first, each group by name', '', 'empty stale alpha late beta site-10 site-9'],
    ['in reverse order of state', '?sort=-state', 'site-9 beta site-10 alpha late stale empty'],
    ['by name, with numbers in numeric order', '?sort=site', 'alpha beta empty late site-9 site-10 stale'],
    [
      'in the default order if parameters are unknown',
      '?sort=__proto__&show=x',
      'empty stale alpha late beta site-10 site-9',
    ],
    ['with one state only', '?show=off', 'site-9'],
    ['with problems only, without sites that are off', '?show=problems&sort=site', 'alpha empty late stale'],
    ['with a filter for words in any field and case', '?q=LINK_EXPIRED%20late', 'late'],
  ])('is sorted and filtered as the query requests: %s', async (_, query, domains) => {
    const operator = new Operator({ status: async () => shelf() });
    expect(listed(await operator.page(`/${query}`)).join(' ')).toBe(domains);
  });

  it('escapes a filter in the markup, and keeps the filter in the addresses of the sort links', async () => {
    const operator = new Operator({ status: async () => shelf() });
    const page = await operator.page(`/?q=${encodeURIComponent('"><script>')}&sort=-pages`);
    expect(page).not.toContain('"><script>');
    expect(page).toContain('href="./?q=%22%3E%3Cscript%3E&amp;sort=-pages"');
  });

  it('offers checkboxes and actions only to a signed-in operator', async () => {
    const stranger = new Operator({ status: async () => shelf() });
    expect(await stranger.page('/')).not.toContain('type="checkbox"');
    const operator = await Operator.signedIn({ status: async () => shelf() });
    expect((await operator.page('/')).match(/name="site"/g)).toHaveLength(SITES.length);
  });

  it('keeps its filter and order after an operator retries the sites with errors', async () => {
    const operator = await Operator.signedIn({ status: async () => shelf() });
    const fields = { site: 'late', show: 'problems', q: 'a', sort: '-site' };
    const { query, page } = await operator.follow(await operator.act('/reload', fields), '/reload');
    expect(query).toMatch(/^\?show=problems&q=a&sort=-site&message=/);
    expect(page).toContain('The config was reloaded');
  });
});

describe('console page that reviews an activation', () => {
  const status = async (): Promise<StatusReport> => ({ ...STATUS, pinned: null });
  const REVIEW = '/sites/acme/review?version=2024-05-01';

  it('offers the activation even if the versions cannot be compared', async () => {
    const diff = () => Promise.reject(new DocshelfError('busy', 'Cannot compare the versions now'));
    const operator = await Operator.signedIn({ status, actions: actionsThatNote([], { diff }) });
    const page = await operator.page(REVIEW);
    for (const text of ['Readers of acme will see 2024-05-01 instead of v3.2.0.', 'Cannot compare the versions now'])
      expect(page).toContain(text);
    expect(page).toMatch(/<button type="submit" class="primary">Activate 2024-05-01</);
  });

  it('offers no activation and starts no comparison for an operator who is not signed in', async () => {
    const operator = new Operator({ status });
    const page = await operator.page(REVIEW);
    expect(page).toContain('Sign in to activate it.');
    expect([operator.calls, page.includes('<form method="post"')]).toEqual([[], false]);
  });

  it('explains why a pinned site keeps its version', async () => {
    const operator = await Operator.signedIn();
    const page = await operator.page(REVIEW);
    expect(page).toContain('The config pins version v3.2.0, so docshelf rejects this activation.');
    expect(page).not.toContain('class="primary"');
  });

  it('responds with 404 for a version that is not stored', async () => {
    const operator = await Operator.signedIn({ status });
    expect((await operator.get('/sites/acme/review?version=v9')).status).toBe(404);
  });

  it('rejects an activation if the active release has changed since the page was shown', async () => {
    const operator = await Operator.signedIn({ status });
    const { page } = await operator.actAndFollow('/sites/acme/activate', {
      version: '2024-05-01',
      former: 'f'.repeat(64),
    });
    expect(page).toContain('version &quot;v3.2.0&quot; became active in the meantime');
    expect(operator.calls).toEqual([]);
  });
});

describe('undo of an activation on the console', () => {
  async function activated(now: () => StatusReport) {
    const operator = await Operator.signedIn({ status: async () => now() });
    const { query } = await operator.actAndFollow('/sites/acme/activate', { version: '2024-05-01' });
    return { operator, message: query.replace('?message=', '') };
  }
  const serving = (digest: string): StatusReport => ({
    ...STATUS,
    pinned: null,
    active: STATUS.active && { ...STATUS.active, digest },
  });

  it('rolls back to the previous version, and responds with 404 to a second undo', async () => {
    let status = serving('a'.repeat(64));
    const { operator, message } = await activated(() => status);
    status = serving(DIGEST);
    const { page } = await operator.actAndFollow('/undo', { message });
    expect(page).toContain('acme: version v3.2.0 is active again');
    expect(operator.calls.at(-1)).toEqual(['rollback']);
    expect((await operator.act('/undo', { message })).status).toBe(404);
  });

  it('changes nothing if another release has become active', async () => {
    let status = serving('a'.repeat(64));
    const { operator, message } = await activated(() => status);
    status = serving('b'.repeat(64));
    const { page } = await operator.actAndFollow('/undo', { message });
    expect(page).toContain('became active in the meantime');
    expect(operator.calls.map(([name]) => name)).not.toContain('rollback');
  });
});

it('console redirects from /sites/{domain}/page to the page of the active version, and to a preview link for other versions', async () => {
  const operator = await Operator.signedIn();
  const opened = async (version: string): Promise<string | null> => {
    const page = encodeURIComponent('guides/é?#.html');
    return (await operator.get(`/sites/acme/page?version=${version}&page=${page}`)).headers.get('location');
  };
  expect(await opened('v3.2.0')).toBe('https://acme.example/guides/%C3%A9%3F%23.html');
  expect(await opened('2024-05-01')).toBe('http://a/guides/%C3%A9%3F%23.html?preview=b');
  expect((await new Operator().get('/sites/acme/page?version=2024-05-01&page=a')).status).toBe(401);
});
