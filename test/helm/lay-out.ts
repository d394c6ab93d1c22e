/**
 * Lays out what the site's pod mounts below a folder, for a container that is run without Kubernetes, and prints the options for that, one a line:
 *
 *     node test/helm/lay-out.ts FOLDER CHART [helm's options for values]
 *
 * Run again with other values, it brings these to the running container, as the kubelet does.
 */
import { join } from 'node:path';
import { podsOf, siteOf, templateOf } from './chart.ts';
import { layOutPod } from './pod-folders.ts';

const [folder = '', chart = '', ...options] = process.argv.slice(2);
const manifests = templateOf(chart, ...options);
const [pod] = podsOf([siteOf(manifests)]);
const { args, env } = layOutPod(folder, manifests, pod, {}, { isMounted: true });
const mounts: { mountPath: string; readOnly?: boolean }[] = pod?.spec.containers[0].volumeMounts ?? [];
for (const { mountPath, readOnly } of mounts) {
  console.log(`volume ${join(folder, mountPath)}:${mountPath}${readOnly === true ? ':ro' : ''}`);
}
for (const [name, value] of Object.entries(env)) console.log(`env ${name}=${value}`);
console.log(`args ${args.join(' ')}`);
