import type { Schema } from './config-schema.ts';
import { OTHER_NAMES } from './other-names.ts';

const INTRODUCTION = `# The docshelf chart

Installs [docshelf](../README.md), which serves one pinned version of a documentation site from a bundle. [Kubernetes](../docs/kubernetes.md) describes
an installation, with and without a network.

\`\`\`sh
helm upgrade --install docshelf ./helm --set staticExport.enabled=true --set staticExport.bundleUrl="$URL"
\`\`\`

This page is generated from \`values.schema.json\` and \`values.yaml\`: \`sh scripts/run.sh node scripts/generate.ts\`.

## Examples

| File | Shows |
|---|---|
`;

const SIZES = `
## Sizes

The default requests are enough to serve pages. The default limits are more than 1.5 times the highest measured value. The first
index of a large site, and version switches, need the most memory. [Sizing](../docs/sizing.md) has values by number of pages.

| What | Resident memory |
|---|---|
`;

const VALUES = `
## Values

The chart rejects values that are not in this table. If you use a name from another common chart, the error states the name in this
table. \`config\` accepts the sections of [docshelf's config](../docs/config.md), except the keys that the chart sets itself:
\`deployment\` and \`staticExport\` (separate values), \`storage\`, hosts and ports, and \`exportApi.enabled\` and \`role\`. The chart
moves credentials in \`config\` (a token, a proxy with a password, keys of S3) into its Secret.

A value of \`null\` restores the default, also for a whole section. It removes \`resources\`, \`probes\`, \`podSecurityContext\`,
\`securityContext\`, \`topologySpreadConstraints\`, the labels of \`dashboard\`, targets of \`autoscaling\`, and single settings in them.

| Value | Default | What it does |
|---|---|---|
`;

interface Row {
  readonly key: string;
  readonly schema: Schema;
  readonly fallback: unknown;
}

/** Rows for the leaves of the values. A map of which the chart passes on all entries is one row. */
function rowsOf(schema: Schema, values: unknown, key: string): Row[] {
  const isPassedOn = key === 'fromSecret' || key === 'fromConfigMap';
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>)
    .map(([name, child]) => ({ name, child, path: key === '' ? name : `${key}.${name}` }))
    .filter(({ path }) => !(path in OTHER_NAMES));
  if (isPassedOn || properties.length === 0) return [{ key, schema, fallback: values }];
  return properties.flatMap(({ name, child, path }) => {
    const value = (values as Record<string, unknown> | undefined)?.[name];
    // Omit the sections of the config, which have a separate page.
    if (key === 'config' && name !== 'reload') return [];
    return rowsOf(child, value, path);
  });
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

/** Text of `helm/README.md`. */
export function chartReadme(
  schema: Schema,
  values: unknown,
  examples: readonly { readonly file: string; readonly shows: string }[],
  sizes: readonly { readonly what: string; readonly memory: string }[],
): string {
  const rows = rowsOf(schema, values, '').map(({ key, schema: { description, default: usual }, fallback }) => {
    const value = fallback ?? usual;
    const shown = value === undefined ? '' : `\`${JSON.stringify(value)}\``;
    return `| \`${key}\` | ${cell(shown)} | ${cell(String(description ?? ''))} |`;
  });
  return [
    INTRODUCTION,
    ...examples.map(({ file, shows }) => `| [\`${file}\`](examples/${file}) | ${shows} |\n`),
    SIZES,
    ...sizes.map(({ what, memory }) => `| ${what} | ${memory} |\n`),
    VALUES,
    ...rows.map((row) => `${row}\n`),
  ].join('');
}
