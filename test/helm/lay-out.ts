/**
 * Writes the mounts of the site's pod into a folder, for a container without Kubernetes, and prints its options, one per line:
 * node test/helm/lay-out.ts FOLDER CHART [helm's options for values]. A second run with other values updates the running
 * container, like the kubelet.
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
