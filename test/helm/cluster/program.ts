/**
 * Replaces kubectl and helm for calls that need a cluster: `node program.ts kubectl|helm ...`. The real programs do the rest:
 * helm renders, and kubectl creates manifests. The "cluster" is a folder (DOCSHELF_CLUSTER): manifests.yaml of the release,
 * objects.json of applied objects, and the volumes of the pod, which are updated at each change like the kubelet does.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { HELM, KUBECTL, type Manifest, only, parseManifests, podsOf, ROOT } from '../chart.ts';
import { manifestFaults } from '../manifest-faults.ts';
import { layOutPod, type VolumeFiles } from '../pod-folders.ts';
import { OWN_PORTS } from './own-ports.ts';

/** Also adds new defaults of the chart. `--reuse-values` would leave them nil. */
const REUSE = '--reset-then-reuse-values';

const cluster = process.env.DOCSHELF_CLUSTER ?? '';
const at = (name: string): string => join(cluster, name);
const [program = '', ...args] = process.argv.slice(2);

const read = (name: string): string => (existsSync(at(name)) ? readFileSync(at(name), 'utf8') : '');
const objects = (): VolumeFiles => JSON.parse(read('objects.json') || '{}') as VolumeFiles;
const manifests = (): Manifest[] => parseManifests(read('manifests.yaml'));

/** Value of an option, as `--name value` or `--name=value`. */
function option(name: string): string | undefined {
  const index = args.indexOf(name);
  return index >= 0 ? args[index + 1] : args.find((arg) => arg.startsWith(`${name}=`))?.slice(name.length + 1);
}

async function main(): Promise<void> {
  if (program === 'helm') return helm();
  // The namespace does not matter, because the cluster contains one release.
  const verb = args.filter((arg, index) => !arg.startsWith('-') && args[index - 1] !== '--namespace')[0];
  switch (verb) {
    case 'create':
      return create();
    case 'apply':
      return apply(parseManifests(readFileSync(0, 'utf8')));
    case 'rollout':
      return rollout();
    case 'exec':
      return exec();
    case 'logs':
      return void process.stdout.write(read('log'));
    default:
      throw new Error(`the stand-in of kubectl does not know "${verb}"`);
  }
}

async function helm(): Promise<void> {
  if (args[0] === 'test') return testRelease();
  if (args[0] === 'upgrade') return upgrade();
  execFileSync(HELM, args, { stdio: 'inherit' });
}

async function upgrade(): Promise<void> {
  const files = args.slice(1).filter((arg) => !['--install', '--create-namespace', REUSE].includes(arg));
  const former = args.includes(REUSE) ? (JSON.parse(read('values.json')) as string[]) : [];
  const isValue = (index: number): boolean => /^--(?:set|values|set-file)$/.test(files[index] ?? '');
  const values = [...former, ...files.flatMap((arg, index) => (isValue(index) ? [arg, files[index + 1] ?? ''] : []))];
  const rest = files.filter((_, index) => !isValue(index) && !isValue(index - 1));
  const text = execFileSync(HELM, ['template', ...rest, ...values], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const faults = (await Promise.all(parseManifests(text).map(manifestFaults))).flat();
  if (faults.length > 0) throw new Error(faults.join('\n'));
  writeFileSync(at('values.json'), JSON.stringify(values));
  writeFileSync(at('manifests.yaml'), text);
  bringToPods();
}

/** The pod waits like a real one if a mounted object is missing. */
function bringToPods(): void {
  const all = manifests();
  for (const { owner, metadata, spec } of podsOf(all)) {
    if (owner !== 'Deployment/docshelf') continue;
    const { args: command, env } = layOutPod(at('pod'), all, { metadata, spec }, objects());
    writeFileSync(at('pod.json'), JSON.stringify({ command, env }));
  }
}

async function create(): Promise<void> {
  const text = execFileSync(
    KUBECTL,
    [...args.filter((arg) => !arg.startsWith('--dry-run')), '--dry-run=client', '--output=yaml'],
    {
      encoding: 'utf8',
    },
  );
  if (option('--dry-run') !== undefined) process.stdout.write(text);
  else if (!args.includes('namespace')) await apply(parseManifests(text));
}

async function apply(applied: Manifest[]): Promise<void> {
  const all: Record<string, Record<string, string>> = { ...objects() };
  for (const manifest of applied) {
    // kubectl writes the creation time, which is null before the object exists.
    delete manifest.metadata.creationTimestamp;
    const faults = await manifestFaults(manifest);
    if (faults.length > 0) throw new Error(faults.join('\n'));
    const isSecret = manifest.kind === 'Secret';
    all[manifest.metadata.name] = Object.fromEntries(
      Object.entries(manifest.data as Record<string, string>).map(([key, value]) => [
        key,
        isSecret ? Buffer.from(value, 'base64').toString() : value,
      ]),
    );
  }
  writeFileSync(at('objects.json'), JSON.stringify(all));
  if (existsSync(at('manifests.yaml'))) bringToPods();
}

const addresses = (): { site: string; admin: string } | null => JSON.parse(read('addresses.json') || 'null');

async function rollout(): Promise<void> {
  for (let tries = 0; tries < 300; tries += 1) {
    const admin = addresses()?.admin;
    const answer = admin === undefined ? null : await fetch(`${admin}/readyz`).catch(() => null);
    if (answer?.ok === true) return;
    await sleep(100);
  }
  throw new Error('the rollout does not come to its end');
}

function exec(): void {
  const [command, ...rest] = args.slice(args.indexOf('--') + 1);
  if (command !== 'docshelf') throw new Error(`the image has no program ${command}`);
  const { env } = JSON.parse(read('pod.json')) as { env: Record<string, string> };
  const { status } = spawnSync(process.execPath, [join(ROOT, 'dist/main.js'), ...rest], {
    env: { PATH: process.env.PATH ?? '', ...env, ...OWN_PORTS },
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
}

/** Runs the command of the test's pod, with the address of the daemon instead of the service. */
function testRelease(): void {
  const { spec } = only(manifests(), 'Pod');
  const [node, ...command] = (spec.containers[0].command as string[]).map((arg) =>
    arg.replace(/^http:\/\/docshelf\.docs\.svc:80(?=\/|$)/, addresses()?.site ?? arg),
  );
  if (node !== 'node') throw new Error(`the test runs ${node}`);
  process.exitCode = spawnSync(process.execPath, command, { stdio: 'inherit' }).status ?? 1;
}

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
