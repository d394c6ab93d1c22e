import { configSchema, environmentName, type KeySpec, listKeys, schemaAt } from '../src/config/schema-node.ts';
import { expectationOf } from '../src/config/validate.ts';

const INTRODUCTION = `# Config reference

This page is generated from the schema (\`sh scripts/run.sh node scripts/generate.ts\`).

docshelf reads \`--config FILE\`, else the file that \`DOCSHELF_CONFIG\` names, else \`./config.yaml\` where it is there.
Every key may be left out; an unknown one is a fault. A command-line flag goes before the environment, the environment
before the file, the file before the default. All faults are reported together, each with its line and column, or with the name
of its variable; \`docshelf config check\` does nothing else, \`docshelf config print\` shows what holds and who said so.

- **Environment.** \`DOCSHELF__SECTION__KEY\` sets \`section.key\`; case and single underscores do not matter. Lists and
  maps are written as JSON. A whole section may be set as a JSON object; a variable for one of its keys goes before it.
  An empty variable sets an empty value; unset it to leave the key alone.
- **Values from files.** \`DOCSHELF__SECTION__KEY__FILE\` names a file that holds the value; one newline at its end is left
  out. The file is watched. Setting a key both ways is a fault.
- **Sizes** are written with \`KiB\`, \`MiB\` or \`GiB\`, or as a plain number of bytes.
- **Durations** are written with \`s\`, \`m\`, \`h\` or \`d\`: \`30s\`, \`1h\`. There are no milliseconds, and a bare number is refused.
- **Relative paths** begin at the folder of the config file, also where they come from the environment or a flag; without
  a config file, at the working directory.
- **YAML** is version 1.2, in UTF-8, at most 1 MiB: \`on\`, \`off\`, \`yes\` and \`no\` are text. Where a key takes text, a number needs no
  quotes: \`version: 3.10\` is the version 3.10. Custom tags are refused; aliases work (100,000 values in all).
- **Secrets** (\`bundleUrl\`, \`token\`) are printed as \`[redacted]\`, and no fault repeats a value.
`;

export function configReference(): string {
  const sections = Map.groupBy(listKeys(), ({ path }) => path[0] ?? '');
  return `${INTRODUCTION}\n${[...sections].map(([name, keys]) => sectionReference(name, keys)).join('\n')}`;
}

function sectionReference(name: string, keys: readonly KeySpec[]): string {
  const rows = keys.map(({ path, schema }) => {
    // The marks of a section hold for its keys.
    const chain = path.map((_, index) => schemaAt(path.slice(0, index + 1)));
    const notes = [
      schema.description ?? '',
      ...(chain.some((each) => each?.['x-restart'] === true) ? ['A change needs a restart.'] : []),
      ...(schema['x-restart'] === 'presence' ? ['To set it where none was, or to remove it, needs a restart.'] : []),
      ...(chain.some((each) => each?.['x-not-built']) ? ['*Not built yet in this version.*'] : []),
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
