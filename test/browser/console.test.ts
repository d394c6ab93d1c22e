import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DocshelfError } from '../../src/domain/errors.ts';
import type { StoredJob } from '../../src/export/ports.ts';
import type { AdminActions } from '../../src/http/admin/actions.ts';
import { type AuditLine, AuditTrail } from '../../src/http/audit/audit.ts';
import { JobDesk } from '../../src/http/job-desk.ts';
import type { ListedKey } from '../../src/http/keys/key-schemas.ts';
import { actionsThatNote, appWith, DIGEST, KEY, observedAt, TOKEN } from '../http/admin/admin-example.ts';
import { exportsInMemory } from '../http/api/exports-in-memory.ts';
import { auditLine } from '../http/audit/memory-audit.ts';
import { AIR_GAPPED, FINDINGS, LONG, RESULT, STATES } from '../http/console/states.ts';
import { organization, ownedSite } from '../http/organization-example.ts';
import { STATUS } from '../http/status-example.ts';
import { ConsoleOperator } from './console-operator.ts';
import { hasChromium, listenWith, useChromium, whyNoChromium } from './reader.ts';

/** Number of rows with all kinds of content. For a long table, axe takes seconds. */
const ROWS_READ = 12;

const ORGANIZATION = organization('acme', { sites: [ownedSite('acme')] });

const LINE = auditLine({
  action: 'upload',
  site: 'a-rather-long-domain-of-a-site',
  target: 'acme-export-with-a-very-long-name-that-goes-on-and-on-2024-06-01.tar.gz',
  result: 'bad_signature',
  error: 'Cannot trust "acme-export-2024-06-01.tar.gz": its signature does not hold',
});

const KEYS: readonly ListedKey[] = [
  KEY,
  { ...KEY, id: 'key_used', name: 'n'.repeat(128), lastUsedAt: '2026-11-23T11:00:00.000Z' },
  { ...KEY, id: 'key_old', name: 'old', expiresAt: '2026-11-23T12:00:00.000Z', expired: true },
  { ...KEY, id: 'site', name: 'site', type: 'assistant', createdAt: null, readOnly: true },
];

describe.skipIf(!hasChromium)(`the console${whyNoChromium}`, () => {
  const shown = { status: STATUS };
  const gate = Promise.withResolvers<void>();
  const { exports, queue } = exportsInMemory();
  const jobs = new JobDesk({ service: async () => exports, organizations: () => [ORGANIZATION] });
  const chromium = useChromium();
  let admin: string;
  let operator: ConsoleOperator;

  beforeAll(async () => {
    const findings = {
      policy: 'on',
      origins: [{ origin: `https://${'cdn.'.repeat(40)}example`, reports: 1234 }],
      ruleFaults: [{ file: '_redirects', line: 12, reason: `"${'/x'.repeat(120)}" has no target` }],
      ruleFaultCount: 1,
    } as const;
    const line = { append: async () => undefined, read: async () => ({ lines: LINES, before: LINE.at }) };
    const { app } = appWith({
      status: async () => shown.status,
      features: () => AIR_GAPPED,
      observe: () => observedAt('https://acme.example/', findings, async () => [RESULT]),
      service: () => ({ organizations: [ORGANIZATION], apiUrl: 'http://127.0.0.1:8081' }),
      audit: new AuditTrail(line, () => undefined),
      actions: actions(),
    });
    admin = await listenWith(app);
    operator = await ConsoleOperator.signedIn(chromium.browser, admin, { token: TOKEN });
    weigh(operator);
  });
  afterAll(() => gate.resolve());

  /** Addresses of files that pages load, by name. */
  const loaded = new Map<string, string>();
  function weigh({ page }: ConsoleOperator): void {
    page.on('request', (request) => {
      const name = /[^/]+-[0-9a-f]{16}\.\w+$/.exec(request.url())?.[0];
      if (name !== undefined) loaded.set(name, request.url());
    });
  }

  const id = KEY.id.padEnd(24, '8');
  const LINES: readonly AuditLine[] = [
    LINE,
    { ...LINE, result: 'ok', error: null },
    { ...LINE, action: 'key-revoke', target: 'a contractor', from: id, result: 'version_not_found' },
    { ...LINE, action: 'activate', target: '2026-12-01', to: id, requestId: crypto.randomUUID() },
  ];

  /** One version is damaged, one archive is malicious, and the upload of another never ends. */
  function actions(): AdminActions {
    const noted = actionsThatNote([], {
      activate: () => Promise.reject(new DocshelfError('release_damaged', LONG, { next: LONG })),
      upload: async (fileName, body) => {
        await new Response(body).text();
        if (fileName.startsWith('evil')) throw new DocshelfError('name_dotdot', LONG, { next: 'Pack it anew.' });
        if (fileName.startsWith('held')) await gate.promise;
        return { version: 'v9', digest: DIGEST, activated: true, unpacked: true };
      },
    });
    return { ...noted, jobs, keys: { ...noted.keys, list: async () => KEYS } };
  }

  it('passes the accessibility checks on the sign-in page, with a wrong and a correct token', async () => {
    const other = await ConsoleOperator.open(chromium.browser, admin);
    await other.show('sign-in');
    await other.looksWell('sign-in');
    await other.page.keyboard.type('not-the-token');
    await other.page.keyboard.press('Enter');
    await other.untilMessage('Sign-in failed');
    await other.looksWell('refused');
    await other.page.getByLabel('Admin token').fill(TOKEN);
    await other.page.keyboard.press('Enter');
    await other.page.getByRole('button', { name: 'Sign out' }).waitFor();
    await other.leave(['401 /sign-in']);
  });

  it('passes the accessibility checks on the sign-in page if no token is set', async () => {
    const other = await ConsoleOperator.open(chromium.browser, await listenWith(appWith({ token: () => null }).app));
    await other.show('sign-in');
    await other.untilMessage('is set, so the console is read-only');
    await other.looksWell('sign-in');
    await other.leave();
  });

  it('passes the accessibility checks on every page if the user is not signed in, and on the 404 page', async () => {
    shown.status = STATUS;
    const other = await ConsoleOperator.open(chromium.browser, admin);
    const inside = [
      'jobs',
      'organizations',
      'organizations/acme/keys',
      'audit',
      'sites/acme/search',
      'sites/acme/diff',
    ];
    for (const path of ['', ...inside, 'sites/nobody', 'nowhere']) {
      await other.show(path);
      await other.page.getByRole('link', { name: 'Sign in' }).first().waitFor();
      await other.looksWell(path);
    }
    await other.leave(['404 /sites/nobody', '404 /nowhere']);
  });

  it.each(Object.entries(STATES))('passes the accessibility checks in the state: %s', async (name, status) => {
    shown.status = status;
    await operator.show('');
    await operator.looksWell(name, { rowsMax: ROWS_READ });
  });

  it('passes the accessibility checks after a successful action, after a failed action, and before an irreversible action', async () => {
    shown.status = STATUS;
    await operator.show('sites/acme');
    await operator.press('button', 'Roll back');
    await operator.untilMessage('Rolled back: version v1 is active');
    await operator.looksWell('done');
    await operator.press('button', 'Preview 2024-05-01');
    await operator.untilMessage('Preview link for version');
    await operator.show('sites/acme/review?version=2024-05-01');
    await operator.looksWell('pinned');
    shown.status = { ...STATUS, pinned: null };
    await operator.show('sites/acme/review?version=2024-05-01');
    await operator.press('button', 'Activate 2024-05-01');
    await operator.untilMessage('was not activated');
    await operator.unfold('#remove-2024-05-01');
    await operator.looksWell('refused');
  });

  it('passes the accessibility checks with uploads that are imported, rejected, in progress and waiting', async () => {
    shown.status = STATUS;
    await operator.show('sites/acme');
    const names = ['good.zip', `evil-${'x'.repeat(200)}.zip`, 'held.zip', 'next.zip'];
    const files = names.map((name) => ({ name, mimeType: 'application/zip', buffer: Buffer.from(name) }));
    await operator.page.getByLabel('Archives', { exact: true }).setInputFiles(files);
    await operator.press('button', 'Upload');
    await operator.page.getByRole('status').getByText('Waiting').first().waitFor();
    await operator.untilMessage('good.zip was imported');
    await operator.untilMessage(/^evil.* was rejected$/);
    expect(await operator.page.locator('.uploads li').count()).toBe(names.length);
    await operator.looksWell('uploads');
    await operator.press('button', 'Cancel next.zip');
    await operator.press('button', 'Cancel held.zip');
    await operator.untilMessage('held.zip was canceled');
  });

  it('passes the accessibility checks with queued, running, failed and completed jobs, and on the pages of these jobs', async () => {
    shown.status = STATES['a job running'] ?? STATUS;
    const started = async (version: string, changes: Partial<StoredJob> = {}): Promise<string> => {
      const { jobId } = await jobs.start({ domain: 'acme', version });
      queue.move(jobId, changes);
      return jobId;
    };
    const done = await started('v1');
    const report = { jobId: done, pages: 2, files: 3, bytes: 4096, counts: { broken_reference: 1, left_out: 60 } };
    queue.complete(done, { ...report, findings: FINDINGS });
    const failed = await started('v2', { status: 'failed', error: LONG });
    const running = await started('v3', { status: 'running', progress: 42.9, pageCount: 1_234 });
    const waiting = await started('w'.repeat(128));
    for (const path of ['jobs', ...[waiting, running, failed, done].map((jobId) => `jobs/${jobId}`)]) {
      await operator.show(path);
      await operator.page
        .getByRole('button', { name: /^(?:Cancel|Retry) / })
        .first()
        .waitFor();
      await operator.looksWell(path, { rowsMax: ROWS_READ });
    }
  });

  it('passes the accessibility checks with API keys, and with a new key', async () => {
    await operator.show('organizations/acme/keys');
    await operator.unfold('#revoke-key_used');
    await operator.looksWell('keys');
    await operator.page.getByLabel('Name', { exact: true }).fill('website');
    await operator.page.keyboard.press('Enter');
    await operator.untilMessage('shows it only once');
    await operator.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await operator.press('button', 'Copy key');
    await operator.untilMessage('Copied.');
    expect(await operator.page.evaluate('navigator.clipboard.readText()')).toBe('svc_secret');
    await operator.press('button', 'Copy command');
    await operator.page.waitForFunction(`navigator.clipboard.readText().then((text) => text.startsWith('curl '))`);
    await operator.looksWell('made');
    expect(await operator.page.locator('#key').textContent()).toBe('svc_secret');
  });

  it.each([
    ['organizations', 'organizations', 'tbody'],
    ['changes', 'audit', 'tbody'],
    ['an entry of the manual', 'manual/errors#window_too_large', '#window_too_large'],
    ['a search', 'sites/acme/search?q=key', 'mark'],
    ['reports and rules of a site', 'sites/acme', '#rules'],
  ])('passes the accessibility checks on the page: %s', async (name, path, what) => {
    shown.status = STATUS;
    await operator.show(path);
    await operator.page.locator(what).first().waitFor();
    await operator.looksWell(name, { rowsMax: ROWS_READ });
  });

  it('passes the accessibility checks on the comparison of two versions', async () => {
    shown.status = STATUS;
    await operator.show('sites/acme');
    await operator.press('button', 'Compare');
    await operator.untilMessage('3 added, 1 removed');
    await operator.looksWell('diff');
  });

  it('passes the accessibility checks on the API documentation, with a test request', async () => {
    const other = await ConsoleOperator.open(chromium.browser, admin);
    weigh(other);
    await other.show('docs');
    await other.page.locator('#reload').getByRole('button', { name: 'Send' }).press('Enter');
    await other.page.locator('#reload output', { hasText: /^401/ }).waitFor();
    await other.looksWell('docs');
    await other.leave(['401 /v1/reload']);
  });

  it('causes no browser errors and no external requests, and loads less than 60 KB of assets', async () => {
    await operator.leave();
    const kinds = [...loaded.keys()].map((name) => name.replace(/-[0-9a-f]{16}/, '')).sort();
    expect(kinds).toEqual(['console.css', 'copy.js', 'docs.css', 'docs.js', 'live.js', 'shelf.svg', 'upload.js']);
    const files = await Promise.all(Array.from(loaded.values(), async (url) => (await fetch(url)).bytes()));
    expect(files.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(60 * 1024);
  });
});
