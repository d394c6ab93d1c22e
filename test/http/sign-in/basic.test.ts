import { connect } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { GuessRates } from '../../../src/http/limits/client-rates.ts';
import { BasicPasswords, PasswordCheck } from '../../../src/http/sign-in/basic-passwords.ts';
import { basic, guardedSite, SECRET } from './guarded-listener.ts';

/** `htpasswd -B` with cost 4: `correct horse` and `tide-table-7`. */
const USERS = `# readers
anna:$2y$04$Nuq.jlV0goywBMrqjGx.LOsLa4Ecagy1IAw9MYcsF2wmiJv43N9ba
ben:$2b$04$wa1Po1AGF.DqvQEJGv7d0OLEFStJNU6.w1Q.vVad8EFhSH8kTgRLe
ben:$2b$04$Nuq.jlV0goywBMrqjGx.LOsLa4Ecagy1IAw9MYcsF2wmiJv43N9ba
`;
const ANNA = basic('anna', 'correct horse');
const BEN = basic('ben', 'tide-table-7');

const passwords = new PasswordCheck();
afterAll(() => passwords.end());

type Passwords = Pick<PasswordCheck, 'holds' | 'remembers'>;

function signInOf(options: { users?: string; burst?: number; passwords?: Passwords } = {}) {
  const wrong: string[] = [];
  const signIn = new BasicPasswords({
    users: options.users ?? USERS,
    passwords: options.passwords ?? passwords,
    rates: new GuessRates({ policy: { burst: options.burst ?? 100, perSecond: 0.001 } }),
    clientOf: ({ headers, socket }) => String(headers['x-client'] ?? socket.remoteAddress),
    onWrong: () => wrong.push('wrong'),
  });
  return { signIn, wrong };
}

describe('BasicPasswords (Basic authentication of readers)', () => {
  it('accepts readers by name and password, and responds to other requests with 401 and no content', async () => {
    await using site = await guardedSite(signInOf().signIn);
    for (const authorization of [ANNA, BEN, ANNA.replace('Basic', 'bAsIc')]) {
      expect(await site.send('/', { authorization })).toMatchObject({ status: 200 });
    }
    const refused = [
      undefined,
      basic('anna', 'wrong'),
      basic('anna', ''),
      basic('ben', 'correct horse'),
      basic('nobody', 'correct horse'),
      basic('', ''),
      basic('__proto__', 'correct horse'),
      `Bearer ${ANNA.slice(6)}`,
      'Basic',
      'Basic !!!',
      `Basic ${Buffer.from('anna').toString('base64')}`,
      basic('anna', 'x'.repeat(2000)),
    ];
    for (const authorization of refused) {
      for (const path of ['/', '/guide/', '/nothing', '/_docshelf/features.json', '/_docshelf/search?q=a']) {
        const answer = await site.send(path, authorization === undefined ? {} : { authorization });
        expect(answer.status, `${authorization} ${path}`).toBe(401);
        expect(answer.headers['www-authenticate']).toBe('Basic realm="Documentation", charset="UTF-8"');
        expect(answer.headers['cache-control']).toBe('no-store');
        expect(JSON.stringify(answer)).not.toContain(SECRET);
      }
    }
    expect(site.faults).toEqual([]);
  });

  it('sends readers Cache-Control: private and Vary: Authorization, also with 206, 304 and error responses', async () => {
    await using site = await guardedSite(signInOf().signIn);
    const authorization = ANNA;
    const page = await site.send('/', { authorization });
    const asset = await site.send('/app.4f3a9c1b2d.js', { authorization });
    const etag = String(page.headers.etag);
    const answers = [
      page,
      asset,
      await site.send('/', { authorization, range: 'bytes=0-3' }),
      await site.send('/', { authorization, 'if-none-match': etag }),
      await site.send('/nothing', { authorization }),
      await site.send('/', { authorization }, 'HEAD'),
      await site.send('/', { authorization }, 'DELETE'),
      await site.send('/guide', { authorization }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 206, 304, 404, 200, 405, 308]);
    for (const { headers } of answers) {
      expect(headers['cache-control']).toMatch(/^private/);
      expect(headers.vary).toContain('Authorization');
    }
    expect(asset.headers['cache-control']).toBe('private, max-age=31536000, immutable');
    expect(await site.send('/', { 'if-none-match': etag })).toMatchObject({ status: 401 });
    expect(await site.send('/', { authorization: basic('anna', 'no'), range: 'bytes=0-3' })).toMatchObject({
      status: 401,
    });
  });

  it('counts and delays wrong passwords per client, but never delays the correct password', async () => {
    const { signIn, wrong } = signInOf({ burst: 3 });
    await using site = await guardedSite(signIn);
    const statuses: number[] = [];
    for (let at = 0; at < 3; at++) {
      statuses.push((await site.send('/', { authorization: basic('anna', `guess ${at}`), 'x-client': 'a' })).status);
    }
    expect(statuses).toEqual([401, 401, 401]);
    const guessedMs = performance.now();
    const guess = site.send('/', { authorization: basic('anna', 'guess 0'), 'x-client': 'a' });
    expect(await site.send('/', { authorization: ANNA, 'x-client': 'a' })).toMatchObject({ status: 200 });
    expect(await site.send('/', { authorization: BEN, 'x-client': 'a' })).toMatchObject({ status: 200 });
    expect(await site.send('/', { authorization: basic('anna', 'no'), 'x-client': 'b' })).toMatchObject({
      status: 401,
    });
    // A request without a password is no attempt.
    expect(await site.send('/', { 'x-client': 'a' })).toMatchObject({ status: 401 });
    const late = await guess;
    expect([late.status, performance.now() - guessedMs > 900]).toEqual([429, true]);
    expect(Number(late.headers['retry-after'])).toBeGreaterThan(0);
    expect(wrong).toHaveLength(5);
  });

  it('verifies hashes of the same total cost for unknown and known user names', async () => {
    const users = [6, 4, 9].map((cost) => `of${cost}:$2y$0${cost}$${'x'.repeat(53)}`).join('\n');
    const work = async (name: string) => {
      let work = 0;
      let turns = 0;
      const holds: Passwords['holds'] = async (_client, _password, hashes) => {
        turns += 1;
        for (const hash of hashes) {
          expect(hash).toMatch(/^\$2[by]\$0\d\$[./A-Za-z0-9]{53}$/);
          work += 2 ** Number(hash.slice(4, 6));
        }
        return false;
      };
      await using site = await guardedSite(signInOf({ users, passwords: { holds, remembers: () => false } }).signIn);
      expect(await site.send('/', { authorization: basic(name, 'x') })).toMatchObject({ status: 401 });
      return { work, turns };
    };
    expect(await Promise.all(['nobody', 'of4', 'of6', 'of9'].map(work))).toEqual(
      Array(4).fill({ work: 2 ** 9, turns: 1 }),
    );
  });

  it('compares the password of each unknown user name with a different placeholder hash', async () => {
    const hashes = new Set<string>();
    const holds: Passwords['holds'] = async (_client, _password, compared) => {
      for (const hash of compared) hashes.add(hash);
      return false;
    };
    await using site = await guardedSite(signInOf({ passwords: { holds, remembers: () => false } }).signIn);
    for (const name of ['one', 'two']) await site.send('/', { authorization: basic(name, 'x') });
    expect(hashes.size).toBe(2);
  });

  it('never accepts a password for an unknown user, even if its placeholder hash matches', async () => {
    const holds = async () => true;
    await using site = await guardedSite(signInOf({ passwords: { holds, remembers: () => false } }).signIn);
    expect(await site.send('/', { authorization: basic('nobody', 'x') })).toMatchObject({ status: 401 });
  });

  it('responds with 503 and a Retry-After header while passwords cannot be verified', async () => {
    const broken: Passwords = {
      holds: () => Promise.reject(new Error('its thread ended with 1')),
      remembers: () => false,
    };
    await using site = await guardedSite(signInOf({ passwords: broken }).signIn);
    const answer = await site.send('/', { authorization: ANNA });
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
    expect(site.faults).toHaveLength(1);
  });

  it('cancels the verification of a password without an error report when the client disconnects', async () => {
    const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const holds: Passwords['holds'] = (_client, _password, _hashes, signal) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => {
          reject(signal.reason);
          ended.resolve();
        });
        begun.resolve();
      });
    await using site = await guardedSite(signInOf({ passwords: { holds, remembers: () => false } }).signIn);
    const client = connect(site.listener.port, '127.0.0.1');
    client.write(`GET / HTTP/1.1\r\nHost: a\r\nAuthorization: ${ANNA}\r\n\r\n`);
    await begun.promise;
    client.resetAndDestroy();
    await ended.promise;
    expect(await site.send('/_docshelf/assets/none.js')).toMatchObject({ status: 404 });
    expect(site.faults).toEqual([]);
  });
});

function abortable() {
  const left = new AbortController();
  return { signal: left.signal, abort: () => left.abort(new Error('the client left')) };
}

describe('PasswordCheck (verification of passwords)', () => {
  const [right, other] = [
    '$2b$04$Nuq.jlV0goywBMrqjGx.LOsLa4Ecagy1IAw9MYcsF2wmiJv43N9ba',
    '$2b$04$wa1Po1AGF.DqvQEJGv7d0OLEFStJNU6.w1Q.vVad8EFhSH8kTgRLe',
  ];

  it('caches a correct password for one hash, but checks the password again for another hash', async () => {
    await expect(passwords.holds('a', 'correct horse', [right])).resolves.toBe(true);
    expect(passwords.remembers('correct horse', [right])).toBe(true);
    expect(passwords.remembers('correct horse', [other])).toBe(false);
    expect(await passwords.holds('b', 'correct horse', [other])).toBe(false);
  });

  it('accepts a password only if the first of the given hashes matches', async () => {
    expect(await passwords.holds('a', 'tide-table-7', [other, right])).toBe(true);
    expect(await passwords.holds('a', 'tide-table-7', [right, other])).toBe(false);
  });

  it('alternates between clients, and rejects checks of a client that has too many checks in the queue', async () => {
    const check = new PasswordCheck();
    const ended: string[] = [];
    const guessAt = (client: string, at: number) =>
      Promise.resolve(check.holds(client, `guess ${at}`, [right])).then(
        () => ended.push(client),
        (error) => ended.push(error.code),
      );
    const flood = Array.from({ length: 300 }, (_, at) => guessAt('a', at));
    const reader = guessAt('b', 1000);
    await reader;
    // In turn, this client would be the last of 257. A thread can process many requests while another thread gets no processor.
    expect(ended.filter((client) => client === 'a').length).toBeLessThan(200);
    await Promise.all(flood);
    expect(ended.filter((client) => client === 'rate_limited').length).toBeGreaterThan(30);
    await check.end();
  });

  it('removes the queued checks of clients that have disconnected from the queue', async () => {
    const check = new PasswordCheck();
    const { signal, abort } = abortable();
    const guesses = Array.from({ length: 258 }, (_, at) => check.holds('a', `guess ${at}`, [right], signal));
    const settled = Promise.allSettled(guesses);
    abort();
    expect(await check.holds('a', 'correct horse', [right])).toBe(true);
    const results = await settled;
    // Two checks already run when the clients disconnect.
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(256);
    await check.end();
  });

  it('completes a check for one client after another client with the same password has disconnected', async () => {
    const check = new PasswordCheck();
    const { signal, abort } = abortable();
    const others = Array.from({ length: 4 }, (_, at) => check.holds('b', `guess ${at}`, [right]));
    const left = check.holds('a', 'correct horse', [right], signal);
    const waiting = check.holds('a', 'correct horse', [right]);
    abort();
    await expect(left).rejects.toThrow('left');
    expect(await waiting).toBe(true);
    await Promise.all(others);
    await check.end();
  });
});
