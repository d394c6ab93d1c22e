import { expect, it } from 'vitest';
import { parseDuration, parseSize } from '../../src/config/schema-node.ts';

it.each([
  ['128MiB', 134_217_728],
  ['1KiB', 1024],
  ['2GiB', 2_147_483_648],
  ['7', 7],
  [7, 7],
  ['1kb', null],
  ['1s', null],
  ['-1', null],
  ['1.5MiB', null],
  ['', null],
])('parseSize(%j) is %j', (written, bytes) => {
  expect(parseSize(written)).toBe(bytes);
});

it.each([
  ['1s', 1000],
  ['2m', 120_000],
  ['1h', 3_600_000],
  ['7d', 604_800_000],
  ['30', null],
  ['500ms', null],
  ['1KiB', null],
  ['none', null],
])('parseDuration(%j) is %j', (written, milliseconds) => {
  expect(parseDuration(written)).toBe(milliseconds);
});
