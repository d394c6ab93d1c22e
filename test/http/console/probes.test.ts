import { afterEach, describe, expect, it, vi } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import { Sessions } from '../../../src/http/console/sessions.ts';
import { TOKEN } from '../admin/admin-example.ts';
import { STATUS } from '../status-example.ts';
import { Operator, ORIGIN } from './operator.ts';

/** Attacks through an operator's browser, and through names and messages from outside. */

const FIELDS = { version: '2024-05-01' };
const ACTIVATE = '/sites/acme/activate';

describe('console form that another page forges', () => {
  it.each<[string, Record<string, string | null>]>([
    ['from another site', { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' }],
    ['from another port of the same host', { Origin: 'http://localhost:8080', 'Sec-Fetch-Site': 'same-site' }],
    ['from another port, without Sec-Fetch-Site', { Origin: 'http://localhost:8080', 'Sec-Fetch-Site': null }],
    ['with Sec-Fetch-Site same-site and the own origin', { 'Sec-Fetch-Site': 'same-site' }],
    ['with Sec-Fetch-Site none', { 'Sec-Fetch-Site': 'none' }],
    ['without an Origin', { Origin: null, 'Sec-Fetch-Site': null }],
    ['without an Origin, with Sec-Fetch-Site same-origin', { Origin: null }],
    ['from a page without an origin', { Origin: 'null', 'Sec-Fetch-Site': null }],
    ['from a sandboxed frame of the same origin', { Origin: 'null' }],
    ['from a host whose name begins with the own name', { Origin: `${ORIGIN}.evil.example`, 'Sec-Fetch-Site': null }],
    ['with an origin that has a path', { Origin: `${ORIGIN}/`, 'Sec-Fetch-Site': null }],
    ['with an origin that has a user', { Origin: 'http://x@localhost:9090', 'Sec-Fetch-Site': null }],
    ['from another scheme', { Origin: 'ftp://localhost:9090', 'Sec-Fetch-Site': null }],
    ['from the same host over TLS, which the listener does not use', { Origin: 'https://localhost:9090' }],
    [
      'from the same host over TLS, with X-Forwarded-Proto of an untrusted client',
      { Origin: 'https://localhost:9090', 'X-Forwarded-Proto': 'https' },
    ],
    ['with two origins', { Origin: `${ORIGIN}, https://evil.example`, 'Sec-Fetch-Site': null }],
  ])('changes nothing if its Origin or Sec-Fetch-Site header is wrong: sent %s', async (_, headers) => {
    const operator = await Operator.signedIn();
    const answer = await operator.act(ACTIVATE, FIELDS, headers);
    expect(answer.status).toBe(403);
    expect(operator.calls).toEqual([]);
  });

  it.each<[string, Record<string, string>, Record<string, string>, number]>([
    ['has no form token', { formToken: '' }, {}, 403],
    ['has another form token', { formToken: 'x'.repeat(43) }, {}, 403],
    ['has the admin token as form token', { formToken: TOKEN }, {}, 403],
    ['has no session', {}, { Cookie: 'docshelf-console-9090=x' }, 401],
    ['has the Content-Type text/plain', {}, { 'Content-Type': 'text/plain' }, 415],
    ['has the Content-Type application/json', {}, { 'Content-Type': 'application/json' }, 415],
    ['has the Content-Type multipart/form-data', {}, { 'Content-Type': 'multipart/form-data; boundary=x' }, 415],
    ['has a body that is too large', { more: 'x'.repeat(70_000) }, {}, 413],
  ])('changes nothing if it has the origin of the console, but %s', async (_, fields, headers, status) => {
    const operator = await Operator.signedIn();
    const answer = await operator.act(ACTIVATE, { ...FIELDS, ...fields }, headers);
    expect([answer.status, operator.calls]).toEqual([status, []]);
  });

  it('changes nothing if it has the form token of another session', async () => {
    const operator = await Operator.signedIn();
    const formToken = await operator.formToken();
    await operator.signIn();
    const answer = await operator.act(ACTIVATE, { ...FIELDS, formToken });
    expect([answer.status, operator.calls]).toEqual([403, []]);
  });

  it('changes nothing if it uses another method than POST', async () => {
    const operator = await Operator.signedIn();
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const headers = { Cookie: operator.cookie, Origin: ORIGIN, 'Sec-Fetch-Site': 'same-origin' };
      const answer = await operator.app.request(`${ORIGIN}${ACTIVATE}?version=v1`, { method, headers });
      expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, 'POST']);
    }
    expect(operator.calls).toEqual([]);
  });

  it('cannot sign the browser in', async () => {
    const operator = new Operator();
    const answer = await operator.signIn(TOKEN, { Origin: 'http://localhost:8080', 'Sec-Fetch-Site': 'same-site' });
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([403, null]);
  });

  it('changes nothing through the admin API, which does not accept the session cookie', async () => {
    const operator = await Operator.signedIn();
    const headers = { Cookie: operator.cookie, Origin: ORIGIN };
    const answer = await operator.app.request(`${ORIGIN}/v1/rollback`, { method: 'POST', headers });
    expect([answer.status, operator.calls]).toEqual([401, []]);
  });

  it('is rejected if the Host header names another host', async () => {
    const operator = await Operator.signedIn();
    const headers = { Cookie: operator.cookie };
    expect((await operator.app.request('http://evil.example:9090/', { headers })).status).toBe(421);
  });
});

describe('console session', () => {
  it('ends when the token changes', async () => {
    let token = new Secret(TOKEN);
    const operator = await Operator.signedIn({ token: () => token });
    const formToken = await operator.formToken();
    token = new Secret('another-battery');
    expect(await operator.page('/')).not.toContain('method="post"');
    expect((await operator.act(ACTIVATE, { ...FIELDS, formToken })).status).toBe(401);
    expect(operator.calls).toEqual([]);
  });

  it('ends when the token is removed', async () => {
    let token: Secret | null = new Secret(TOKEN);
    const operator = await Operator.signedIn({ token: () => token });
    token = null;
    expect(await operator.page('/')).not.toContain('method="post"');
  });

  it('continues if the config is reloaded with the same token', async () => {
    const operator = await Operator.signedIn({ token: () => new Secret(TOKEN) });
    expect((await operator.act(ACTIVATE, FIELDS)).status).toBe(303);
  });

  it('ends at sign-out, even if a client still sends the deleted cookie', async () => {
    const operator = await Operator.signedIn();
    const { cookie } = operator;
    const answer = await operator.act('/sign-out');
    expect(answer.headers.get('set-cookie')).toMatch(/^docshelf-console-9090=; .*Max-Age=0/);
    operator.cookie = cookie;
    expect(await operator.page('/')).not.toContain('method="post"');
  });

  it('uses a cookie that scripts cannot read and other sites do not send', async () => {
    const answer = await new Operator().signIn();
    expect(answer.headers.get('set-cookie')).toMatch(
      /^docshelf-console-9090=[0-9a-f]{64}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/,
    );
  });

  it('uses a secure cookie over TLS, whether the listener or a proxy terminates TLS', async () => {
    const secure = /^__Host-docshelf-console(?:-9090)?=[0-9a-f]{64}; .*Path=\/; HttpOnly; Secure; SameSite=Strict$/;
    const own = await Operator.signedIn({ hosts: () => ['*'] }, 'https://console.example:9090');
    expect((await own.signIn()).headers.get('set-cookie')).toMatch(secure);
    expect(await own.page('/')).toContain('method="post"');
    const proxied = new Operator({ hosts: () => ['*'], trustedProxies: ['10.0.0.0/8'] }, 'http://console.example');
    proxied.peer = '10.1.2.3';
    const headers = { Origin: 'https://console.example', 'X-Forwarded-Proto': 'https' };
    const answer = await proxied.signIn(TOKEN, headers);
    expect(answer.headers.get('set-cookie')).toMatch(secure);
    expect(await proxied.page('/')).toContain('method="post"');
    expect((await proxied.act(ACTIVATE, FIELDS, headers)).status).toBe(303);
  });

  it.each<[string, string | null, Record<string, string>]>([
    ['from another address than a trusted proxy', '192.0.2.7', { 'X-Forwarded-Proto': 'https' }],
    ['from a trusted proxy without X-Forwarded-Proto', '10.1.2.3', {}],
    ['from a trusted proxy with X-Forwarded-Proto http', '10.1.2.3', { 'X-Forwarded-Proto': 'http' }],
    ['from another host', '10.1.2.3', { 'X-Forwarded-Proto': 'https', Origin: 'https://evil.example' }],
    ['from another port', '10.1.2.3', { 'X-Forwarded-Proto': 'https', Origin: 'https://console.example:8443' }],
    [
      'without TLS, behind a proxy with TLS',
      '10.1.2.3',
      { 'X-Forwarded-Proto': 'https', Origin: 'http://console.example' },
    ],
  ])(
    'is not opened if the Origin of the sign-in form differs from the scheme and host that docshelf trusts: %s',
    async (_, peer, headers) => {
      const operator = new Operator({ hosts: () => ['*'], trustedProxies: ['10.0.0.0/8'] }, 'http://console.example');
      operator.peer = peer;
      const answer = await operator.signIn(TOKEN, { Origin: 'https://console.example', ...headers });
      expect([answer.status, answer.headers.get('set-cookie')]).toEqual([403, null]);
    },
  );

  it('is rejected with an error that names server.trustedProxies if an untrusted proxy terminates TLS', async () => {
    const operator = new Operator({ hosts: () => ['*'] }, 'http://console.example');
    const answer = await operator.signIn(TOKEN, { Origin: 'https://console.example' });
    expect(await answer.text()).toContain('server.trustedProxies');
  });

  it('is not accepted over TLS if its cookie was set without TLS', async () => {
    const own = await Operator.signedIn({ hosts: () => ['*'] }, 'https://console.example:9090');
    own.cookie = own.cookie.replace('__Host-', '');
    expect(await own.page('/')).not.toContain('method="post"');
  });

  it('is replaced by a new session at each sign-in, and its previous cookie becomes invalid', async () => {
    const operator = await Operator.signedIn();
    const first = operator.cookie;
    await operator.signIn();
    expect(operator.cookie).not.toBe(first);
    operator.cookie = first;
    expect(await operator.page('/')).not.toContain('method="post"');
  });

  it('is found if another cookie with the same name comes first', async () => {
    const operator = await Operator.signedIn();
    operator.cookie = `docshelf-console-9090=${'0'.repeat(64)}; ${operator.cookie}`;
    expect(await operator.page('/')).toContain('method="post"');
  });

  it('ends after twelve hours', () => {
    const now = vi.spyOn(performance, 'now').mockReturnValue(1);
    const token = new Secret(TOKEN);
    const sessions = new Sessions(() => token);
    const value = sessions.open(token);
    now.mockReturnValue(11 * 3600_000);
    expect(sessions.find([value])).not.toBeNull();
    now.mockReturnValue(13 * 3600_000);
    expect(sessions.find([value])).toBeNull();
    now.mockRestore();
  });

  it('redirects after sign-in only to pages of the console', async () => {
    for (const [to, location] of [
      ['sites/acme', './sites/acme'],
      ['//evil.example', './'],
      ['https://evil.example', './'],
      ['/evil', './'],
      ['javascript:alert(1)', './'],
      ['..\\evil', './'],
      ['sites/../../x', './'],
    ] as const) {
      const answer = await new Operator().post('/sign-in', { token: TOKEN, to });
      expect([to, answer.headers.get('location')]).toEqual([to, location]);
    }
  });
});

describe('wrong token on the sign-in page', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('is rejected, not shown on the page, and opens no session', async () => {
    const answer = await new Operator().signIn('hunter2-hunter2');
    const page = await answer.text();
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([401, null]);
    expect(page).toContain('does not match the admin.token');
    expect(page).not.toContain('hunter2');
  });

  it('is delayed after 20 attempts of one client on this page or over the admin API, but the correct token is not delayed', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const operator = new Operator();
    const headers = { Authorization: 'Bearer wrong-too' };
    for (let at = 0; at < 10; at++) {
      expect((await operator.signIn(`wrong-${at}`)).status).toBe(401);
      await operator.app.request('/v1/rollback', { method: 'POST', headers });
    }
    const late = operator.signIn('wrong-again');
    let isAnswered = false;
    void late.then(() => {
      isAnswered = true;
    });
    expect((await operator.signIn()).status).toBe(303);
    expect(isAnswered).toBe(false);
    await vi.advanceTimersByTimeAsync(1_000);
    vi.useRealTimers();
    const answer = await late;
    expect(answer.status).toBe(429);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('is rejected with 403 if no token is configured', async () => {
    const answer = await new Operator({ token: () => null }).signIn('');
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([403, null]);
  });
});

describe('console page', () => {
  const EVIL = `"'><img src=x onerror=alert(1)></script><script>alert(2)</script>`;

  it('escapes all values of bundles and config', async () => {
    const at = STATUS.startedAt;
    const [first] = STATUS.versions;
    const status = {
      ...STATUS,
      notices: [EVIL],
      activity: EVIL,
      pending: [EVIL],
      pinned: EVIL,
      deployment: { type: 'air-gapped' as const, domain: EVIL },
      active: STATUS.active && { ...STATUS.active, version: EVIL },
      versions: [{ ...(first as NonNullable<typeof first>), version: EVIL, digest: EVIL }],
      lastError: { at, code: 'internal' as const, message: EVIL, next: EVIL },
      lastReload: { at, ok: false, error: `${EVIL} in the config` },
    };
    const site = { ...status, title: EVIL, hosts: [EVIL], basePath: EVIL };
    for (const sites of [undefined, [site], [site, site]]) {
      const operator = await Operator.signedIn({
        status: async () => ({ ...status, ...(sites === undefined ? {} : { sites }) }),
      });
      const page = await operator.page('/');
      expect(page).not.toContain('<img src=x');
      expect(page.match(/<script/g)).toHaveLength(2);
      expect(page).not.toMatch(/="[^"]*"'>/);
    }
  });

  it('escapes values in messages of actions and in addresses', async () => {
    const operator = await Operator.signedIn();
    const { path: answered, query } = await operator.actAndFollow(ACTIVATE, { version: EVIL });
    for (const path of [
      answered + query,
      `/sites/${encodeURIComponent(EVIL)}`,
      `/sign-in?to=${encodeURIComponent(EVIL)}`,
    ])
      expect(await operator.page(path)).not.toMatch(/<img src=x|<script>/);
  });

  it.each([
    ['sites', 'activate'],
    ['jobs', 'cancel'],
  ])(
    'redirects after an action to a path in which special characters are escaped: /%s, action %s',
    async (kind, act) => {
      const operator = await Operator.signedIn();
      const answer = await operator.act(`/${kind}/%0d%0aX:%3Fy%23/${act}`, FIELDS);
      expect([answer.status, operator.faults]).toEqual([303, []]);
      expect(answer.headers.get('location')).toMatch(new RegExp(`^\\.\\./\\.\\./${kind}/%0D%0AX%3A%3Fy%23\\?message=`));
    },
  );

  it('shows no message that another site put into the address', async () => {
    const operator = await Operator.signedIn();
    expect(await operator.page('/?message=Your+token+has+leaked')).not.toContain('leaked');
    const { query } = await operator.actAndFollow('/reload');
    expect(await new Operator().page(`/${query}`)).not.toContain('taken anew');
  });

  it.each(['/', '/sites/acme', '/sign-in', '/sites/nobody', '/nowhere'])(
    'loads resources and frames of its own origin only: %s',
    async (path) => {
      const answer = await new Operator().get(path);
      const policy = answer.headers.get('content-security-policy') ?? '';
      expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
      expect(policy).not.toContain('unsafe');
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toContain("form-action 'self'");
      expect(policy).toContain("base-uri 'none'");
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'x-frame-options': 'DENY',
        'x-content-type-options': 'nosniff',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'referrer-policy': 'same-origin',
        'cache-control': 'no-store',
      });
      const page = await answer.text();
      expect(page).not.toMatch(/<style|\bstyle="|javascript:|\son\w+=|<script(?![^>]* src=)|http-equiv/i);
      // Allow only links, because the console links to the site.
      expect(page).not.toMatch(/<(?!a )[^>]*(?:src|href|action)="(?:https?:)?\/\//);
    },
  );

  it('contains the form token of its own session only, and never the session cookie', async () => {
    const operator = await Operator.signedIn();
    const page = await operator.page('/');
    expect(page).not.toContain(operator.cookie.split('=')[1] ?? '-');
    expect(await new Operator().page('/')).not.toContain('formToken');
  });

  it('responds to HEAD like GET, without a body', async () => {
    const { app } = new Operator();
    const answer = await app.request(`${ORIGIN}/`, { method: 'HEAD' });
    expect([answer.status, await answer.text()]).toEqual([200, '']);
    expect(answer.headers.get('content-type')).toContain('text/html');
  });

  it('writes the message of an unexpected error only to the log', async () => {
    const operator = new Operator({ status: () => Promise.reject(new Error('secret-path')) });
    const answer = await operator.get('/');
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toContain('secret-path');
    expect(operator.faults.map(({ message }) => message)).toEqual(['secret-path']);
  });

  it('uses static files that caches can keep forever, because their names depend on their content', async () => {
    const operator = new Operator();
    const names = [...(await operator.page('/')).matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(
      ([, name]) => name,
    );
    expect(names.length).toBeGreaterThanOrEqual(2);
    let bytes = 0;
    for (const name of names) {
      const answer = await operator.get(`/${name}`);
      bytes += (await answer.arrayBuffer()).byteLength;
      expect(name).toMatch(/-[0-9a-f]{16}\.(?:css|js|svg)$/);
      expect(answer.headers.get('cache-control')).toContain('immutable');
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    }
    expect(bytes).toBeLessThan(60 * 1024);
    expect((await operator.get('/assets/..%2fpages%2fsite.tsx')).status).toBe(404);
    expect((await operator.get('/assets/console.css')).status).toBe(404);
  });

  it('opens no event stream for HEAD', async () => {
    const operator = new Operator();
    for (let at = 0; at < 201; at++) {
      const answer = await operator.app.request(`${ORIGIN}/events`, { method: 'HEAD' });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    }
    const answer = await operator.get('/events');
    expect(answer.status).toBe(200);
    await answer.body?.cancel();
  });

  it('limits the number of event streams', async () => {
    const operator = new Operator();
    const open: Response[] = [];
    for (let at = 0; at < 200; at++) open.push(await operator.get('/events'));
    const answer = await operator.get('/events');
    expect(answer.status).toBe(429);
    await Promise.all(open.map(({ body }) => body?.cancel()));
    const again = await operator.get('/events');
    expect(again.status).toBe(200);
    await again.body?.cancel();
  });
});
