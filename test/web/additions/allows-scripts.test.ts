import { expect, it } from 'vitest';
import { allowsOwnScripts } from '../../../src/web/additions/page-additions.ts';

it.each([
  ['', true],
  ["img-src 'none'", true],
  ["default-src 'self'", true],
  ["default-src 'none'; script-src 'self' 'nonce-abc'", true],
  ["default-src 'none'; script-src https://docs.example.com", true],
  ['script-src *', true],
  ["default-src 'none'", false],
  ["default-src 'self'; script-src 'nonce-abc'", false],
  ["script-src 'self'; script-src-elem 'sha256-abc='", false],
  ["SCRIPT-SRC 'Self' 'nonce-abc' 'Strict-Dynamic'", false],
  ["default-src 'self', script-src 'none'", false],
  ['script-src', false],
])(
  'allowsOwnScripts() returns whether the Content-Security-Policy %s allows scripts of its own site',
  (policy, isAllowed) => {
    expect(allowsOwnScripts(policy)).toBe(isAllowed);
  },
);
