import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { VERSION_COLUMNS } from '../../src/cli/bundle/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { CONFIG_KEYS } from '../../src/config/schema-node.ts';
import { LINK_SCHEMES } from '../../src/domain/bundle-link.ts';
import { defineMetrics } from '../../src/http/metrics/metric-set.ts';
import { makeCertificate } from '../helpers/certificates.ts';
import { codeBlocks, manualPage } from '../helpers/manual-blocks.ts';

/** Facts of the manual about the config and the metrics must match the program. */
const DOCS = join(import.meta.dirname, '../../docs');
const pages = globSync('*.md', { cwd: DOCS }).map((name) => ({ name, text: readFileSync(join(DOCS, name), 'utf8') }));
const README = { name: 'README.md', text: readFileSync(join(DOCS, '../README.md'), 'utf8') };
const samples = [README, ...pages].flatMap(({ name, text }) =>
  codeBlocks(text)
    // A block with a title is another file, such as the values of the chart.
    .filter(({ kind, title }) => kind === 'yaml' && title === '')
    .map(({ text: yaml }, index) => ({ name, index, yaml })),
);

/** These pages also name values of the Helm chart. */
const PAGES_OF_THE_CHART: ReadonlySet<string> = new Set([
  'kubernetes.md',
  'many-sites.md',
  'monitoring.md',
  'runbook.md',
  'sites.md',
  'uninstall.md',
]);

/** Dotted names of the chart's values. */
function chartValues(): string[] {
  const values = parse(readFileSync(join(DOCS, '../helm/values.yaml'), 'utf8')) as Record<string, unknown>;
  const leaves = (node: unknown, path: string): string[] =>
    typeof node === 'object' && node !== null && !Array.isArray(node) && Object.keys(node).length > 0
      ? Object.entries(node).flatMap(([key, child]) => leaves(child, `${path}.${key}`))
      : [path.slice(1)];
  return leaves(values, '');
}

/** Code at the start of each row of the first table under a heading. */
function tableOf(page: string, heading: string): (string | undefined)[] {
  const [, section = ''] = page.split(`\n### ${heading}\n`);
  const [table = ''] = /^(?:\|.*\n)+/m.exec(section) ?? [];
  return [...table.matchAll(/^\| `(\S+)` \|/gm)].map(([, name]) => name);
}

describe('the manual', () => {
  const dir = mkdtempSync(join(tmpdir(), 'docshelf-manual-'));
  // Files that the examples name.
  writeFileSync(join(dir, 'export-key'), 'svc_example');
  writeFileSync(join(dir, 'crawl-token'), 'a-secret');
  writeFileSync(join(dir, 'client-secret'), 'a-secret');
  writeFileSync(join(dir, 'database-url'), 'postgres://docshelf:a-secret@db.acme.dev/docs');
  writeFileSync(join(dir, 'collector-headers'), 'Authorization: Bearer a-secret');
  for (const name of ['users', 'board-users']) {
    writeFileSync(join(dir, name), 'anna:$2y$04$Nuq.jlV0goywBMrqjGx.LOsLa4Ecagy1IAw9MYcsF2wmiJv43N9ba');
  }
  for (const name of ['tls', 'acme', 'beta']) {
    const { cert, key } = makeCertificate({ names: [`docs.${name}.dev`] });
    writeFileSync(join(dir, `${name}.crt`), cert);
    writeFileSync(join(dir, `${name}.key`), key);
  }
  writeFileSync(join(dir, 'minisign.pub'), 'RWR9+ogUm6lA4h4PZoZXlOmUZNots2mLkQ8rnRcLDNGmD1yD7VpJRoPK');
  afterAll(() => rmSync(dir, { recursive: true }));

  it('contains at least five sample configs', () => {
    expect(samples.length).toBeGreaterThan(4);
  });

  it.each(samples)('shows a valid config: $name, sample $index', async ({ yaml }) => {
    const file = join(dir, 'config.yaml');
    writeFileSync(file, yaml);
    expect((await loadConfig({ file, env: {}, cwd: dir })).file).toBe(file);
  });

  it('mentions Linux in each line that contains "older Node" or "any Node"', () => {
    const root = join(DOCS, '..');
    const texts = [README.text, readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8'), ...pages.map(({ text }) => text)];
    const claims = texts.flatMap((text) => text.match(/^.*\b(?:any|older) Node\b.*$/gim) ?? []);
    expect(claims.length).toBeGreaterThan(0);
    for (const claim of claims) expect(claim).toContain('Linux');
  });

  it('names only settings that exist', () => {
    const ofConfig = CONFIG_KEYS.map(({ path }) => path.join('.'));
    const sections = new Set(ofConfig.map((key) => key.split('.')[0]));
    const unknown = pages.flatMap(({ name, text }) => {
      const keys = PAGES_OF_THE_CHART.has(name) ? [...ofConfig, ...chartValues()] : ofConfig;
      return [...text.matchAll(/`([a-zA-Z]+)(\.[a-zA-Z0-9.]+)`/g)]
        .filter(
          ([, section, rest]) =>
            sections.has(section) && !keys.some((key) => `${key}.`.startsWith(`${section}${rest}.`)),
        )
        .map(([word]) => `${name}: ${word}`);
    });
    expect(unknown).toEqual([]);
  });

  it('names every metric, and no metric that does not exist', () => {
    const registry = new Registry();
    defineMetrics(registry);
    const defined = registry.getMetricsAsArray().map(({ name }) => name);
    const named = pages.flatMap(({ text }) => [...text.matchAll(/`(docshelf_[a-z_]+)[`{]/g)].map(([, name]) => name));
    expect([...new Set(named)].sort()).toEqual(defined.sort());
  });

  it('describes each key of server.headers in docs/serving.md', async () => {
    const { config } = await loadConfig({ file: null, env: {}, cwd: import.meta.dirname });
    const keys = Object.keys(config.server.headers).map((key) => `\`server.headers.${key}`);
    const page = manualPage('serving');
    expect(keys.filter((key) => !page.includes(key))).toEqual([]);
  });

  it('lists the columns of bundle list in docs/cli.md', () => {
    expect(tableOf(manualPage('cli'), 'Columns of bundle list')).toEqual(Object.keys(VERSION_COLUMNS));
  });

  it('lists the forms of links to bundles in docs/cli.md', () => {
    const forms = Object.values(LINK_SCHEMES).map(({ form }) => form.split(' ')[0]);
    expect(tableOf(manualPage('cli'), 'Options of bundle import')).toEqual(forms);
  });
});
