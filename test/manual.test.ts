import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { VERSION_COLUMNS } from '../src/cli/bundle/index.ts';
import { loadConfig } from '../src/config/index.ts';
import { LINK_SCHEMES } from '../src/domain/bundle-link.ts';

const pageOf = (name: string) => readFileSync(join(import.meta.dirname, '../docs', name), 'utf8');

/** Code at the start of each row of the first table under a heading. */
function tableOf(page: string, heading: string): (string | undefined)[] {
  const [, section = ''] = page.split(`\n### ${heading}\n`);
  const [table = ''] = /^(?:\|.*\n)+/m.exec(section) ?? [];
  return [...table.matchAll(/^\| `(\S+)` \|/gm)].map(([, name]) => name);
}

describe('the manual', () => {
  it('describes each key of server.headers in docs/serving.md', async () => {
    const { config } = await loadConfig({ file: null, env: {}, cwd: import.meta.dirname });
    const keys = Object.keys(config.server.headers).map((key) => `\`server.headers.${key}`);
    const page = pageOf('serving.md');
    expect(keys.filter((key) => !page.includes(key))).toEqual([]);
  });

  it('lists the columns of bundle list in docs/cli.md', () => {
    expect(tableOf(pageOf('cli.md'), 'Columns of bundle list')).toEqual(Object.keys(VERSION_COLUMNS));
  });

  it('lists the forms of links to bundles in docs/cli.md', () => {
    const forms = Object.values(LINK_SCHEMES).map(({ form }) => form.split(' ')[0]);
    expect(tableOf(pageOf('cli.md'), 'Options of bundle import')).toEqual(forms);
  });
});
