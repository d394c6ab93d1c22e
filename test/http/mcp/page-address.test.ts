import { expect, it } from 'vitest';
import { addressOf, parseAddress, resourceUri } from '../../../src/http/mcp/documentation.ts';

const ROOT = { domain: 'acme', basePath: '/', origin: null };
const BELOW = { domain: 'acme', basePath: '/docs/', origin: 'https://docs.acme.dev' };

it('addressOf() (page address for an MCP client) includes the base path, and the origin if the config contains an origin', () => {
  expect(addressOf('/guides/start', ROOT)).toBe('/guides/start');
  expect(addressOf('/guides/start', BELOW)).toBe('https://docs.acme.dev/docs/guides/start');
  expect(addressOf('/', BELOW)).toBe('https://docs.acme.dev/docs/');
  expect(resourceUri('/guides/start', BELOW)).toBe('docshelf://acme/docs/guides/start');
});

it.each([
  ['/guides/start', ROOT, '/guides/start'],
  ['guides/start', ROOT, '/guides/start'],
  ['  /guides/start?x=1#step-2 ', ROOT, '/guides/start'],
  ['/', ROOT, '/'],
  ['docshelf://acme/guides/start', ROOT, '/guides/start'],
  ['docshelf://acme', ROOT, '/'],
  ['/docs/guides/start', BELOW, '/guides/start'],
  ['/docs', BELOW, '/'],
  ['https://docs.acme.dev/docs/guides/start#a', BELOW, '/guides/start'],
  ['HTTPS://DOCS.acme.dev:443/docs/guides/start', BELOW, '/guides/start'],
  ['docshelf://acme/docs/guides/start', BELOW, '/guides/start'],
  // An address without the base path means the page under the base path.
  ['/guides/start', BELOW, '/guides/start'],
  // Keep the dots in the address, because the look-up of the page rejects them.
  ['/../secret', ROOT, '/../secret'],
  ['/%2e%2e/secret', ROOT, '/%2e%2e/secret'],
])(
  'parseAddress() (page address from an MCP client) reads the address %s of the site %j as the page %s',
  (written, form, target) => {
    expect(parseAddress(written, form)).toMatchObject({ version: null, target });
  },
);

it.each([
  ['https://docs.acme.dev/docs/a', ROOT],
  ['https://evil.example/docs/a', BELOW],
  ['http://docs.acme.dev/docs/a', BELOW],
  ['https://docs.acme.dev@evil.example/docs/a', BELOW],
  ['docshelf://other/guides/start', ROOT],
  ['file:///etc/passwd', ROOT],
])(
  'parseAddress() (page address from an MCP client) rejects the address %s, which does not belong to the site',
  (written, form) => {
    expect(parseAddress(written, form)).toBeNull();
  },
);

it.each([
  ['/_docshelf/v/v1.0+june/guides/start', 'v1.0+june', '/guides/start'],
  ['docshelf://acme/docs/_docshelf/v/v1.0%2Bjune/', 'v1.0+june', '/'],
  ['https://docs.acme.dev/docs/_docshelf/v/v2', 'v2', '/'],
  ['/docs/_docshelf/v/../x', '..', '/x'],
])(
  'parseAddress() (page address from an MCP client) finds in the address %s the version %s',
  (written, version, target) => {
    expect(parseAddress(written, BELOW)).toMatchObject({ version, target });
  },
);

it.each([
  ['/guides/start', null],
  ['/guides/start#', null],
  ['/guides/start?x=1#step-2 ', 'step-2'],
  ['docshelf://acme/guides/start#a#b', 'a#b'],
  ['/_docshelf/v/v2/guides/start#gr%C3%B6%C3%9Fe', 'größe'],
  ['/guides/start#100%', '100%'],
])('parseAddress() (page address from an MCP client) decodes the fragment of the address %s', (written, fragment) => {
  expect(parseAddress(written, ROOT)).toMatchObject({ fragment });
});
