import type { Command } from 'commander';
import { jsonSchema, printConfig } from '../config/index.ts';
import { type CommonOptions, command, group, loadFor, print, printJson } from './command.ts';
import { table } from './table.ts';

export function configCommand(): Command {
  const config = group('config', 'check, print or describe the config', 'docshelf config check --config config.yaml');
  config.addCommand(
    command(
      'check',
      'name every fault of the config, or say that it is sound',
      'docshelf config check --config config.yaml',
    ).action(async (options: CommonOptions) => {
      const { file } = await loadFor(options);
      if (options.json === true) printJson({ ok: true, file });
      else print(file === null ? 'No config file: the defaults and the environment are sound.' : `${file} is sound.`);
    }),
  );
  config.addCommand(
    command('print', 'print every value and where it comes from; secrets are redacted', 'docshelf config print').action(
      async (options: CommonOptions) => {
        const printed = printConfig(await loadFor(options));
        if (options.json === true) printJson({ file: printed.file, settings: printed.settings });
        else print(table([['KEY', 'VALUE', 'FROM'], ...printed.rows.map((row) => [row.key, row.value, row.origin])]));
      },
    ),
  );
  config.addCommand(
    command('schema', 'print the JSON Schema of the config file', 'docshelf config schema > config.schema.json').action(
      () => printJson(jsonSchema()),
    ),
  );
  return config;
}
