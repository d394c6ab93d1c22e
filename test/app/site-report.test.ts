import { expect, it } from 'vitest';
import { explainedSearch } from '../../src/app/sites/readers-search.ts';
import { siteFindings } from '../../src/app/sites/site.ts';
import type { Config } from '../../src/config/index.ts';
import { PageReports } from '../../src/http/site/page-reports.ts';
import { readSiteRules } from '../../src/web/rules/index.ts';

it('the findings of a site report contain the same notices as the status', async () => {
  const reports = new PageReports(
    () => undefined,
    () => ({ policy: 'on', basePath: '/', hosts: [] }),
  );
  for (const origin of ['https://a.example', 'https://b.example', 'https://b.example']) {
    const body = JSON.stringify({ 'csp-report': { 'document-uri': 'http://x/', 'blocked-uri': `${origin}/x.js` } });
    await reports.answer(new Request('http://x/', { method: 'POST', body }));
  }
  const rules = readSiteRules(new Map([['_redirects', Buffer.from('/a /b\n/only')]]));
  const config = { deployment: { type: 'air-gapped' }, features: { enforce: null } } as unknown as Config;
  const findings = siteFindings(config, rules, reports);
  expect(findings).toEqual({
    policy: 'on',
    origins: [
      { origin: 'https://b.example', reports: 2 },
      { origin: 'https://a.example', reports: 1 },
    ],
    ruleFaults: [{ file: '_redirects', line: 2, reason: 'has no target' }],
    ruleFaultCount: 1,
    notices: [...rules.notices, ...reports.notices],
  });
});

it('explainedSearch() throws search_off if the site has no search engine', async () => {
  await expect(explainedSearch(null, 'x')).rejects.toMatchObject({ code: 'search_off' });
});
