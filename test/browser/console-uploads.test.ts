import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signFile } from '../../src/archive/index.ts';
import type { AuditPage } from '../../src/http/audit/audit.ts';
import { bundle, folderOf, largeBundle } from '../acceptance/bundles.ts';
import { type DaemonProcess, openBench } from '../helpers/daemon.ts';
import { ConsoleOperator } from './console-operator.ts';
import { hasChromium, useChromium, whyNoChromium } from './reader.ts';

const TOKEN = 'correct-horse-battery';
const AUTHORIZED = { headers: { Authorization: `Bearer ${TOKEN}` } };
const FIXTURES = join(import.meta.dirname, '../fixtures/minisign');
const SECRET = readFileSync(join(FIXTURES, 'throwaway.key'), 'utf8');
const PUBLIC = readFileSync(join(FIXTURES, 'throwaway.pub'), 'utf8').split('\n')[1];

const LARGE = 'large-2024-09-01.tar';
const WAITING = 'other-2024-07-01.tar.gz';
const SIGNED = 'signed-2024-06-01.tar.gz';
const FORGED = 'forged-2024-08-01.tar.gz';
const LARGE_BYTES = 8 * 1024 * 1024;
/** The large upload takes a minute, so it still runs when it is canceled. */
const SLOW_BYTES_PER_S = 128 * 1024;
const UNBOUNDED = -1;

describe.skipIf(!hasChromium)(`archives that an operator drops on the console${whyNoChromium}`, () => {
  const bench = openBench(afterAll);
  const chromium = useChromium();
  let daemon: DaemonProcess;
  let folder: string;

  beforeAll(async () => {
    folder = await bench.folder();
    const staticExport = { signature: { required: false, publicKeys: [PUBLIC] } };
    daemon = await bench.start({ deployment: { domain: 'acme' }, staticExport, admin: { token: TOKEN } }, { folder });
    await folderOf(folder, {
      [LARGE]: largeBundle('large', LARGE_BYTES),
      [WAITING]: bundle('other'),
      [SIGNED]: bundle('signed'),
      [FORGED]: bundle('forged'),
    });
    const minisig = Buffer.from(await signFile(join(folder, SIGNED), SECRET, { trustedComment: 'by the test' }));
    await folderOf(folder, { [`${SIGNED}.minisig`]: minisig, [`${FORGED}.minisig`]: minisig });
  });

  const enter = (): Promise<ConsoleOperator> =>
    ConsoleOperator.signedIn(chromium.browser, daemon.admin, { token: TOKEN, path: 'sites/acme' });

  /** Simulates files that are dropped on the page. */
  async function drop({ page }: ConsoleOperator, names: readonly string[]): Promise<void> {
    const session = await page.context().newCDPSession(page);
    const form = page.locator('form.upload');
    await form.scrollIntoViewIfNeeded();
    const { x, y } = (await form.boundingBox()) ?? { x: 0, y: 0 };
    const data = { items: [], files: names.map((name) => join(folder, name)), dragOperationsMask: 1 };
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
      await session.send('Input.dispatchDragEvent', { type, x: x + 20, y: y + 20, data });
    await session.detach();
  }

  /** Limits the upload rate of the page. */
  async function slowDown({ page }: ConsoleOperator): Promise<(bytesPerS: number) => Promise<void>> {
    const session = await page.context().newCDPSession(page);
    await session.send('Network.enable');
    const change = async (bytesPerS: number): Promise<void> => {
      const download = { latency: 0, downloadThroughput: UNBOUNDED };
      await session.send('Network.emulateNetworkConditions', {
        ...download,
        offline: false,
        uploadThroughput: bytesPerS,
      });
    };
    await change(SLOW_BYTES_PER_S);
    return change;
  }

  async function isUnderWay({ page, untilMessage }: ConsoleOperator, name: string): Promise<void> {
    await untilMessage(/^[1-9]\d? % sent$/);
    const bar = page.getByRole('progressbar', { name: `Upload progress of ${name}` });
    expect(Number(await bar.getAttribute('value'))).toBeGreaterThan(0);
  }

  async function changes(): Promise<AuditPage['lines']> {
    const answer = await fetch(`${daemon.admin}/v1/audit?limit=20`, AUTHORIZED);
    return ((await answer.json()) as AuditPage).lines.filter(({ action }) => !action.startsWith('sign-'));
  }

  const stored = async (): Promise<string[]> => (await daemon.status()).versions.map(({ version }) => version).sort();

  it('are uploaded one after the other, show progress, signature and result, and can be canceled', async () => {
    const operator = await enter();
    const { press, untilMessage, page } = operator;
    const atRate = await slowDown(operator);
    await drop(operator, [LARGE, WAITING, SIGNED, `${SIGNED}.minisig`, FORGED, `${FORGED}.minisig`]);
    await isUnderWay(operator, LARGE);
    const rows = page.locator('.uploads li');
    expect(await rows.allInnerTexts()).toEqual([
      expect.stringMatching(/^forged[\s\S]*Waiting/),
      expect.stringMatching(/^signed[\s\S]*Waiting/),
      expect.stringMatching(/^other[\s\S]*Waiting/),
      expect.stringMatching(/^large[\s\S]*% sent/),
    ]);
    await press('button', `Cancel ${WAITING}`);
    await untilMessage(`${WAITING} was canceled`);
    await press('button', `Cancel ${LARGE}`);
    await untilMessage(`${LARGE} was canceled`);
    await atRate(UNBOUNDED);
    await untilMessage(`${SIGNED} was imported: version 2024-06-01 is active`);
    await untilMessage(`${FORGED} was rejected`);
    expect(await rows.first().innerText()).toMatch(/its signature[\s\S]*bad_signature/);
    expect(await stored()).toEqual(['2024-06-01']);
    expect(daemon.lines()).toContainEqual(
      expect.objectContaining({ event: 'verified', trustedComment: 'by the test' }),
    );
    const lines = await changes();
    expect(lines.filter(({ target }) => target !== LARGE)).toMatchObject([
      { action: 'upload', target: FORGED, result: 'bad_signature', to: null },
      { action: 'signature', target: `${FORGED}.minisig`, result: 'ok' },
      { action: 'upload', target: SIGNED, to: '2024-06-01', result: 'ok' },
      { action: 'signature', target: `${SIGNED}.minisig`, result: 'ok' },
    ]);
    expect(lines.filter(({ target }) => target === LARGE)).toMatchObject([
      { action: 'upload', to: null, result: expect.not.stringMatching(/^ok$/) },
    ]);
    await operator.leave();
  });

  it('are all uploaded while another operator activates a version, and both operators see all changes', async () => {
    const [one, other] = [await enter(), await enter()];
    await drop(other, [WAITING]);
    await other.untilMessage(`${WAITING} was imported: version 2024-07-01 is active`);
    const atRate = await slowDown(one);
    await drop(one, [LARGE]);
    await isUnderWay(one, LARGE);

    await other.press('link', 'Activate 2024-06-01');
    await other.press('button', 'Activate 2024-06-01');
    await other.untilMessage('Version 2024-06-01 is active');
    await one.page.locator('#version-2024-06-01').getByText('active', { exact: true }).waitFor();
    await isUnderWay(one, LARGE);
    expect(await (await fetch(daemon.site)).text()).toContain('signed');

    await atRate(UNBOUNDED);
    await one.untilMessage(`${LARGE} was imported: version 2024-09-01 is active`);
    await other.page.locator('#version-2024-09-01').getByText('active', { exact: true }).waitFor();
    expect(await (await fetch(daemon.site)).text()).toContain('large');
    expect(await stored()).toEqual(['2024-06-01', '2024-07-01', '2024-09-01']);
    expect((await changes()).slice(0, 2)).toMatchObject([
      { action: 'upload', target: LARGE, to: '2024-09-01', result: 'ok' },
      { action: 'activate', target: '2024-06-01', from: '2024-07-01', to: '2024-06-01', result: 'ok' },
    ]);
    await other.press('button', 'Roll back');
    await other.untilMessage('Rolled back: version 2024-06-01 is active');
    for (const operator of [one, other]) await operator.leave();
  });
});
