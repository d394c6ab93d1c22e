import { hostname } from 'node:os';
import { expect, it } from 'vitest';
import { isOwnOrigin } from '../../../src/http/mcp/mcp-endpoint.ts';

const ANYWHERE = { publicUrl: null, hosts: [] };
const NAMED = { publicUrl: null, hosts: ['docs.acme.dev', '10.0.0.5'] };
const PUBLIC = { publicUrl: 'https://docs.acme.dev', hosts: [] };
const LISTED = { publicUrl: 'https://shelf.acme.dev:8443/x', hosts: ['docs.acme.dev'] };

it.each([
  ['http://127.0.0.1:8080', '127.0.0.1:8080', ANYWHERE],
  ['http://[::1]:8080', '[::1]:8080', ANYWHERE],
  ['http://localhost:8080', 'localhost:8080', ANYWHERE],
  ['http://LOCALHOST'.toLowerCase(), 'LOCALHOST:80', ANYWHERE],
  [`http://${hostname().toLowerCase()}`, hostname(), ANYWHERE],
  ['http://docs.acme.dev', 'docs.acme.dev', NAMED],
  ['https://docs.acme.dev', 'docs.acme.dev', NAMED],
  ['https://docs.acme.dev', 'docs.acme.dev:443', NAMED],
  ['http://10.0.0.5:8080', '10.0.0.5:8080', NAMED],
  ['https://docs.acme.dev', 'backend:8080', PUBLIC],
  ['http://127.0.0.1:8080', '127.0.0.1:8080', PUBLIC],
  ['https://docs.acme.dev:8443', 'backend:8080', LISTED],
])('isOwnOrigin() accepts the Origin header %s for the Host header %s', (origin, host, place) => {
  expect(isOwnOrigin(origin, host, place)).toBe(true);
});

it.each([
  ['https://evil.example', 'docs.acme.dev', PUBLIC],
  // An attacker points this host name to the address of the site (DNS rebinding).
  ['http://evil.example:8080', 'evil.example:8080', ANYWHERE],
  ['http://evil.example:8080', 'evil.example:8080', PUBLIC],
  ['http://evil.example:8080', 'evil.example:8080', NAMED],
  ['http://localhost.evil.example', 'localhost.evil.example', ANYWHERE],
  ['http://127.0.0.1.evil.example', '127.0.0.1.evil.example', ANYWHERE],
  // A page on another port of the host has another origin.
  ['http://127.0.0.1:3000', '127.0.0.1:8080', ANYWHERE],
  ['https://docs.acme.dev', 'docs.acme.dev:8080', NAMED],
  ['http://docs.acme.dev', 'backend', PUBLIC],
  ['https://shelf.acme.dev:8443', 'backend', LISTED],
  ['https://docs.acme.dev', 'backend', LISTED],
  ['null', '127.0.0.1', ANYWHERE],
  ['', '127.0.0.1', ANYWHERE],
  ['127.0.0.1', '127.0.0.1', ANYWHERE],
  ['http://127.0.0.1/', '127.0.0.1', ANYWHERE],
  ['http://x@127.0.0.1', '127.0.0.1', ANYWHERE],
  ['http://127.0.0.1, http://evil.example', '127.0.0.1', ANYWHERE],
  ['file://127.0.0.1', '127.0.0.1', ANYWHERE],
  ['chrome-extension://abcdef', '127.0.0.1', ANYWHERE],
  ['http://127.0.0.1', undefined, ANYWHERE],
])('isOwnOrigin() rejects the Origin header %s for the Host header %s', (origin, host, place) => {
  expect(isOwnOrigin(origin, host, place)).toBe(false);
});
