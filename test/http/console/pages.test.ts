import { describe, expect, it } from 'vitest';
import { DocshelfError } from '../../../src/domain/errors.ts';
import type { StatusReport } from '../../../src/domain/status.ts';
import { agoInWords, bytesInWords } from '../../../src/http/console/elements.tsx';
import { actionsThatNote, FEATURES, observedAt } from '../admin/admin-example.ts';
import { STATUS, siteStatus } from '../status-example.ts';
import { Operator } from './operator.ts';

const NOW = new Date('2024-06-02T09:41:00Z');
const operatorAt = (changes: Partial<StatusReport>) =>
  new Operator({ status: async () => ({ ...STATUS, ...changes }) });
const pageOf = (changes: Partial<StatusReport> = {}) => operatorAt(changes).page('/');

describe('console pages', () => {
  it('show the state, the versions, the features with reasons, and the last error with its next step', async () => {
    const page = await pageOf();
    for (const text of ['stale', 'v3.2.0', '1,170', '2024-05-01', 'pinned', 'server.port', 'link_expired', '8,123'])
      expect(page).toContain(text);
    expect(page).toContain('Generate a fresh one and set staticExport.bundleUrl to it.');
    for (const { id } of FEATURES.features) expect(page).toContain(`<code>${id}</code>`);
    expect(await operatorAt({}).page('/sites/acme')).toContain('9b07aa41e6cc');
  });

  it('show an empty state for a daemon without versions', async () => {
    const page = await pageOf({ state: 'waiting', active: null, versions: [], lastError: null, lastReload: null });
    expect(page).toContain('No version is stored yet.');
    expect(page).not.toContain('Last error');
  });

  it('list all sites of a daemon, each with its own page', async () => {
    const operator = operatorAt({ sites: [siteStatus('acme'), siteStatus('cafe')] });
    expect(await operator.page('/')).toMatch(/href="\.\/sites\/acme"[\s\S]*href="\.\/sites\/cafe"/);
    expect(await operator.page('/sites/cafe')).toContain('/cafe/');
    const unknown = await operator.get('/sites/nobody');
    expect([unknown.status, await unknown.text()]).toEqual([404, expect.stringContaining('not_found')]);
  });

  it('link to the site that they describe, and show only the features of this site', async () => {
    const [first, second] = FEATURES.features;
    const of = (domain: string, feature: typeof first) => ({
      domain,
      features: feature === undefined ? [] : [feature],
    });
    const sites = [of('acme', first), of('cafe', second)];
    const operator = new Operator({ features: () => ({ ...FEATURES, domain: null, features: [], sites }) });
    const page = await operator.page('/sites/acme');
    expect(page).toContain('href="https://acme.example/"');
    expect([first, second].map((each) => page.includes(`id="feature-${each?.id}"`))).toEqual([true, false]);
  });

  it('distinguish the search of the hosted service from the local search', async () => {
    const page = await pageOf();
    expect(page).toMatch(/Documentation search <code>search<\/code> <small>hosted service<\/small>/);
    expect(page).toMatch(/Local search <code>localSearch<\/code> <small>this daemon<\/small>/);
    expect(page).toContain('<h2>Local search</h2>');
  });

  it('offer no action without a sign-in, and explain if no token is configured', async () => {
    expect(await pageOf()).not.toContain('method="post"');
    expect(await new Operator().page('/sign-in')).toContain('type="password"');
    expect(await new Operator({ token: () => null }).page('/sign-in')).toContain('is set, so the console is read-only');
  });

  it('receive an event when their content changes', async () => {
    const status = { ...STATUS };
    const revisions = { changes: '', jobs: '' };
    const operator = new Operator({
      status: async () => status,
      revisions: { changes: () => revisions.changes, jobs: async () => revisions.jobs },
    });
    const answer = await operator.get('/events');
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    const decoder = new TextDecoder();
    let text = '';
    const next = async (topic: string): Promise<string> => {
      for (;;) {
        const found = new RegExp(`event: ${topic}\ndata: (\\w+)\n\n`).exec(text);
        if (found !== null) {
          text = text.replace(found[0], '');
          return found[1] ?? '';
        }
        const { value, done } = await reader.read();
        if (done) throw new Error(`it ended with ${text}`);
        text += decoder.decode(value);
      }
    };
    const seen = [await next('state')];
    expect(await operator.page('/')).toContain(`data-state="${seen[0]}"`);
    status.activity = 'unpacking a.zip';
    seen.push(await next('state'));
    // Simulate a change of a key or audit line, which the status does not contain.
    revisions.changes = 'another';
    seen.push(await next('state'));
    expect(await operator.page('/')).toContain(`data-state="${seen[2]}"`);
    const jobs = await next('jobs');
    revisions.jobs = '43 %';
    expect(await next('jobs')).not.toBe(jobs);
    expect([new Set(seen).size, text]).toEqual([3, expect.not.stringContaining('event')]);
    await reader.cancel();
  });
});

describe('console actions', () => {
  it.each([
    ['/reload', {}, ['reload'], 'The config was reloaded'],
    ['/sites/acme/activate', { version: '2024-05-01' }, ['activate', '2024-05-01'], 'Version 2024-05-01 is active'],
    ['/sites/acme/rollback', {}, ['rollback'], 'Rolled back: version v1 is active'],
    ['/sites/acme/remove', { version: 'v1+2' }, ['remove', 'v1+2'], 'Version v1+2 was deleted'],
    ['/sites/acme/preview', { version: 'v1' }, ['preview', 'v1'], 'http://a/?preview=b'],
  ])('perform the action %s, and show a message once on the next page', async (path, fields, call, expected) => {
    const operator = await Operator.signedIn();
    const next = await operator.actAndFollow(path, fields);
    expect(operator.calls.at(-1)).toEqual(call);
    expect(operator.lines.at(-1)).toMatchObject({ by: 'session', id: expect.stringMatching(/^[0-9a-f]{8}$/) });
    expect(next.page).toContain(expected);
    expect(await operator.page(next.path)).not.toContain(expected);
  });

  it('show why an action failed, with code and next step', async () => {
    const activate = () => Promise.reject(new DocshelfError('pinned', 'Cannot activate', { next: 'Change the pin.' }));
    const operator = await Operator.signedIn({ actions: actionsThatNote([], { activate }) });
    const { page } = await operator.actAndFollow('/sites/acme/activate', { version: 'v1' });
    for (const text of ['Version v1 was not activated', 'Cannot activate', 'Change the pin.', '<code>pinned</code>'])
      expect(page).toContain(text);
  });

  it('reject a version that is not a valid label', async () => {
    const operator = await Operator.signedIn();
    await operator.actAndFollow('/sites/acme/activate', { version: '../x' });
    expect(operator.calls).toEqual([['site', 'acme']]);
  });

  it('keep the operator on the same page after a rollback, a preview or a removal, but not after an activation', async () => {
    const operator = await Operator.signedIn();
    const page = await operator.page('/sites/acme');
    const forms = [...page.matchAll(/<form method="post" action="([^"]+)"( data-stays)?/g)];
    const staying = forms.filter(([, , stays]) => stays !== undefined).map(([, action]) => action?.split('/').at(-1));
    expect(new Set(staying)).toEqual(new Set(['rollback', 'preview', 'remove']));
    expect(forms.length).toBeGreaterThan(staying.length);
  });

  it('offer a rollback only if there is an earlier activation', async () => {
    const observe = () => ({ ...observedAt('https://acme.example/'), canRollBack: async () => false });
    expect(await (await Operator.signedIn()).page('/sites/acme')).toContain('Roll back');
    expect(await (await Operator.signedIn({ observe })).page('/sites/acme')).not.toContain('Roll back');
  });

  it('offer the activation of a version only if the version is not active', async () => {
    const operator = await Operator.signedIn();
    const page = await operator.page('/');
    expect(page).toContain('aria-label="Activate 2024-05-01"');
    expect(page).not.toContain('aria-label="Activate v3.2.0"');
  });
});

describe('number and time formatting of the console', () => {
  it.each([
    [0, '0 bytes'],
    [1023, '1023 bytes'],
    [1536, '1.5 KiB'],
    [200 * 1024, '200 KiB'],
    [48_444_211, '46.2 MiB'],
  ])('formats %i bytes as %s', (bytes, words) => {
    expect(bytesInWords(bytes)).toBe(words);
  });

  it.each([
    ['2024-06-02T09:40:30Z', 'just now'],
    ['2024-06-02T09:39:59Z', '1 minute ago'],
    ['2024-06-02T07:15:00Z', '2 hours ago'],
    ['2024-05-30T09:41:00Z', '3 days ago'],
    ['2024-06-03T00:00:00Z', 'just now'],
  ])('formats the time %s as "%s"', (at, words) => {
    expect(agoInWords(at, NOW)).toBe(words);
  });
});
