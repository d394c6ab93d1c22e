import { readdirSync, readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import { secretKeys } from './config-schema.ts';
import { OTHER_NAMES } from './other-names.ts';
import { chartReadme } from './readme.ts';
import { MEASURED_SIZES } from './sizes.ts';
import { valuesSchema } from './values-schema.ts';

/** Generated files of the chart, by path in `helm/`. The first line of an example file describes the example. */
export function chartFiles(helm: URL): Record<string, string> {
  const read = (name: string): string => readFileSync(new URL(name, helm), 'utf8');
  const schema = valuesSchema();
  const values = parse(read('values.yaml'));
  const examples = readdirSync(new URL('examples/', helm))
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .map((file) => ({ file, shows: (read(`examples/${file}`).split('\n')[0] ?? '').replace(/^# */, '') }));
  return {
    'values.schema.json': `${JSON.stringify(schema, null, 2)}\n`,
    'README.md': chartReadme(schema, values, examples, MEASURED_SIZES),
    'files/default-values.yaml': `# Generated: the values that the chart uses if a value is null.\n${stringify(values)}`,
    'files/other-names.yaml': `# Generated: values of other charts, and what to use instead.\n${stringify(OTHER_NAMES)}`,
    'files/secret-keys.yaml': [
      '# Generated: the config keys that hold a credential. The chart keeps what is written for them in a Secret.\n',
      ...secretKeys().map((key) => `- ${key}\n`),
    ].join(''),
  };
}
