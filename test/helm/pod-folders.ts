import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Manifest } from './chart.ts';

/** Content of Secrets and ConfigMaps outside the chart, by name. */
export type VolumeFiles = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** A container as it would start, with its mounts in a folder of this machine. */
export interface LaidOut {
  /** Returns the path on this machine for a path in the container. */
  readonly here: (path: string) => string;
  readonly args: string[];
  readonly env: Record<string, string>;
}

/**
 * Writes the volumes of a pod's main container into a folder, Secrets and ConfigMaps like the kubelet: files behind a link that
 * is replaced as a whole. A second call updates them. @param isMounted true if a container mounts the folders, false to change
 * the paths in the config
 */
export function layOutPod(
  root: string,
  manifests: readonly Manifest[],
  pod: Manifest,
  volumeFiles: VolumeFiles,
  { isMounted = false }: { readonly isMounted?: boolean } = {},
): LaidOut {
  const [container] = pod.spec.containers;
  const here = (path: string): string => join(root, path);
  const home = (text: string): string => (isMounted ? text : atHome(text, here));
  for (const { name, mountPath } of container.volumeMounts) {
    const volume = pod.spec.volumes.find((each: Manifest) => each.name === name);
    const folder = here(mountPath);
    mkdirSync(folder, { recursive: true });
    const files = filesOf(volume, manifests, volumeFiles);
    if (files === null) continue;
    publish(
      folder,
      Object.fromEntries(
        Object.entries(files).map(([name, text]) => [name, name === 'config.yaml' ? home(text) : text]),
      ),
    );
  }
  const env = Object.fromEntries(
    (container.env ?? []).map(({ name, value }: { name: string; value: string }) => [name, home(value)]),
  );
  return { here, args: (container.args ?? []).map((arg: string) => home(arg)), env };
}

/** Paths that exist only in the container, in the config and its environment. All other text stays as the chart writes it. */
const INSIDE = /(?<![\w./-])\/(?:etc\/docshelf|var\/lib\/docshelf|bundles|sites)(?=[/\s"]|$)/g;

function atHome(text: string, here: (path: string) => string): string {
  return text.replace(INSIDE, (path) => here(path));
}

/** Files of a volume's Secrets and ConfigMaps, limited to its items. Null for other volumes. */
function filesOf(
  volume: Manifest,
  manifests: readonly Manifest[],
  volumeFiles: VolumeFiles,
): Record<string, string> | null {
  if (volume.projected !== undefined) {
    const parts = volume.projected.sources.map((source: Manifest) => filesOf(source, manifests, volumeFiles) ?? {});
    return Object.assign({}, ...parts);
  }
  const source = volume.secret ?? volume.configMap;
  if (source === undefined) return null;
  const name: string = source.secretName ?? source.name;
  const kind = volume.secret === undefined ? 'ConfigMap' : 'Secret';
  const made = manifests.find((each) => each.kind === kind && each.metadata.name === name);
  const data: Record<string, string> =
    made === undefined
      ? { ...volumeFiles[name] }
      : kind === 'ConfigMap'
        ? made.data
        : Object.fromEntries(
            Object.entries(made.data).map(([key, value]) => [key, Buffer.from(String(value), 'base64').toString()]),
          );
  const items: { key: string; path: string }[] = source.items ?? Object.keys(data).map((key) => ({ key, path: key }));
  return Object.fromEntries(
    items.map(({ key, path }) => {
      const text = data[key];
      if (text === undefined) throw new Error(`The ${kind} ${name} has no key ${key}: the pod would not start`);
      return [path, text];
    }),
  );
}

/** Like the kubelet's atomic writer: `<file>` -> `..data/<file>`, and one rename points `..data` to a new folder. */
function publish(folder: string, files: Record<string, string>): void {
  const version = `..${process.hrtime.bigint()}`;
  for (const [name, text] of Object.entries(files)) {
    const file = join(folder, version, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    rmSync(join(folder, name), { force: true });
    symlinkSync(join('..data', name), join(folder, name));
  }
  symlinkSync(version, join(folder, '..data_tmp'));
  renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
}
