import type { Command } from 'commander';
import { jsonSchema, printConfig } from '../config/index.ts';
import { answer, type CommonOptions, command, group, loadStrictly, printJson } from './command.ts';
import { table } from './table.ts';

const NO_SETTINGS = 'The file has no settings: a daemon that runs by other ones does not reload it.';

export function configCommand(): Command {
  return group('config', 'check, print or describe the config', 'docshelf config check --config config.yaml', [
    command(
      'check',
      'name every fault of the config, or say that it is sound',
      'docshelf config check --config config.yaml',
    ).action(async (options: CommonOptions) => {
      const { config, file, written } = await loadStrictly(options);
      const { certificateNotices } = await import('../app/tls.ts');
      const warnings = certificateNotices(config, Date.now());
      if (file !== null && written.size === 0) warnings.push(NO_SETTINGS);
      answer(options, { ok: true, file, warnings }, () =>
        [
          file === null ? 'No config file: the defaults and the environment are sound.' : `${file} is sound.`,
          ...warnings.map((warning) => `warning  ${warning}`),
        ].join('\n'),
      );
    }),
    command('print', 'print every value and where it comes from; secrets are redacted', 'docshelf config print').action(
      async (options: CommonOptions) => {
        const { file, settings, rows } = printConfig(await loadStrictly(options));
        answer(options, { file, settings }, () =>
          table([['KEY', 'VALUE', 'FROM'], ...rows.map(({ key, value, origin }) => [key, value, origin])]),
        );
      },
    ),
    command('schema', 'print the JSON Schema of the config file', 'docshelf config schema > config.schema.json').action(
      () => printJson(jsonSchema()),
    ),
  ]);
}
