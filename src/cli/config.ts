import type { Command } from 'commander';
import { about, type Diagnosis } from '../app/doctor/diagnosis.ts';
import { ConfigError, configSchema, type LoadedConfig, printConfig } from '../config/index.ts';
import { exitCodeOf } from '../domain/errors.ts';
import { counted, printable } from '../domain/text.ts';
import { type CommonOptions, command, group } from './command.ts';
import { loadStrictly } from './load-config.ts';
import { printJson, printResult, ReportedFailure, table } from './output.ts';

export function configCommand(): Command {
  return group('config', 'Check, print, or describe the config', 'docshelf config check --config config.yaml', [
    command('check', 'Check the config and report every error', 'docshelf config check --config config.yaml').action(
      async (options: CommonOptions) => {
        const { config, file, written } = await loadStrictly(options);
        const { certificateNotices } = await import('../app/tls.ts');
        const warnings = certificateNotices(config, Date.now());
        if (file !== null && written.size === 0) warnings.push(NO_SETTINGS);
        printResult(options, { ok: true, file, warnings }, () =>
          [
            file === null ? 'No config file: the defaults and the environment are valid.' : `${file} is valid.`,
            ...warnings.map((warning) => `warning  ${warning}`),
          ].join('\n'),
        );
      },
    ),
    command('print', 'Print every setting with its source (secrets are redacted)', 'docshelf config print').action(
      async (options: CommonOptions) => {
        printResult(options, printConfig(await loadStrictly(options)), ({ settings }) => {
          const rows = Object.entries(settings).map(([key, { value, origin }]) => [key, textOf(value), origin]);
          return table([['KEY', 'VALUE', 'SOURCE'], ...rows]);
        });
      },
    ),
    command('schema', 'Print the JSON Schema of the config file', 'docshelf config schema > config.schema.json').action(
      () => printJson(configSchema),
    ),
  ]);
}

function textOf(value: unknown): string {
  if (value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const NO_SETTINGS =
  'The config file contains no settings. A running daemon ignores this file and keeps its current config.';

const MARK = { ok: 'ok', warning: 'warning', fault: 'ERROR', skipped: '-' } as const;
const COLUMN = 9;

export function doctorCommand(): Command {
  return command(
    'doctor',
    'Check the config, folders, disk space, clock, and network, and suggest fixes',
    'docshelf doctor --config config.yaml',
  ).action(async (options: CommonOptions) => {
    const found = await examine(options);
    const faults = found.filter(({ state }) => state === 'fault');
    printResult(options, { ok: faults.length === 0, checks: found }, () => doctorText(found));
    const first = faults[0]?.code ?? null;
    if (first !== null) throw new ReportedFailure(exitCodeOf(first));
  });
}

async function examine(options: CommonOptions): Promise<readonly Diagnosis[]> {
  let loaded: LoadedConfig;
  try {
    loaded = await loadStrictly(options);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.faults.map(({ code, key, message, where, next }) => {
      const sentence = where === null ? message : `${where}: ${message}`;
      return about('config', key ?? 'config').faulty({ code, message: sentence, next: next ?? FIX });
    });
  }
  const config =
    loaded.file === null
      ? 'There is no config file, so docshelf uses the defaults and the environment. To create one, run "docshelf init".'
      : `"${loaded.file}" is valid.`;
  return [
    about('config', 'config').sound(config),
    ...(await (await import('../app/doctor/index.ts')).diagnose(loaded)),
  ];
}

const FIX = 'Fix the listed setting, then run "docshelf config check".';

function doctorText(found: readonly Diagnosis[]): string {
  const lines = found.flatMap(({ state, subject, message, next }) => [
    printable(`${MARK[state].padEnd(COLUMN)}${subject}: ${message}`),
    ...(next === null ? [] : [printable(`${' '.repeat(COLUMN)}→ ${next}`)]),
  ]);
  const count = (wanted: 'fault' | 'warning', word: string) =>
    counted(found.filter(({ state }) => state === wanted).length, word);
  return [...lines, '', `${count('fault', 'error')}, ${count('warning', 'warning')}.`].join('\n');
}
