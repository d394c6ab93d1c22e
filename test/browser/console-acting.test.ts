import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditLine } from '../../src/http/audit/audit.ts';
import { bundle, folderOf } from '../acceptance/bundles.ts';
import { startExporter } from '../acceptance/export-service.ts';
import { gz, rawTar } from '../helpers/archives.ts';
import { type DaemonProcess, openBench } from '../helpers/daemon.ts';
import { newestChange } from './console-audit.ts';
import { ConsoleOperator } from './console-operator.ts';
import { hasChromium, useChromium, whyNoChromium } from './reader.ts';

/** Operators at a running daemon: each action by keyboard, each without JavaScript, and two operators at once. */

const TOKEN = 'correct-horse-battery';
const AUTHORIZED = { headers: { Authorization: `Bearer ${TOKEN}` } };
const WAYS: readonly [string, boolean][] = [
  ['by keyboard', true],
  ['without JavaScript', false],
];

describe.skipIf(!hasChromium)(`actions in the console${whyNoChromium}`, () => {
  const bench = openBench(afterAll);
  const chromium = useChromium();
  let daemon: DaemonProcess;
  let folder: string;

  beforeAll(async () => {
    folder = await bench.folder();
    const config = { staticExport: { enabled: true }, admin: { port: 0, token: TOKEN }, search: { enabled: true } };
    ({ daemon } = await startExporter(bench, config, { folder }));
    await folderOf(folder, {
      ...Object.fromEntries(['one', 'two', 'three', 'four'].map((mark) => [`${mark}.tar.gz`, bundle(mark)])),
      'evil.tar.gz': gz(rawTar([{ name: '../evil<b>.html', body: 'x' }])),
    });
  });

  const enter = (profile: BrowserContextOptions = {}): Promise<ConsoleOperator> =>
    ConsoleOperator.signedIn(chromium.browser, daemon.admin, { token: TOKEN, path: 'sites/acme', ...profile });

  async function importBundle({ page, press }: ConsoleOperator, name: string, version: string): Promise<void> {
    await page.getByLabel('Version', { exact: true }).fill(version);
    await page.getByLabel('Archives', { exact: true }).setInputFiles(join(folder, `${name}.tar.gz`));
    await press('button', 'Upload');
  }

  /** Imports an archive by the API. */
  async function store(name: string, version: string, activate = true): Promise<void> {
    const address = `${daemon.admin}/v1/bundles/${name}.tar.gz?version=${version}&activate=${activate}`;
    const answer = await fetch(address, { ...AUTHORIZED, method: 'PUT', body: new Uint8Array(bundle(name)) });
    expect(answer.status).toBe(201);
  }

  async function changed(fields: Partial<AuditLine>): Promise<void> {
    const line = { by: 'session', id: expect.any(String), client: '127.0.0.1', requestId: expect.any(String) };
    expect(await newestChange(daemon, TOKEN)).toMatchObject({ ...line, result: 'ok', ...fields });
  }

  it.each(WAYS)('change the active version and add an audit line each time, %s', async (_, javaScriptEnabled) => {
    const operator = await enter({ javaScriptEnabled });
    const { page, press, untilMessage } = operator;
    await changed({ action: 'sign-in' });
    await importBundle(operator, 'one', 'v1');
    await untilMessage('version v1 is active');
    await changed({ action: 'upload', site: 'acme', target: 'one.tar.gz', to: 'v1' });
    await importBundle(operator, 'two', 'v2');
    await untilMessage('version v2 is active');
    await changed({ action: 'upload', target: 'two.tar.gz', from: 'v1', to: 'v2' });
    await importBundle(operator, 'evil', 'v3');
    await untilMessage('evil.tar.gz was rejected');
    await untilMessage('name_dotdot');
    await changed({ action: 'upload', target: 'evil.tar.gz', result: 'name_dotdot', error: expect.any(String) });
    expect(await page.content()).toContain('../evil&lt;b&gt;.html');

    await daemon.until(({ search }) => search.keyword === 'ready');
    await operator.show('sites/acme');
    await press('button', 'Compare');
    await untilMessage('2 changed');
    await press('link', 'acme');
    await page.getByRole('searchbox').focus();
    await page.keyboard.type('start');
    await page.keyboard.press('Enter');
    await page.locator('.results li').first().getByText('Words', { exact: true }).waitFor();
    await press('link', 'acme');

    await press('link', 'Activate v1');
    await untilMessage('Readers of acme will see v1 instead of v2.');
    for (const [version, mark] of [
      ['v1', 'one'],
      ['v2', 'two'],
    ]) {
      const link = page.getByRole('link', { name: `Open index.html in ${version}` });
      const side = await page
        .context()
        .request.get(await link.evaluate((element) => (element as HTMLAnchorElement).href));
      expect(await side.text()).toContain(mark);
    }
    await press('button', 'Activate v1');
    await untilMessage('Version v1 is active');
    await changed({ action: 'activate', target: 'v1', from: 'v2', to: 'v1' });
    await press('button', 'Roll back');
    await untilMessage('Rolled back: version v2 is active');
    await changed({ action: 'rollback', from: 'v1', to: 'v2' });
    await press('button', 'Preview v1');
    await untilMessage('Preview link for version v1, valid for one day');
    await changed({ action: 'preview', target: 'v1' });
    await operator.unfold('#remove-v1');
    await press('button', 'Delete v1 permanently');
    await untilMessage('Version v1 was deleted');
    await changed({ action: 'remove', target: 'v1', from: 'v1' });
    await press('link', 'All sites');
    await press('button', 'Reload config');
    await untilMessage('The config was reloaded');
    await changed({ action: 'reload' });
    await press('button', 'Sign out');
    await page.getByRole('link', { name: 'Sign in' }).waitFor();
    await changed({ action: 'sign-out' });
    await operator.leave();
  });

  it.each(WAYS)(
    'create keys that work with the command on the page, and revoke keys, %s',
    async (way, javaScriptEnabled) => {
      await store('two', 'v2');
      await daemon.until(({ search }) => search.keyword === 'ready');
      const operator = await enter({ javaScriptEnabled });
      const { page, press, untilMessage } = operator;
      for (const [type, answer] of [
        ['admin', { status: 'queued', domain: 'acme' }],
        ['assistant', [{ path: '/guides/start' }, { path: '/' }]],
      ] as const) {
        await press('link', 'Organizations');
        await press('link', 'API keys of acme-inc');
        await page.getByLabel('Name', { exact: true }).focus();
        await page.keyboard.type(`${type} ${way}`);
        await page.keyboard.press('Tab');
        await page.keyboard.type(type);
        await press('button', 'Create key');
        await untilMessage('shows it only once');
        await changed({
          action: 'key-create',
          organization: 'acme-inc',
          target: `${type} ${way}`,
          to: expect.any(String),
        });
        const key = (await page.locator('#key').textContent()) ?? '';
        const line = (await page.locator('#curl').textContent()) ?? '';
        expect([line.includes(key), key.startsWith('svc_dsc_')]).toEqual([true, type === 'assistant']);
        expect(JSON.parse(await shell(line))).toMatchObject(answer);

        await press('link', 'All keys of acme-inc');
        const row = page.locator('tr', { hasText: `${type} ${way}` });
        await row.getByText('just now').waitFor();
        await operator.unfold(`#${await row.getAttribute('id')}`);
        await press('button', `Revoke ${type} ${way} permanently`);
        await untilMessage('was revoked');
        await changed({ action: 'key-revoke', organization: 'acme-inc', target: `${type} ${way}`, to: null });
        expect(JSON.parse(await shell(line))).toMatchObject({ status: 401, code: 'unauthorized' });
        expect(daemon.log()).not.toContain(key);
      }
      await operator.leave();
    },
  );

  it('are possible with the keyboard alone: sign-in, activation, rollback and sign-out', async () => {
    await store('two', 'v2');
    await store('one', 'v1', false);
    const operator = await ConsoleOperator.open(chromium.browser, daemon.admin);
    const { page, untilMessage } = operator;
    await operator.show('');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent.trim()')).toBe('Skip to the content');
    await operator.tabTo('link', 'Sign in');
    await page.keyboard.press('Enter');
    await page.locator('#token:focus').waitFor();
    await page.keyboard.type(TOKEN);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
    await operator.tabTo('link', 'Activate v1');
    await page.keyboard.press('Enter');
    await untilMessage('Readers of acme will see v1 instead of v2.');
    await operator.tabTo('button', 'Activate v1');
    await page.keyboard.press('Enter');
    await untilMessage('Version v1 is active');
    await operator.tabTo('button', 'Roll back');
    await page.keyboard.press('Enter');
    await untilMessage('Rolled back: version v2 is active');
    await operator.tabTo('button', 'Sign out', 'Shift+Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Sign in' }).waitFor();
    await operator.leave();
  });

  it('appear on the page of a second operator, without a change of focus, opened sections or typed text', async () => {
    const [one, other] = [await enter(), await enter()];
    const { page } = other;
    await importBundle(one, 'three', 'v3');
    await one.untilMessage('version v3 is active');
    // The page has updated itself.
    await page.locator('#version-v3').waitFor();
    await page.getByLabel('Version', { exact: true }).fill('v4-typed');
    const details = page.locator('#remove-v2');
    await other.unfold('#remove-v2');
    await page.evaluate('window.isSame = true');

    await Promise.all([importBundle(one, 'four', 'v4'), page.locator('#version-v4').waitFor()]);
    await one.untilMessage('version v4 is active');
    expect(await page.getByLabel('Version', { exact: true }).inputValue()).toBe('v4-typed');
    expect(await details.evaluate((element) => 'open' in element && element.open)).toBe(true);
    expect(await page.evaluate('document.activeElement.parentElement.id')).toBe('remove-v2');
    expect(await page.evaluate('window.isSame')).toBe(true);

    await other.press('link', 'Activate v3');
    await other.press('button', 'Activate v3');
    await other.untilMessage('Version v3 is active');
    // The result has the focus, because the page is a new one.
    expect(await page.evaluate('document.activeElement.id')).toBe('message');
    await page.evaluate('window.isSame = true');
    await page.getByLabel('Version', { exact: true }).fill('v4-typed');
    await one.page.locator('#version-v3').getByText('active', { exact: true }).waitFor();
    expect(await one.page.locator('.uploads li').count()).toBe(2);

    await other.press('button', 'Roll back');
    await other.untilMessage('Rolled back: version v4 is active');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Roll back');
    // The next update keeps the message.
    await page.locator('#version-v4').getByText('active', { exact: true }).waitFor();
    await other.untilMessage('Rolled back: version v4 is active');
    expect(await page.evaluate('window.isSame')).toBe(true);
    expect(await page.getByLabel('Version', { exact: true }).inputValue()).toBe('v4-typed');
    for (const operator of [one, other]) await operator.leave();
  });

  it('show the reason if a form is rejected, and never send a form twice', async () => {
    const operator = await enter();
    await operator.page.context().clearCookies();
    await operator.press('button', 'Roll back');
    await operator.untilMessage('Cannot perform the action: you are not signed in');
    expect(new URL(operator.page.url()).pathname).toBe('/sites/acme');
    await operator.page.reload();
    await operator.page.getByRole('link', { name: 'Sign in' }).waitFor();
    await operator.leave(['401 /sites/acme/rollback']);
  });

  it('cannot be triggered by a page of the site, although the browser sends the session cookie to the site and to the console', async () => {
    await store('two', 'v2');
    const { page, reader } = await enter();
    const formToken = await page.locator('input[name=formToken]').first().inputValue();
    await page.context().unrouteAll();
    const before = [await newestChange(daemon, TOKEN), (await daemon.status()).active];
    const address = `${daemon.admin}/sites/acme/rollback`;
    await page.goto(`${daemon.site}/`);
    expect(await page.evaluate(attempt, { admin: daemon.admin, address, formToken })).toEqual({
      sent: 'refused',
      read: 'refused',
      listened: 'refused',
    });
    // The frame shows no content of the console.
    expect(page.frames().map((frame) => frame.url())).toEqual([`${daemon.site}/`, 'chrome-error://chromewebdata/']);
    expect(reader.failures).toContainEqual({
      path: 'sites/acme/rollback',
      why: 'net::ERR_BLOCKED_BY_RESPONSE.NotSameOrigin',
    });

    await Promise.all([page.waitForURL(address), page.evaluate(submit, { address, formToken })]);
    await page.getByText('another site sent it').waitFor();
    expect([await newestChange(daemon, TOKEN), (await daemon.status()).active]).toEqual(before);

    await page.goto(`${daemon.site}/`);
    await page.evaluate(`location.assign('${daemon.admin}/sites/acme')`);
    // The session cookie belongs to the page.
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
  });
});

interface Aim {
  readonly admin: string;
  readonly address: string;
  readonly formToken: string;
}

/** Runs in a page of another site: attempts without navigation, with a stolen form token. */
async function attempt({ admin, address, formToken }: Aim) {
  const untilMessage = (pending: Promise<unknown>) => pending.then(String, () => 'refused');
  const body = new URLSearchParams({ formToken });
  const sent = fetch(address, { method: 'POST', mode: 'no-cors', credentials: 'include', body });
  const listened = new Promise<string>((resolve) => {
    const events = new EventSource(`${admin}/events`, { withCredentials: true });
    events.onopen = () => resolve('open');
    events.onerror = () => resolve('refused');
  });
  const frame = document.createElement('iframe');
  frame.src = `${admin}/`;
  const loaded = new Promise((resolve) => {
    frame.onload = resolve;
  });
  document.body.append(frame);
  await loaded;
  return {
    sent: await untilMessage(sent.then(({ type }) => type)),
    read: await untilMessage(fetch(`${admin}/sites/acme`, { credentials: 'include' })),
    listened: await listened,
  };
}

/** Runs in a page of another site: submits a form as if its reader had pressed a button. */
function submit({ address, formToken }: Omit<Aim, 'admin'>): void {
  const form = document.createElement('form');
  form.method = 'post';
  form.action = address;
  const field = document.createElement('input');
  field.name = 'formToken';
  field.value = formToken;
  form.append(field);
  document.body.append(form);
  form.submit();
}

/** Runs a line in a shell, as an operator pastes it. */
async function shell(line: string): Promise<string> {
  return (await promisify(execFile)('sh', ['-euc', line], { timeout: 60_000 })).stdout;
}
