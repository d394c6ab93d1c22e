import { afterEach, describe, expect, it, vi } from 'vitest';
import { DocshelfError } from '../../../src/domain/errors.ts';
import { SignInAudit } from '../../../src/http/console/sign-in-audit.ts';
import { BEARER, TOKEN } from '../admin/admin-example.ts';
import { memoryAudit } from '../audit/memory-audit.ts';
import { Operator } from './operator.ts';

describe('audit lines of the console', () => {
  afterEach(() => void vi.useRealTimers());

  it('record each sign-in and sign-out, with the session name that also identifies the actions of the session', async () => {
    const operator = await Operator.signedIn();
    const { lines } = operator;
    await operator.act('/sites/acme/rollback');
    await operator.act('/sign-out');
    const id = lines[0]?.id;
    expect(lines).toMatchObject([
      { action: 'sign-in', by: 'session', id, result: 'ok', error: null },
      { action: 'rollback', by: 'session', id, result: 'ok' },
      { action: 'sign-out', by: 'session', id, result: 'ok' },
    ]);
    expect(id).toMatch(/^[0-9a-f]{8}$/);
    expect(JSON.stringify(lines)).not.toContain(operator.cookie.split('=')[1]);
  });

  it('record failed sign-ins without the typed token, and do not record visits of the sign-in page', async () => {
    const { lines, audit } = memoryAudit();
    const operator = new Operator({ audit });
    await operator.page('/sign-in');
    expect((await operator.signIn('a-mistyped-token')).status).toBe(401);
    await new Operator({ audit, token: () => null }).signIn(TOKEN);
    expect(lines).toMatchObject([
      { action: 'sign-in', by: 'session', id: null, result: 'unauthorized' },
      { action: 'sign-in', by: 'session', id: null, result: 'forbidden' },
    ]);
    for (const secret of ['a-mistyped-token', TOKEN]) expect(JSON.stringify(lines)).not.toContain(secret);
  });

  it('are limited if many sign-ins fail, and state the number of omitted attempts', async () => {
    const { lines, audit } = memoryAudit();
    vi.useFakeTimers({ toFake: ['performance'] });
    const signIns = new SignInAudit(audit);
    const fault = new DocshelfError('unauthorized', 'Cannot sign in');
    for (let at = 0; at < 5_000; at++) await signIns.failed(undefined, fault);
    expect(lines).toHaveLength(20);
    expect(lines.at(-1)?.error).toBe('Cannot sign in');
    vi.advanceTimersByTime(61_000);
    for (let at = 0; at < 5_000; at++) await signIns.failed(undefined, fault);
    expect(lines).toHaveLength(21);
    expect(lines.at(-1)?.error).toBe('Cannot sign in (4980 other attempts failed since the previous line)');
    await signIns.opened(undefined, null);
    expect(lines).toHaveLength(22);
  });

  it('record each uploaded signature, whether docshelf accepts or rejects the signature', async () => {
    const { lines, audit } = memoryAudit();
    const { app } = new Operator({ audit });
    const put = (path: string, body: string) => app.request(path, { method: 'PUT', headers: BEARER, body });
    await put('/v1/bundles/a.zip.minisig', 'signature');
    await put('/v1/sites/cafe/bundles/a.zip.minisig', 'x'.repeat(20_001));
    expect(lines).toMatchObject([
      { action: 'signature', by: 'token', site: 'acme', target: 'a.zip.minisig', result: 'ok' },
      { action: 'signature', by: 'token', site: 'cafe', target: 'a.zip.minisig', result: 'payload_too_large' },
    ]);
  });
});
