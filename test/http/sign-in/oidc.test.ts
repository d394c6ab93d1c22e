import { generateKeyPair } from 'jose';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { BrowserLike } from '../../helpers/browser-like.ts';
import { CLIENT, TestIdentityProvider } from '../../helpers/identity-provider.ts';
import { SECRET } from './guarded-listener.ts';
import { KEY, oidcSite } from './oidc-site.ts';

let provider: TestIdentityProvider;
beforeAll(async () => {
  provider = await TestIdentityProvider.start();
});
beforeEach(() => {
  provider.reader = 'anna';
  provider.groupsInToken = true;
  provider.idTokenS = 600;
});
afterEach(() => void vi.useRealTimers());

const nowS = (): number => Math.floor(Date.now() / 1000);

describe('OIDC sign-in', () => {
  it('redirects back to the requested page, with a session for this site only', async () => {
    await using site = await oidcSite(provider);
    const browser = new BrowserLike();
    const page = await browser.visit(`${site.origin}/guide/?from=mail`);
    expect(page).toMatchObject({ status: 200, url: `${site.origin}/guide/?from=mail` });
    expect(page.body).toContain(SECRET);
    expect(page.headers['cache-control']).toBe('private, no-cache');
    expect(page.headers.vary).toContain('Cookie, Authorization');
    const authUrl = new URL(browser.trail.find((url) => url.includes('/auth?')) ?? '');
    expect(Object.fromEntries(authUrl.searchParams)).toMatchObject({
      response_type: 'code',
      client_id: CLIENT.id,
      scope: 'openid',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect([...browser.cookies(site.origin).keys()]).toEqual(['__Host-docshelf']);
    expect(await browser.send(`${site.origin}/_docshelf/features.json`)).toMatchObject({ status: 200 });
    expect(site.faults).toEqual([]);
  });

  it('sets cookies that scripts, other sites and plain connections cannot read', async () => {
    await using site = await oidcSite(provider, { basePath: '/docs/' });
    const browser = new BrowserLike();
    const begun = await browser.send(site.home);
    const cookie = '; Max-Age=600; Path=/docs/; HttpOnly; Secure; SameSite=Lax';
    expect(begun.headers['set-cookie']).toEqual([expect.stringContaining(cookie)]);
    expect(begun.headers['cache-control']).toBe('no-store');
    expect((await browser.visit(site.home)).status).toBe(200);
    expect([...browser.cookies(site.origin).keys()]).toEqual(['__Secure-docshelf']);
    // A path outside of the site has neither pages nor a sign-in.
    expect((await browser.send(`${site.origin}/other`)).status).toBe(404);
    expect((await browser.send(`${site.origin}/docs`)).status).toBe(308);
  });

  it('puts the port of its public address into cookie names, because browsers send cookies to all ports', async () => {
    await using site = await oidcSite(provider, { port: '8443' });
    const browser = new BrowserLike();
    const begun = await browser.send(site.home);
    expect(begun.headers['set-cookie']).toEqual([expect.stringMatching(/^__Host-docshelf-sign-in-8443=/)]);
    expect((await browser.visit(site.home)).status).toBe(200);
    expect([...browser.cookies(site.origin).keys()]).toEqual(['__Host-docshelf-8443']);
  });

  it.each<[string, Record<string, string>, string]>([
    ['a script', { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }, 'GET'],
    ['a picture', { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }, 'GET'],
    ['a frame', { 'sec-fetch-dest': 'iframe' }, 'GET'],
    ['a prefetch', { 'sec-purpose': 'prefetch' }, 'GET'],
    ['a form', {}, 'POST'],
    ['HEAD', {}, 'HEAD'],
  ])(
    'responds with 401 to a request that is not a page navigation, without a redirect to the provider: %s',
    async (_, headers, method) => {
      await using site = await oidcSite(provider);
      const answer = await new BrowserLike().send(site.home, headers, method);
      expect(answer.status).toBe(401);
      expect(answer.headers['www-authenticate']).toBe('Bearer realm="Documentation"');
      expect(answer.headers['set-cookie']).toBeUndefined();
    },
  );

  it('accepts only members of an allowed group, whether the token or userinfo lists the groups', async () => {
    for (const inToken of [true, false]) {
      const parameters: string[][] = [];
      provider.groupsInToken = inToken;
      await using site = await oidcSite(provider, { allowedGroups: ['staff'], scopes: ['profile'] });
      for (const [reader, status] of [
        ['anna', 200],
        ['ben', 403],
        ['cleo', 403],
      ] as const) {
        provider.reader = reader;
        const browser = new BrowserLike();
        provider.requests.length = 0;
        const page = await browser.visit(site.home);
        parameters.push(provider.requests.filter((each) => each.startsWith('GET /me')));
        expect(page.status, `${reader} ${inToken}`).toBe(status);
        expect(page.body.includes(SECRET)).toBe(status === 200);
        expect(browser.cookies(site.origin).has('__Host-docshelf')).toBe(status === 200);
      }
      // Cleo's token contains no groups.
      expect(parameters.map((each) => each.length)).toEqual(inToken ? [0, 0, 1] : [1, 1, 1]);
    }
  });

  it('rejects a session that has expired, belongs to another site, or has an old key or a disallowed group', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    await using site = await oidcSite(provider, { allowedGroups: ['staff', 'docs'], keys: ['b'.repeat(40), KEY] });
    const browser = new BrowserLike();
    await browser.visit(site.home);
    const cookie = `__Host-docshelf=${browser.cookies(site.origin).get('__Host-docshelf')}`;
    expect((await site.send('/', { cookie })).status).toBe(200);
    await using otherSite = await oidcSite(provider, { allowedGroups: ['docs'], keys: ['b'.repeat(40)] });
    expect((await otherSite.send('/', { cookie })).status).toBe(200);
    for (const other of [{ site: 'beta' }, { keys: [KEY] }, { allowedGroups: ['guests'] }]) {
      await using elsewhere = await oidcSite(provider, { keys: ['b'.repeat(40)], ...other });
      expect((await elsewhere.send('/', { cookie })).status, JSON.stringify(other)).toBe(401);
    }
    vi.setSystemTime(Date.now() + 3_599_000);
    expect((await site.send('/', { cookie })).status).toBe(200);
    vi.setSystemTime(Date.now() + 2_000);
    expect((await site.send('/', { cookie })).status).toBe(401);
  });

  it('finds its session cookie among many cookies with the same name, and next to Basic credentials', async () => {
    await using site = await oidcSite(provider);
    const browser = new BrowserLike();
    await browser.visit(site.home);
    const own = `__Host-docshelf=${browser.cookies(site.origin).get('__Host-docshelf')}`;
    const tossed = Array.from({ length: 60 }, (_, at) => `__Host-docshelf=${String(at).repeat(40)}`);
    const short = Array.from({ length: 400 }, () => '__Host-docshelf=x');
    expect((await site.send('/', { cookie: [...short, ...tossed, own].join('; ') })).status).toBe(200);
    expect((await site.send('/', { cookie: own, authorization: 'Basic YTpi' })).status).toBe(200);
    expect((await site.send('/', { cookie: own, authorization: 'Bearer none' })).status).toBe(401);
    expect((await site.send('/', { authorization: 'Basic YTpi' })).status).toBe(401);
    expect(site.wrong).toHaveLength(1);
  });

  it.each([
    [45, 200],
    [90, 400],
  ])(
    'accepts an expired ID token only within a small clock difference: %i s ahead of the provider, status %i',
    async (aheadS, status) => {
      provider.idTokenS = 1;
      vi.useFakeTimers({ toFake: ['Date'] });
      const onAnswered = (url: string): void => {
        if (url.endsWith('/token')) vi.setSystemTime(Date.now() + aheadS * 1000);
      };
      await using site = await oidcSite(provider, { onAnswered });
      const page = await new BrowserLike().visit(site.home);
      expect([page.status, page.body.includes(SECRET)]).toEqual([status, status === 200]);
    },
  );

  it('explains after a canceled sign-in that the reader is not signed in', async () => {
    await using site = await oidcSite(provider);
    provider.reader = '';
    const page = await new BrowserLike().visit(site.home);
    expect(page.status).toBe(400);
    expect(page.body).toContain('You are not signed in yet');
    expect(site.refused).toHaveLength(1);
  });

  it('shows the secret neither in the error nor on the page if the provider rejects the client secret', async () => {
    await using site = await oidcSite(provider, { clientSecret: 'another-canary' });
    const page = await new BrowserLike().visit(site.home);
    expect(page.status).toBe(400);
    expect(site.refused).toHaveLength(1);
    expect(site.refused[0]).toMatchObject({ code: 'unauthorized', next: expect.stringMatching(/clientSecretFile/) });
    expect(String(site.refused[0]) + page.body).not.toContain('canary');
  });
});

describe('OIDC callback', () => {
  it('is accepted only once, within the time limit, from the browser that began the sign-in, with unchanged parameters', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    await using site = await oidcSite(provider);
    const callbackOf = async (browser: BrowserLike): Promise<string> => {
      let answer = await browser.send(site.home);
      while (!answer.headers.location?.includes('/callback?')) {
        answer = await browser.send(new URL(answer.headers.location ?? '', answer.url).href);
      }
      return answer.headers.location;
    };
    const browser = new BrowserLike();
    const callback = await callbackOf(browser);
    const changed = (key: string, value: string): string => {
      const url = new URL(callback);
      url.searchParams.set(key, value);
      return url.href;
    };
    const state = new URL(callback).searchParams.get('state') ?? '';
    const without = (key: string): string => changed(key, 'REMOVED').replace(new RegExp(`${key}=REMOVED&?`), '');
    for (const [who, url] of [
      [browser, changed('code', 'made-up')],
      [browser, `${changed('code', '\u009b31m')}&code=two`],
      [browser, without('code')],
      [browser, changed('error', 'a\u001b[2J\nforged "line"')],
      [browser, `${without('code')}&error=access_denied&error_description=%1B%5B2J`],
      [browser, changed('response', 'x.y.z')],
      [browser, changed('id_token', 'x.y.z')],
      [new BrowserLike(), callback],
      [browser, changed('state', `${state.slice(0, -2)}xx`)],
      [browser, `${callback}&state=${state}`],
      [browser, callback.replace(/state=[^&]+&?/, '')],
      [browser, changed('iss', 'http://evil.test')],
    ] as const) {
      const answer = await who.send(url);
      expect(answer.status, url).toBe(400);
      expect(answer.headers['set-cookie']).toBeUndefined();
    }
    expect(site.faults).toEqual([]);
    expect(site.refused.length).toBeGreaterThanOrEqual(7);
    for (const refused of site.refused) {
      expect(refused).toMatchObject({ name: 'DocshelfError', code: 'unauthorized', next: expect.any(String) });
      expect((refused as Error).message).toMatch(/^Cannot sign a reader in: [\x20-\x7e]{1,200}$/);
    }
    vi.setSystemTime(Date.now() + 601_000);
    expect((await browser.send(callback)).status).toBe(400);
    vi.setSystemTime(Date.now() - 601_000);
    expect((await browser.send(callback, {}, 'POST')).status).toBe(400);
    const done = await browser.send(callback);
    expect(done).toMatchObject({ status: 302, headers: { location: `${site.origin}/` } });
    // Like the back button: the session exists, and no second code is used.
    expect(await browser.send(callback)).toMatchObject({ status: 302, headers: { location: `${site.origin}/` } });
  });

  it('redirects each of two browser windows to the page that this window requested', async () => {
    await using site = await oidcSite(provider);
    const browser = new BrowserLike();
    const [first, second] = [await browser.send(`${site.origin}/guide/`), await browser.send(site.home)];
    expect((await browser.visit(second.headers.location ?? '')).url).toBe(`${site.origin}/`);
    const back = await browser.visit(first.headers.location ?? '');
    expect(back).toMatchObject({ status: 200, url: `${site.origin}/guide/` });
  });

  it.each([
    '//evil.test/',
    '/%0d%0aset-cookie:a=b',
    '/\\evil.test',
    '///evil.test',
    '/@evil.test',
    '/https://evil.test',
    '/guide/?to=//evil.test',
    '/LONG',
  ])('never redirects to another site: %s', async (written) => {
    const target = written.replace('LONG', 'a'.repeat(5000));
    await using site = await oidcSite(provider);
    const browser = new BrowserLike();
    const page = await browser.visit(site.origin + target);
    expect(new URL(page.url).origin).toBe(site.origin);
    expect(browser.trail.every((url) => [site.origin, provider.issuer].includes(new URL(url).origin))).toBe(true);
    expect(page.headers['set-cookie']?.some((each) => each.startsWith('a=')) ?? false).toBe(false);
  });
});

describe('OIDC sign-out', () => {
  it('asks for confirmation, ends the session and redirects to the provider', async () => {
    await using site = await oidcSite(provider);
    const browser = new BrowserLike();
    await browser.visit(site.home);
    const response = await browser.send(`${site.home}_docshelf/sign-out`);
    expect(response.status).toBe(200);
    expect(response.body).toContain('<form method="post">');
    expect(response.headers['content-security-policy']).toContain(`form-action 'self' ${provider.issuer}`);
    for (const origin of [undefined, 'null', 'http://evil.test']) {
      const headers = origin === undefined ? {} : { origin };
      expect((await browser.send(`${site.home}_docshelf/sign-out`, headers, 'POST')).status).toBe(403);
    }
    expect((await browser.send(site.home)).status).toBe(200);
    const left = await browser.send(`${site.home}_docshelf/sign-out`, { origin: site.origin }, 'POST');
    expect(left.status).toBe(303);
    const at = new URL(left.headers.location ?? '');
    expect(at.origin).toBe(provider.issuer);
    expect(at.searchParams.get('post_logout_redirect_uri')).toBe(site.home);
    expect((await browser.send(site.home)).status).toBe(302);
  });
});

describe('OIDC provider that docshelf cannot use', () => {
  it('does not end sessions, and causes an error page for readers without a session', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    await using site = await oidcSite(provider);
    const browser = new BrowserLike();
    await browser.visit(site.home);
    await using fresh = await oidcSite(provider);
    await provider.close();
    try {
      expect((await browser.send(site.home)).status).toBe(200);
      const page = await new BrowserLike().visit(fresh.home);
      expect(page).toMatchObject({ status: 503, headers: { 'retry-after': '5', 'cache-control': 'no-store' } });
      expect(page.body).toContain('Sign-in is not available at the moment');
      expect(fresh.faults).toEqual([expect.objectContaining({ code: 'source_unreachable' })]);
      // Cached metadata stays in use. The reader sees the provider's own outage.
      expect((await new BrowserLike().send(site.home)).status).toBe(302);
      const out = await browser.send(`${site.home}_docshelf/sign-out`, { origin: site.origin }, 'POST');
      expect(out.status).toBe(303);
    } finally {
      await provider.open();
    }
    vi.setSystemTime(Date.now() + 6_000);
    expect((await new BrowserLike().visit(fresh.home)).status).toBe(200);
  });

  it.each([
    ['discovery', '/.well-known/openid-configuration', 500, '<p>no'],
    ['discovery that is not JSON', '/.well-known/openid-configuration', 200, '<p>no'],
    ['discovery without keys', '/.well-known/openid-configuration', 200, '{"issuer":"ISSUER"}'],
    ['discovery of another issuer', '/.well-known/openid-configuration', 200, '{"issuer":"https://other.test"}'],
    ['tokens', '/token', 500, '<p>no'],
    ['invalid tokens', '/token', 200, '{"access_token":1}'],
    ['keys', '/jwks', 500, 'no'],
    ['invalid keys', '/jwks', 200, '{"keys":1}'],
  ])(
    'causes exactly one error event if an endpoint fails or returns invalid content: %s',
    async (_, path, status, body) => {
      await using site = await oidcSite(provider);
      provider.broken = { path, status, body: body.replace('ISSUER', provider.issuer) };
      try {
        expect([400, 503]).toContain((await new BrowserLike().visit(site.home)).status);
        const events = [...site.faults, ...site.refused];
        expect(events).toHaveLength(1);
        expect(events[0]).toMatchObject({
          name: 'DocshelfError',
          code: expect.stringMatching(/^(?:source_failed|unauthorized)$/),
        });
      } finally {
        provider.broken = null;
      }
    },
  );

  it('is not contacted if network.allowedHosts does not contain its host', async () => {
    await using site = await oidcSite(provider, { network: { allowedHosts: ['other.test'] } });
    const before = provider.requests.length;
    expect((await new BrowserLike().visit(site.home)).status).toBe(503);
    expect(site.faults).toEqual([expect.objectContaining({ code: 'host_not_allowed' })]);
    expect(provider.requests).toHaveLength(before);
  });
});

describe('bearer token of a machine', () => {
  it('is accepted only if the provider signed the token for this client, the token is valid now, and its group is allowed', async () => {
    await using site = await oidcSite(provider, { allowedGroups: ['bots'] });
    const good = { groups: ['bots'], exp: nowS() + 300 };
    const status = async (token: string): Promise<number> =>
      (await site.send('/', { authorization: `Bearer ${token}` })).status;
    expect(await status(await provider.token(good))).toBe(200);
    expect(await status(await provider.token({ ...good, groups: 'bots' as never }))).toBe(200);
    // Clocks may differ by a minute.
    expect(await status(await provider.token({ ...good, exp: nowS() - 40 }))).toBe(200);
    expect(await status(await provider.token({ ...good, nbf: nowS() + 40 }))).toBe(200);
    expect(await status(await provider.token({ ...good, groups: ['guests'] }))).toBe(403);
    const stranger = (await generateKeyPair('RS256')).privateKey;
    const bad = [
      await provider.token({ ...good, exp: nowS() - 90 }),
      await provider.token({ ...good, nbf: nowS() + 90 }),
      await provider.token({ groups: ['bots'] }),
      await provider.token({ ...good, aud: 'another' }),
      await provider.token({ ...good, iss: 'http://evil.test' }),
      await provider.token(good, { key: stranger }),
      await provider.token(good, { typ: 'logout+jwt' }),
      await provider.token(good, { alg: 'HS256', key: new TextEncoder().encode(CLIENT.secret.padEnd(32)) as never }),
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(JSON.stringify({ ...good, iss: provider.issuer, aud: CLIENT.id })).toString('base64url')}.`,
      'garbage',
      'a.b.c',
    ];
    for (const token of bad) {
      const answer = await site.send('/', { authorization: `Bearer ${token}` });
      expect(answer.status, token).toBe(401);
      expect(answer.headers['www-authenticate']).toContain('error="invalid_token"');
    }
    expect(site.wrong).toHaveLength(bad.length);
    expect(site.faults).toEqual([]);
  });

  it('is accepted if the provider signed the token with a new key, once docshelf has requested the keys again', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    await using site = await oidcSite(provider);
    const claims = { exp: nowS() + 300 };
    const before = await provider.token(claims);
    const status = async (token: string) => (await site.send('/', { authorization: `Bearer ${token}` })).status;
    expect(await status(before)).toBe(200);
    await provider.serve();
    const after = await provider.token(claims);
    expect(await status(after)).toBe(401);
    vi.setSystemTime(Date.now() + 5_000);
    expect(await status(after)).toBe(200);
    expect(await status(before)).toBe(401);
    expect((await new BrowserLike().visit(site.home)).status).toBe(200);
  });
});
