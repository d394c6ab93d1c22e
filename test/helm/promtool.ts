import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { CHART } from './chart.ts';

/** Evaluates the alerts with promtool, without a server. */

export const HAS_PROMTOOL = spawnSync('promtool', ['--version']).error === undefined;
if (!HAS_PROMTOOL)
  process.stdout.write('promtool is not installed (Debian package prometheus): tests of alerts are skipped\n');

export const SHIPPED_ALERTS = join(CHART, 'files/alerts.yaml');

/** Values of each series, one per `step`. A key is a metric with its labels in braces. */
export type Series = Readonly<Record<string, string>>;

const LABELS = { namespace: 'docs', job: 'docshelf', component: 'site', pod: 'docshelf-1', instance: '10.0.0.1:9090' };

function labelsOf(text: string): Record<string, string> {
  return Object.fromEntries(
    Array.from(text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g), ([, name, value]) => [name, value]),
  );
}

function seriesOf(series: Series): { series: string; values: string }[] {
  return Object.entries(series).map(([key, values]) => {
    const [, name = '', own = ''] = /^(\w+)(?:\{(.*)\})?$/.exec(key) ?? [];
    const labels = Object.entries({ ...LABELS, ...labelsOf(own) }).map(([label, value]) => `${label}="${value}"`);
    return { series: `${name}{${labels.join(',')}}`, values };
  });
}

/**
 * The metrics of a running daemon, as if each scrape for four hours had returned the same. Omits the delay of the event loop,
 * which a busy machine raises above the limit of its alert.
 */
export function constantSeries(metrics: string): Series {
  const lines = metrics.split('\n').filter((line) => /^docshelf_(?!event_loop_delay)/.test(line));
  return Object.fromEntries(lines.map((line) => [line.replace(/ \S+$/, ''), `${line.split(' ').at(-1)}x240`]));
}

interface Evaluation {
  readonly series: Series;
  /** Default: `SHIPPED_ALERTS`. */
  readonly rules?: string;
  /** Time of the evaluation, after the first value. */
  readonly at?: string;
  /** Time between two values and between two evaluations. promtool needs a minute for two days of minutes. Default: a minute. */
  readonly step?: string;
}

/** Names of the alerts that fire. */
export function firing({ series, rules = SHIPPED_ALERTS, at = '3h', step }: Evaluation): string[] {
  const { groups } = parse(readFileSync(rules, 'utf8')) as { groups: { rules: { alert: string }[] }[] };
  // promtool reports each alert that fires although none is expected.
  const expectations = groups.flatMap((group) =>
    group.rules.map(({ alert }) => ({ eval_time: at, alertname: alert, exp_alerts: [] })),
  );
  const test = {
    rule_files: [rules],
    evaluation_interval: step ?? (at.endsWith('h') ? '10m' : '1m'),
    tests: [{ interval: step ?? '1m', input_series: seriesOf(series), alert_rule_test: expectations }],
  };
  const folder = mkdtempSync(join(tmpdir(), 'docshelf-promtool-'));
  const file = join(folder, 'test.yaml');
  writeFileSync(file, stringify(test));
  const { stdout, stderr, status } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  const names = Array.from((stdout + stderr).matchAll(/alertname="(\w+)"/g), ([, name = '']) => name);
  if (names.length === 0 && status !== 0) throw new Error(stdout + stderr);
  return [...new Set(names)].sort();
}
