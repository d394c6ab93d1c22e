import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { chartFiles } from '../../scripts/chart/index.ts';
import { CHART, ROOT } from './chart.ts';

const read = (name: string): string => readFileSync(join(CHART, name), 'utf8');
const generated = chartFiles(pathToFileURL(`${CHART}/`));

describe('what scripts/generate.ts writes of the chart', () => {
  it.each(Object.keys(generated))('%s is up to date', (name) => {
    expect(read(name)).toBe(generated[name]);
  });

  it('has every value of values.yaml in the schema, and a default for every value that is not of the config', () => {
    const { properties } = JSON.parse(read('values.schema.json'));
    const values = parse(read('values.yaml'));
    const known = Object.keys(properties).filter((key) => key !== 'enabled');
    expect(Object.keys(values).sort()).toEqual(known.sort());
  });

  it('describes every value in README.md', () => {
    expect(read('README.md').match(/^\| `[^|]*` \|.*\|\s*\|$/gm) ?? []).toEqual([]);
  });
});

describe('Chart.yaml', () => {
  it('is of the version of the program', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(parse(read('Chart.yaml'))).toMatchObject({ version, appVersion: version });
  });
});
