import { describe, expect, it } from 'vitest';
import { remoteAddressBehind, requestIdFor } from '../../../src/http/listener/request.ts';
import { accessLog, pathOf, type ServedRequest } from '../../../src/http/listener/served-request.ts';

describe('remoteAddressBehind()', () => {
  const remoteAddress = remoteAddressBehind(['10.0.0.0/8', '192.0.2.7', 'fd00::/8']);

  it.each<[string, string, string | undefined, string]>([
    ['no proxy', '198.51.100.1', undefined, '198.51.100.1'],
    ['a peer that is not trusted', '198.51.100.1', '203.0.113.9', '198.51.100.1'],
    ['a trusted peer', '10.1.2.3', '203.0.113.9', '203.0.113.9'],
    ['a chain of trusted proxies', '10.1.2.3', '203.0.113.9, 192.0.2.7', '203.0.113.9'],
    [
      'a proxy whose header also has an address that the client made up',
      '10.1.2.3',
      '1.1.1.1, 203.0.113.9',
      '203.0.113.9',
    ],
    ['trusted addresses only', '10.1.2.3', '10.9.9.9', '10.9.9.9'],
    ['a header with an entry that is not an address', '10.1.2.3', '203.0.113.9, unknown', '10.1.2.3'],
    ['an IPv4 peer of a dual-stack socket', '::ffff:10.1.2.3', '203.0.113.9', '203.0.113.9'],
    ['a header with ports and brackets', 'fd00::1', '[2001:db8::5]:443', '2001:db8::5'],
    ['an IPv4 address with a port', '10.1.2.3', '203.0.113.9:5123', '203.0.113.9'],
    ['an empty header', '10.1.2.3', '', '10.1.2.3'],
  ])('returns the client address for %s', (_, peer, forwardedFor, expected) => {
    expect(remoteAddress(peer, forwardedFor)).toBe(expected);
  });

  it('ignores the forwarding header if no proxy is trusted', () => {
    expect(remoteAddressBehind([])('127.0.0.1', '203.0.113.9')).toBe('127.0.0.1');
  });
});

describe('accessLog()', () => {
  const SERVED: ServedRequest = {
    listener: 'site',
    method: 'GET',
    path: '/guides/start',
    status: 200,
    bytes: 1234,
    durationMs: 1.23456,
    requestId: 'r-1',
    peer: '127.0.0.1',
    forwardedFor: '203.0.113.9',
  };
  const lineOf = (served: Partial<ServedRequest>): Record<string, unknown> => {
    const fieldsOf = accessLog(['127.0.0.0/8']);
    return JSON.parse(`{${fieldsOf({ ...SERVED, ...served })}}`);
  };

  it('escapes characters that a terminal interprets', () => {
    const text = 'a\u009b31m\u202e\u200b\u2028\ufeff\u007fü列🙂';
    const line = accessLog([])({ ...SERVED, path: text, userAgent: text });
    expect(line).not.toMatch(/[\u007f-\u009f\u200b-\u202e\ufeff]/);
    expect(JSON.parse(`{${line}}`)).toMatchObject({ path: text, userAgent: text, msg: `GET ${text} 200` });
  });

  it('writes one line with the fields of a request', () => {
    const agent = { userAgent: 'curl/8', referrer: 'https://docs.acme.dev/a' };
    expect(lineOf({ site: 'acme', version: 'v2', ...agent })).toEqual({
      event: 'request',
      listener: 'site',
      site: 'acme',
      version: 'v2',
      method: 'GET',
      path: '/guides/start',
      status: 200,
      bytes: 1234,
      durationMs: 1.235,
      requestId: 'r-1',
      remoteAddress: '203.0.113.9',
      ...agent,
      msg: 'GET /guides/start 200',
    });
  });

  it.each([
    [0, 0],
    [0.0004, 0],
    [0.0127, 0.013],
    [9.9999, 10],
    [60_000.25, 60_000.25],
  ])('writes the duration %d ms as %d', (durationMs, shown) => {
    expect(lineOf({ durationMs }).durationMs).toBe(shown);
  });

  it('keeps the values of one request out of the line of the next request', () => {
    const fieldsOf = accessLog([]);
    const lines = ['a', undefined, 'b'].map((of) => fieldsOf({ ...SERVED, site: of, version: of, userAgent: of }));
    expect(
      lines.map((line) => JSON.parse(`{${line}}`)).map(({ site, version, userAgent }) => [site, version, userAgent]),
    ).toEqual([
      ['a', 'a', 'a'],
      [undefined, undefined, undefined],
      ['b', 'b', 'b'],
    ]);
  });

  it('omits fields without a value', () => {
    for (const name of ['site', 'version', 'userAgent', 'referrer']) expect(lineOf({})).not.toHaveProperty(name);
  });

  it.each(['"', '\\', '","status":500,"x":"', 'a\nb', '\u001b[2J', '\ud800', 'grün 日本'])(
    'writes a valid JSON line for a request that contains %j',
    (text) => {
      const path = `/${text}`;
      const facts = { method: text, path, userAgent: text, referrer: text };
      expect(lineOf(facts)).toMatchObject({ ...facts, msg: `${text} ${path} 200` });
    },
  );

  it('limits the length of values from clients', () => {
    const text = `/${'a'.repeat(10_000)}`;
    expect(JSON.stringify(lineOf({ path: text, userAgent: text, referrer: text })).length).toBeLessThan(5_000);
  });

  it.each([
    ['https://u:canary@docs.acme.dev/a?token=canary', 'https://docs.acme.dev/a'],
    ['https://docs.acme.dev/a#canary', 'https://docs.acme.dev/a'],
    ['/a@b', '/a@b'],
  ])('shortens the referrer %s to %s', (referrer, shown) => {
    expect(lineOf({ referrer }).referrer).toBe(shown);
  });
});

describe('pathOf()', () => {
  it.each([
    ['/a?token=x', '/a'],
    ['/a#b?c', '/a'],
    ['http://user:pw@host/a?token=x', '/a'],
    ['//host/a?x', '//host/a'],
    ['*', '*'],
  ])('returns for the request target %s the path %s', (target, path) => {
    expect(pathOf(target)).toBe(path);
  });
});

describe('requestIdFor()', () => {
  it.each(['4bf92f3577b34da6a3ce929d0e0e4736', 'a/b+c=', 'x'.repeat(128)])('keeps the valid id %s', (id) => {
    expect(requestIdFor(id)).toBe(id);
  });

  it.each([undefined, '', 'two words', 'x"y', 'x'.repeat(129), 'ünï'])('replaces the invalid id %s', (id) => {
    expect(requestIdFor(id)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('creates a different id on each call', () => {
    expect(new Set(Array.from({ length: 10_000 }, () => requestIdFor(undefined))).size).toBe(10_000);
  });
});
