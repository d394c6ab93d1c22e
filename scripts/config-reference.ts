import { CONFIG_KEYS, configSchema, environmentName, type KeySpec, schemaAt } from '../src/config/schema-node.ts';
import { expectationOf } from '../src/config/validate.ts';

const INTRODUCTION = `# Config reference

This page is generated from the schema (\`sh scripts/run.sh node scripts/generate.ts\`).

docshelf reads the file in \`--config FILE\`, else the file in \`DOCSHELF_CONFIG\`, else \`./config.yaml\` if it exists. Every key is
optional, and docshelf rejects unknown keys. A command-line flag overrides the environment, the environment overrides the file,
and the file overrides the default.

docshelf reports all errors together, each with its line and column or the name of its
variable. \`docshelf config check\` only checks the config. \`docshelf config print\` shows the effective values and their sources.

- **Environment.** \`DOCSHELF__SECTION__KEY\` sets \`section.key\`. Case and single underscores do not matter. Write lists, maps, and
  whole sections as JSON. A variable for one key overrides the object of its section.
- **Empty variables** set an empty value. To keep the value from the file or the default, unset the variable.
- **Values from files.** \`DOCSHELF__SECTION__KEY__FILE\` names a file with the value. docshelf removes one newline at its end and
  watches the file. You cannot set a key both ways.
- **Words in parentheses**, such as (oidc) or (crawl), name the value of \`kind\` in the same section to which a key applies.
- **Sizes** have the unit \`KiB\`, \`MiB\` or \`GiB\`, or are a plain number of bytes.
- **Durations** have the unit \`s\`, \`m\`, \`h\` or \`d\`: \`30s\`, \`1h\`. There are no milliseconds, and docshelf rejects a bare number.
- **Relative paths** begin at the folder of the config file, also if they come from the environment or a flag. Without a config
  file, they begin at the working directory.
- **YAML** is version 1.2, in UTF-8, at most 1 MiB: \`on\`, \`off\`, \`yes\` and \`no\` are text. If a key takes text, a number needs no
  quotes: \`version: 3.10\` is the version 3.10. docshelf rejects custom tags. Aliases work (100,000 values in all).
- **Secrets** (\`bundleUrl\`, \`token\`): docshelf prints \`[redacted]\`, and error messages never repeat a value.
`;

export function configReference(): string {
  const sections = Map.groupBy(CONFIG_KEYS, ({ path }) => path[0] ?? '');
  return `${INTRODUCTION}\n${[...sections].map(([name, keys]) => sectionReference(name, keys)).join('\n')}`;
}

function sectionReference(name: string, keys: readonly KeySpec[]): string {
  const rows = keys.map(({ path, schema }) => {
    // The notes of a section also apply to its keys.
    const chain = path.map((_, index) => schemaAt(path.slice(0, index + 1)));
    const notes = [
      schema.description ?? '',
      ...(chain.some((each) => each?.['x-restart'] === true) ? ['A change needs a restart.'] : []),
      ...(schema['x-restart'] === 'presence' ? ['Setting or removing it needs a restart.'] : []),
    ];
    const usual = typeof schema.default === 'string' ? schema.default : JSON.stringify(schema.default);
    const cells = [
      `\`${path.join('.')}\``,
      expectationOf(schema),
      usual === undefined ? '' : `\`${usual}\``,
      `\`${environmentName(path)}\``,
      notes.join(' '),
    ];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  return `## ${name}

${configSchema.properties?.[name]?.description ?? ''}

| key | value | default | environment variable | what it does |
|---|---|---|---|---|
${rows.join('\n')}
`;
}
