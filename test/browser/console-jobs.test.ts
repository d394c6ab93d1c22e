import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditLine } from '../../src/http/audit/audit.ts';
import { blockJobs, type Exporter, startExporter } from '../acceptance/export-service.ts';
import { openBench } from '../helpers/daemon.ts';
import { newestChange } from './console-audit.ts';
import { ConsoleOperator } from './console-operator.ts';
import { hasChromium, useChromium, whyNoChromium } from './reader.ts';

const TOKEN = 'correct-horse-battery';

describe.skipIf(!hasChromium)(`export jobs in the console${whyNoChromium}`, () => {
  const bench = openBench(afterAll);
  const chromium = useChromium();
  let service: Exporter;
  let letGo: () => void;

  beforeAll(async () => {
    const gate = await blockJobs();
    letGo = gate.open;
    service = await startExporter(bench, { ...gate.config, admin: { port: 0, token: TOKEN } });
  });

  async function changed(fields: Partial<AuditLine>): Promise<void> {
    const line = { by: 'session', site: 'acme', organization: 'acme-inc', result: 'ok' };
    expect(await newestChange(service.daemon, TOKEN)).toMatchObject({ ...line, ...fields });
  }

  it.each<[string, boolean]>([
    ['by keyboard', true],
    ['without JavaScript', false],
  ])('are started, canceled and restarted, with an audit line for each change, %s', async (_, javaScriptEnabled) => {
    const { daemon } = service;
    const operator = await ConsoleOperator.signedIn(chromium.browser, daemon.admin, {
      token: TOKEN,
      javaScriptEnabled,
    });
    const { page, press, untilMessage } = operator;
    const jobId = (): string => new URL(page.url()).pathname.split('/').at(-1) ?? '';
    /** Waits until the page shows the status, by itself or after a reload. */
    const comes = async (status: string): Promise<void> => {
      await service.until(jobId(), (job) => job.status === status);
      if (!javaScriptEnabled) await operator.show(`jobs/${jobId()}`);
      await page.locator('.lead .chip', { hasText: status }).waitFor();
    };

    await press('link', 'Jobs');
    await page.getByLabel('Site', { exact: true }).focus();
    await page.keyboard.type('acme');
    await page.keyboard.press('Tab');
    await page.keyboard.type('v1');
    await page.keyboard.press('Enter');
    await untilMessage('The export of acme is queued');
    const first = jobId();
    await changed({ action: 'export-start', target: first });
    await comes('running');
    expect(await page.locator('.lead .big').innerText()).toMatch(/running \d+ %/);
    await press('button', `Cancel ${first}`);
    await untilMessage('The job is being canceled');
    await changed({ action: 'export-cancel', target: first });
    await comes('failed');
    await untilMessage('canceled');

    await press('button', `Retry ${first}`);
    await untilMessage(`The retry of ${first} is queued`);
    const second = jobId();
    expect(second).not.toBe(first);
    await changed({ action: 'export-start', target: second });
    await press('link', 'All jobs');
    await page.locator(`#${second}`).getByText('v1').waitFor();
    await press('button', `Cancel ${second}`);
    await untilMessage('The job is being canceled');
    await comes('failed');
    await operator.leave();
  });

  it('update their progress automatically, and show their report at the end', async () => {
    const operator = await ConsoleOperator.signedIn(chromium.browser, service.daemon.admin, {
      token: TOKEN,
      path: 'jobs',
    });
    const { page, press, untilMessage } = operator;
    await press('button', 'Start export');
    await untilMessage('The export of acme is queued');
    await page.locator('.lead .chip', { hasText: 'running' }).waitFor();
    letGo();
    await page.locator('.lead .chip', { hasText: 'completed' }).waitFor();
    await page.locator('#findings').waitFor();
    await press('link', 'All jobs');
    await page
      .locator('tr', { hasText: 'completed' })
      .getByRole('button', { name: /^Retry/ })
      .waitFor();
    await operator.leave();
  });
});
