import { describe, expect, it } from 'vitest';
import type { SiteFindings } from '../../../src/http/admin/observed-site.ts';
import { observedAt } from '../admin/admin-example.ts';
import { STATUS } from '../status-example.ts';
import { Operator } from './operator.ts';

const EVIL = '"><script>alert(1)</script>';
const operatorAt = (findings: Partial<SiteFindings>, notices: readonly string[] = []) =>
  new Operator({
    status: async () => ({ ...STATUS, notices }),
    observe: () => observedAt('https://acme.example/', findings),
  });

describe('console page of a site', () => {
  it('shows each foreign origin that the site requests, and each invalid rule with its file and line', async () => {
    const operator = operatorAt({
      policy: 'on',
      origins: [{ origin: 'https://cdn.example', reports: 1234 }],
      ruleFaults: [
        { file: '_redirects', line: 12, reason: 'has no target' },
        { file: '_headers', line: null, reason: 'is over 1 MiB; docshelf ignores all its rules' },
      ],
      ruleFaultCount: 302,
    });
    const page = await operator.page('/sites/acme');
    for (const text of ['https://cdn.example', '1,234', 'features.enforce blocks them', '300 more are not shown'])
      expect(page).toContain(text);
    expect(page).toMatch(/<code>_redirects<\/code><\/th><td data-column="Line" class="number">12<\/td>/);
    expect(page).toMatch(/<code>_headers<\/code><\/th><td data-column="Line" class="number">all<\/td>/);
    expect(page).toContain('has no target');
  });

  it('omits a notice that another section of the page shows', async () => {
    const same = '_redirects of the bundle, line 12, has no target; docshelf ignores it.';
    const page = await operatorAt({ notices: [same] }, [same, 'The disk fills.']).page('/sites/acme');
    expect([page.includes(same), page.includes('The disk fills.')]).toEqual([false, true]);
  });

  it('states that features.enforce is off, and shows no table of invalid rules if there are none', async () => {
    const page = await operatorAt({}).page('/');
    expect(page).toContain('features.enforce is off');
    expect(page).not.toContain('id="rules"');
    expect(await operatorAt({ policy: 'report' }).page('/')).toContain('No browser has reported');
  });

  it('escapes text from the bundle', async () => {
    const ruleFaults = [{ file: '_redirects', line: 1, reason: `"${EVIL}" names a host` }] as const;
    const page = await operatorAt({ ruleFaults, ruleFaultCount: 1, origins: [{ origin: EVIL, reports: 1 }] }).page('/');
    expect(page).not.toContain(EVIL);
    expect(page.match(/&lt;script&gt;alert/g)).toHaveLength(2);
  });
});
