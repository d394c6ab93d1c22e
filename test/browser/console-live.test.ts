import type { Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Secret } from '../../src/domain/secret.ts';
import { JobDesk } from '../../src/http/job-desk.ts';
import { appWith, TOKEN } from '../http/admin/admin-example.ts';
import { exportsInMemory } from '../http/api/exports-in-memory.ts';
import { memoryAudit } from '../http/audit/memory-audit.ts';
import { organization, ownedSite } from '../http/organization-example.ts';
import { STATUS } from '../http/status-example.ts';
import { hasChromium, listenWith, useChromium, whyNoChromium } from './reader.ts';

const STEP_MS_MAX = 60_000;
const ORGANIZATIONS = [organization('acme-inc', { sites: [ownedSite('acme')] })];

/** The page shows each change by itself, and never loses the focus. */
describe.skipIf(!hasChromium)(`live updates of the console${whyNoChromium}`, () => {
  const shown = { status: STATUS, token: TOKEN };
  const { exports, queue } = exportsInMemory();
  const desk = new JobDesk({ service: async () => exports, organizations: () => ORGANIZATIONS });
  const chromium = useChromium();
  let admin: string;
  let page: Page;

  beforeAll(async () => {
    const { audit } = memoryAudit();
    const { app } = appWith({
      audit,
      status: async () => shown.status,
      token: () => new Secret(shown.token),
      revisions: { changes: () => String(audit.count), jobs: () => exports.revision() },
      actions: { jobs: desk },
    });
    admin = await listenWith(app);
  });

  beforeEach(async () => {
    shown.status = STATUS;
    shown.token = TOKEN;
    page = await signedIn();
    return () => page.context().close();
  });

  async function signedIn(): Promise<Page> {
    const opened = await (await chromium.browser.newContext()).newPage();
    opened.setDefaultTimeout(STEP_MS_MAX);
    await opened.goto(`${admin}/sign-in`);
    await opened.getByLabel('Admin token').fill(TOKEN);
    await opened.keyboard.press('Enter');
    await opened.getByRole('button', { name: 'Sign out' }).waitFor();
    return opened;
  }

  const focused = (): Promise<string> =>
    page.evaluate('document.activeElement.id || document.activeElement.textContent.trim()');

  it('move the focus to the table heading if the focused row disappears, and keep this focus at the next update', async () => {
    await page.goto(`${admin}/sites/acme`);
    await page.locator('#remove-2024-05-01 summary').focus();
    const versions = STATUS.versions.filter(({ version }) => version !== '2024-05-01');
    shown.status = { ...STATUS, versions };
    await page.locator('#version-2024-05-01').waitFor({ state: 'detached' });
    expect(await focused()).toBe('versions');
    shown.status = { ...STATUS, versions, activity: 'unpacking a.zip' };
    await page.getByText('unpacking a.zip').waitFor();
    expect(await focused()).toBe('versions');
  });

  it('move the focus to the row if the focused button disappears', async () => {
    await page.goto(`${admin}/sites/acme`);
    await page.getByRole('link', { name: 'Activate 2024-05-01' }).focus();
    shown.status = { ...STATUS, active: STATUS.active && { ...STATUS.active, ...versionOf('2024-05-01') } };
    await page.locator('#version-2024-05-01').getByText('active', { exact: true }).waitFor();
    expect(await focused()).toMatch(/^2024-05-01/);
  });

  it('show the end of a session in the header, and move the focus to the content', async () => {
    await page.goto(`${admin}/sites/acme`);
    await page.getByRole('button', { name: 'Sign out' }).focus();
    shown.token = 'another-correct-horse';
    shown.status = { ...STATUS, activity: 'reloading' };
    await page.getByRole('link', { name: 'Sign in' }).waitFor();
    expect(await page.locator('form[method="post"]').count()).toBe(0);
    expect(await focused()).toBe('main');
  });

  it('show each audit line of one operator to a second operator', async () => {
    const other = await signedIn();
    await page.goto(`${admin}/audit`);
    await other.goto(`${admin}/sites/acme`);
    const before = await page.locator('tbody tr').count();
    await other.getByRole('button', { name: 'Sign out' }).click();
    await page.locator(`tbody tr:nth-child(${before + 1})`).waitFor();
    expect(await page.locator('tbody tr').first().textContent()).toContain('sign-out');
    await other.context().close();
  });

  it('show the progress of a job in the job list, and on the page of the job even without sign-in', async () => {
    const { jobId } = await desk.start({ domain: 'acme' });
    await page.goto(`${admin}/jobs`);
    const reader = await (await chromium.browser.newContext()).newPage();
    await reader.goto(`${admin}/jobs/${jobId}`);
    for (const progress of [41, 42]) {
      queue.move(jobId, { status: 'running', progress });
      for (const each of [page, reader]) await each.getByText(`${progress} %`).waitFor();
    }
    queue.complete(jobId);
    for (const each of [page, reader]) await each.locator('main').getByText('completed').waitFor();
    await reader.context().close();
  });

  it('resume after the event stream was rejected', async () => {
    let refused = 0;
    await page.route('**/events', (route) => {
      refused += 1;
      return refused < 3 ? route.fulfill({ status: refused === 1 ? 429 : 502 }) : route.continue();
    });
    await page.goto(`${admin}/sites/acme`);
    await page.waitForResponse((answer) => answer.url().endsWith('/events') && answer.status() === 200);
    shown.status = { ...STATUS, activity: 'unpacking b.zip' };
    await page.getByText('unpacking b.zip').waitFor();
    expect(refused).toBe(3);
  });
});

/** Facts of a stored version. */
function versionOf(label: string): { readonly version: string; readonly digest: string } {
  const { version = '', digest = '' } = STATUS.versions.find((each) => each.version === label) ?? {};
  return { version, digest };
}
