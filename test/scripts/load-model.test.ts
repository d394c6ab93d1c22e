import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  CHECKS,
  checksTable,
  DOCUMENTED,
  FIGURES,
  limitsTable,
  memoryMiB,
  sizing,
  sizingTable,
} from '../../bench/scale/model.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const textOf = (value: number): string => value.toLocaleString('en');

it('the page on scaling contains the tables of the load model', () => {
  const page = read('docs/scaling.md');
  for (const table of [sizingTable(DOCUMENTED), limitsTable(DOCUMENTED), checksTable()]) expect(page).toContain(table);
});

it.each([
  ...Object.entries(FIGURES),
  ...CHECKS.map((check) => [check.what, { value: check.measured, row: check.row }] as const),
])('bench/RESULTS.md contains the figure of the load model: %s', (_, { value, row }) => {
  const figure = new RegExp(`(?<![\\d.,])${textOf(value).replaceAll('.', '\\.')}(?![\\d]|[.,]\\d)`);
  const lines = read('bench/RESULTS.md')
    .split('\n')
    .filter((line) => line.includes(row));
  expect(lines.filter((line) => figure.test(line))).not.toEqual([]);
});

it('the load model needs twice the cores for twice the load, and lists the limit with the smallest reserve first', () => {
  const twice = { ...DOCUMENTED, viewsADay: 2 * DOCUMENTED.viewsADay };
  expect(sizing(twice).peakCores).toBeCloseTo(2 * sizing(DOCUMENTED).peakCores);
  expect(sizing({ ...DOCUMENTED, sites: 20_000 }).replicas).toBe(40);
  expect(memoryMiB(200)).toBe((FIGURES.memoryOf100MiB.value + FIGURES.memoryOf300MiB.value) / 2);
  const holds = sizing(DOCUMENTED).limits.map((limit) => limit.holds);
  expect(holds).toEqual(holds.toSorted((one, other) => one - other));
  // The smallest documented limit is enough for its own load.
  expect(holds[0]).toBeGreaterThan(1);
});
