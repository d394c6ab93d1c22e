import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { chartFiles } from '../../scripts/chart/index.ts';
import { OTHER_NAMES } from '../../scripts/chart/other-names.ts';
import { CHART, ROOT } from './chart.ts';

const read = (name: string): string => readFileSync(join(CHART, name), 'utf8');
const generated = chartFiles(pathToFileURL(`${CHART}/`));

describe('generated files of the chart', () => {
  it.each(Object.keys(generated))('contain the current output of scripts/generate.ts: %s', (name) => {
    expect(read(name)).toBe(generated[name]);
  });

  it('contain the same top-level values in values.yaml and in the schema', () => {
    const { properties } = JSON.parse(read('values.schema.json'));
    const values = parse(read('values.yaml'));
    const known = Object.keys(properties).filter((key) => key !== 'enabled' && !(key in OTHER_NAMES));
    expect(Object.keys(values).sort()).toEqual(known.sort());
  });

  it('describe every value in README.md', () => {
    expect(read('README.md').match(/^\| `[^|]*` \|.*\|\s*\|$/gm) ?? []).toEqual([]);
  });
});

describe('Chart.yaml', () => {
  it('has the version of the program', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(parse(read('Chart.yaml'))).toMatchObject({ version, appVersion: version });
  });
});
