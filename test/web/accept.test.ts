import { expect, it } from 'vitest';
import { prefersType } from '../../src/web/media-type.ts';

it.each<[string, boolean]>([
  ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8', true],
  ['text/html', true],
  ['TEXT/HTML;charset=utf-8', true],
  ['application/json;q=0.5, text/html;q=0.6', true],
  ['application/*, text/html', true],
  ['application/*, text/html;q=0.9', false],
  ['text/html;q=0', false],
  ['text/html, */*', true],
  ['application/json, text/html', true],
  ['application/json, text/html;q=0.9', false],
  ['application/json', false],
  ['*/*', false],
  ['text/*', false],
  ['', false],
])('prefersType() returns for the Accept header %s whether the client prefers HTML to JSON', (accept, wanted) => {
  expect(prefersType(accept, 'text/html', 'application/json')).toBe(wanted);
});
