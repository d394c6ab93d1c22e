import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { OTHER_NAMES } from '../../scripts/chart/other-names.ts';
import { newFolder } from '../helpers/new-folder.ts';
import { CHART, configOf, EVERYTHING, fetchHelm, type Manifest, only, template, templateOf } from './chart.ts';
import { manifestFaults } from './manifest-faults.ts';

const dir = newFolder();
const file = join(dir, 'values.yaml');
const SCHEMA = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8'));
beforeAll(fetchHelm, 120_000);

function templateOfValues(values: string): Manifest[] {
  writeFileSync(file, values);
  return template('--values', file);
}

function refusalOf(values: string): string {
  try {
    templateOfValues(values);
  } catch (error) {
    return String((error as { stderr: unknown }).stderr);
  }
  throw new Error(`helm accepted the values: ${values}`);
}

/** Settings of the charts of bitnami/nginx, grafana, argo-cd and `helm create`: values, kind of the object, and its changed part. */
type Setting = readonly [values: string, place: string, expected: unknown];
const POD = 'Deployment spec.template.spec';
const MAIN = `${POD}.containers.0`;

/** Settings that stand in the place of `%`, and have the same names and values in the manifest. */
const passed = (values: string, place: string, settings: string): Setting[] =>
  Object.entries(parse(`{ ${settings} }`)).map(([name, value]) => [
    values.replace('%', `${name}: ${JSON.stringify(value)}`),
    `${place}.${name}`,
    value,
  ]);
/** Labels and annotations, or one of them, in the place of `%`. */
const noted = (values: string, metadata: string, ...fields: string[]): Setting[] =>
  fields.map((field) => [values.replace('%', `${field}: { a: b }`), `${metadata}.${field}.a`, 'b']);

const ROUTE = 'httpRoute: { enabled: true, parentRefs: [{ name: g }], hosts: [{ host: a.example }], % }';
const BALANCED = 'service: { type: LoadBalancer, externalTrafficPolicy: Local, % }';
const SETTINGS: readonly Setting[] = [
  ...passed('%', POD, 'priorityClassName: high, runtimeClassName: gvisor, schedulerName: mine, dnsPolicy: Default'),
  ...passed(
    '%',
    POD,
    'nodeSelector: { disk: ssd }, tolerations: [{ operator: Exists }], terminationGracePeriodSeconds: 90',
  ),
  ...passed('%', POD, 'hostAliases: [{ ip: 10.0.0.1, hostnames: [a] }]'),
  ...passed(
    '%',
    'Deployment spec',
    'replicas: 0, minReadySeconds: 9, revisionHistoryLimit: 2, progressDeadlineSeconds: 90',
  ),
  ...passed(
    'service: { % }',
    'Service spec',
    'clusterIP: 10.0.0.9, externalIPs: [192.0.2.1], sessionAffinity: ClientIP',
  ),
  ...passed('service: { % }', 'Service spec', 'sessionAffinityConfig: { clientIP: { timeoutSeconds: 9 } }'),
  ...passed('service: { % }', 'Service spec', 'ipFamilyPolicy: PreferDualStack, ipFamilies: [IPv6, IPv4]'),
  ...passed('service: { % }', 'Service spec', 'internalTrafficPolicy: Local'),
  ...passed('service: { type: NodePort, % }', 'Service spec', 'externalTrafficPolicy: Local'),
  ...passed(BALANCED, 'Service spec', 'healthCheckNodePort: 30090, allocateLoadBalancerNodePorts: false'),
  ...passed(BALANCED, 'Service spec', 'loadBalancerIP: 192.0.2.1, loadBalancerClass: lan'),
  ...passed(BALANCED, 'Service spec', 'loadBalancerSourceRanges: [10.0.0.0/8]'),
  ...passed('autoscaling: { enabled: true, % }', 'HorizontalPodAutoscaler spec', 'maxReplicas: 9'),
  ...passed(
    'autoscaling: { enabled: true, % }',
    'HorizontalPodAutoscaler spec',
    'behavior: { scaleDown: { stabilizationWindowSeconds: 60 } }',
  ),
  ...passed('persistence: { % }', 'PersistentVolumeClaim spec', 'volumeName: v, selector: { matchLabels: { a: b } }'),
  ...passed(
    'persistence: { % }',
    'PersistentVolumeClaim spec',
    'dataSource: { kind: PersistentVolumeClaim, name: old }',
  ),
  ...passed(
    'serviceMonitor: { enabled: true, % }',
    'ServiceMonitor spec.endpoints.0',
    'scrapeTimeout: 5s, metricRelabelings: [{ sourceLabels: [a], targetLabel: b }]',
  ),
  ...noted('service: { % }', 'Service metadata', 'labels'),
  ...noted('ingress: { enabled: true, hosts: [a.example], % }', 'Ingress metadata', 'labels', 'annotations'),
  ...noted(ROUTE, 'HTTPRoute metadata', 'labels'),
  ...noted('persistence: { % }', 'PersistentVolumeClaim metadata', 'labels', 'annotations'),
  ...noted('serviceAccount: { create: true, % }', 'ServiceAccount metadata', 'labels'),
  ...noted('networkPolicy: { % }', 'NetworkPolicy metadata', 'annotations'),
  ...noted('prometheusRule: { enabled: true, % }', 'PrometheusRule metadata', 'annotations'),
  ['deploymentLabels: { tier: web }', 'Deployment metadata.labels.tier', 'web'],
  ['podAnnotations: { a: b }', 'Deployment spec.template.metadata.annotations.a', 'b'],
  ['podLabels: { a: b }', 'Deployment spec.template.metadata.labels.a', 'b'],
  ['image: { registry: r.example, repository: a/b, tag: "1.10" }', `${MAIN}.image`, 'r.example/a/b:1.10'],
  [`image: { digest: "sha256:${'a'.repeat(64)}" }`, `${MAIN}.image`, `docshelf@sha256:${'a'.repeat(64)}`],
  ['image: { pullPolicy: Always }', `${MAIN}.imagePullPolicy`, 'Always'],
  [
    'global: { imageRegistry: g.example }\nimage: { registry: r.example, tag: "7" }',
    `${MAIN}.image`,
    'g.example/docshelf:7',
  ],
  ['imagePullSecrets: [one, { name: two }]', `${POD}.imagePullSecrets`, [{ name: 'one' }, { name: 'two' }]],
  ['global: { imagePullSecrets: [one] }', `${POD}.imagePullSecrets`, [{ name: 'one' }]],
  ['global: { storageClass: slow }', 'PersistentVolumeClaim spec.storageClassName', 'slow'],
  ['nameOverride: docs', 'Service metadata.labels.app\\.kubernetes\\.io/name', 'docs'],
  ['fullnameOverride: handbook', 'Service metadata.name', 'handbook'],
  ['commonLabels: { team: docs }', 'ConfigMap metadata.labels.team', 'docs'],
  ['commonAnnotations: { team: "{{ .Release.Name }}" }', 'ConfigMap metadata.annotations.team', 'docshelf'],
  ['deploymentAnnotations: { reload: "yes" }', 'Deployment metadata.annotations.reload', 'yes'],
  ['service: { type: NodePort, nodePort: 30080 }', 'Service spec.ports.0.nodePort', 30_080],
  ['service: { type: NodePort, apiNodePort: 30081 }', 'Service spec.ports.1.nodePort', 30_081],
  ['service: { port: 8080 }', 'Service spec.ports.0.port', 8080],
  ['service: { annotations: { a: "{{ .Release.Namespace }}" } }', 'Service metadata.annotations.a', 'docs'],
  ['service: { extraPorts: [{ name: auth, port: 4180, targetPort: 4180 }] }', 'Service spec.ports.2.name', 'auth'],
  ['ingress: { enabled: true, hosts: [docs.example] }', 'Ingress spec.rules.0.host', 'docs.example'],
  [
    'ingress: { enabled: true, hosts: [{ host: "{{ .Release.Name }}.example", path: /a }] }',
    'Ingress spec.rules.0.host',
    'docshelf.example',
  ],
  ['ingress: { enabled: true, hosts: [a.example], className: nginx }', 'Ingress spec.ingressClassName', 'nginx'],
  [
    'ingress: { enabled: true, hosts: [a.example], pathType: ImplementationSpecific }',
    'Ingress spec.rules.0.http.paths.0.pathType',
    'ImplementationSpecific',
  ],
  [
    'ingress: { enabled: true, hosts: [a.example], tls: [{ secretName: "{{ .Release.Name }}-tls" }] }',
    'Ingress spec.tls.0.secretName',
    'docshelf-tls',
  ],
  [
    'httpRoute: { enabled: true, parentRefs: [{ name: g }], hosts: [{ host: "{{ .Release.Name }}.example" }] }',
    'HTTPRoute spec.hostnames.0',
    'docshelf.example',
  ],
  [
    'ingress: { enabled: true, hosts: [{ host: a.example, paths: [{ path: /a, pathType: Exact }, /b] }] }',
    'Ingress spec.rules.0.http.paths.0.pathType',
    'Exact',
  ],
  [
    'ingress: { enabled: true, hosts: [{ host: a.example, paths: [{ path: /a, pathType: Exact }, /b] }] }',
    'Ingress spec.rules.0.http.paths.1',
    {
      path: '/b',
      pathType: 'Prefix',
      backend: { service: { name: 'docshelf', port: { number: 80 } } },
    },
  ],
  ['resources: { limits: { memory: 2Gi } }', `${MAIN}.resources.limits.memory`, '2Gi'],
  [
    'autoscaling: { enabled: true, targetMemoryUtilizationPercentage: 80 }',
    'HorizontalPodAutoscaler spec.metrics.1.resource',
    { name: 'memory', target: { type: 'Utilization', averageUtilization: 80 } },
  ],
  [
    'autoscaling: { enabled: true, targetCPUUtilizationPercentage: null, metrics: [{ type: Pods, pods: { metric: { name: m }, target: { type: AverageValue, averageValue: "9" } } }] }',
    'HorizontalPodAutoscaler spec.metrics.0.type',
    'Pods',
  ],
  ['replicas: 2\npodDisruptionBudget: { minAvailable: 50% }', 'PodDisruptionBudget spec.minAvailable', '50%'],
  ['replicas: 2\npodDisruptionBudget: { minAvailable: 1 }', 'PodDisruptionBudget spec.maxUnavailable', undefined],
  ['replicas: 3\npodDisruptionBudget: { maxUnavailable: 2 }', 'PodDisruptionBudget spec.maxUnavailable', 2],
  [
    'replicas: 2\npodDisruptionBudget: { unhealthyPodEvictionPolicy: AlwaysAllow }',
    'PodDisruptionBudget spec.unhealthyPodEvictionPolicy',
    'AlwaysAllow',
  ],
  ['persistence: { size: 3Gi }', 'PersistentVolumeClaim spec.resources.requests.storage', '3Gi'],
  ['persistence: { storageClass: fast }', 'PersistentVolumeClaim spec.storageClassName', 'fast'],
  ['persistence: { storageClass: "-" }', 'PersistentVolumeClaim spec.storageClassName', ''],
  ['persistence: { accessModes: [ReadWriteMany] }', 'Deployment spec.strategy.type', 'RollingUpdate'],
  ['persistence: { existingClaim: mine }', `${POD}.volumes.1.persistentVolumeClaim.claimName`, 'mine'],
  ['persistence: { existingClaim: mine, subPath: docs }', `${MAIN}.volumeMounts.1.subPath`, 'docs'],
  ['persistence: { keep: true }', 'PersistentVolumeClaim metadata.annotations.helm\\.sh/resource-policy', 'keep'],
  ['persistence: { enabled: false }', 'Deployment spec.strategy.rollingUpdate.maxUnavailable', 0],
  [
    'serviceAccount: { create: true, annotations: { a: "{{ .Release.Name }}" } }',
    'ServiceAccount metadata.annotations.a',
    'docshelf',
  ],
  ['serviceAccount: { name: mine, automount: true }', `${POD}.automountServiceAccountToken`, true],
  ['serviceMonitor: { enabled: true, namespace: monitoring }', 'ServiceMonitor metadata.namespace', 'monitoring'],
  [
    'serviceMonitor: { enabled: true, relabelings: [{ sourceLabels: [a], targetLabel: b }] }',
    'ServiceMonitor spec.endpoints.0.relabelings.1.targetLabel',
    'b',
  ],
  [
    'dashboard: { enabled: true, namespace: grafana }',
    'ConfigMap/docshelf-dashboard metadata.labels.grafana_dashboard',
    '1',
  ],
  [
    'updateStrategy: { type: RollingUpdate, rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } }',
    'Deployment spec.strategy.rollingUpdate.maxUnavailable',
    1,
  ],
  ['updateStrategy: { type: Recreate }', 'Deployment spec.strategy', { type: 'Recreate' }],
  ['probes: { liveness: { initialDelaySeconds: 9 } }', `${MAIN}.livenessProbe.initialDelaySeconds`, 9],
  ['probes: { liveness: { exec: { command: ["true"] } } }', `${MAIN}.livenessProbe.httpGet`, undefined],
  ['probes: { startup: null }', `${MAIN}.startupProbe`, undefined],
  ['lifecycle: { preStop: { exec: { command: ["true"] } } }', `${MAIN}.lifecycle.preStop.exec.command`, ['true']],
  ['podSecurityContext: { fsGroup: 9 }', `${POD}.securityContext.fsGroup`, 9],
  ['securityContext: { runAsUser: 9 }', `${MAIN}.securityContext.runAsUser`, 9],
  [
    'affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: zone, labelSelector: { matchLabels: { app.kubernetes.io/instance: "{{ .Release.Name }}" } } }] } }',
    `${POD}.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution.0.labelSelector.matchLabels.app\\.kubernetes\\.io/instance`,
    'docshelf',
  ],
  [
    'topologySpreadConstraints: [{ maxSkew: 2, topologyKey: zone, whenUnsatisfiable: DoNotSchedule }]',
    `${POD}.topologySpreadConstraints.0.labelSelector.matchLabels.app\\.kubernetes\\.io/component`,
    'site',
  ],
  ['dnsPolicy: None\ndnsConfig: { nameservers: [10.0.0.1] }', `${POD}.dnsConfig.nameservers`, ['10.0.0.1']],
  ['tmp: { sizeLimit: 1Gi }', `${POD}.volumes.2.emptyDir`, { sizeLimit: '1Gi' }],
  ['tmp: { medium: Memory }', `${POD}.volumes.2.emptyDir`, { medium: 'Memory' }],
  ['initContainers: [{ name: a, image: "{{ .Chart.Name }}" }]', `${POD}.initContainers.0.image`, 'docshelf'],
  ['extraContainers: [{ name: c, image: b }]', `${POD}.containers.1`, { name: 'c', image: 'b' }],
  ['extraEnv: [{ name: A, value: "{{ .Release.Name }}" }]', `${MAIN}.env.1.value`, 'docshelf'],
  [
    'extraEnv: [{ name: A, valueFrom: { fieldRef: { fieldPath: metadata.name } } }]',
    `${MAIN}.env.1.valueFrom.fieldRef.fieldPath`,
    'metadata.name',
  ],
  ['envFrom: [{ secretRef: { name: s } }]', `${MAIN}.envFrom`, [{ secretRef: { name: 's' } }]],
  [
    'extraVolumes: [{ name: a, configMap: { name: "{{ .Release.Name }}-a" } }]',
    `${POD}.volumes.3.configMap.name`,
    'docshelf-a',
  ],
  [
    'extraVolumes: [{ name: a, emptyDir: {} }]\nextraVolumeMounts: [{ name: a, mountPath: /a }]',
    `${MAIN}.volumeMounts.3.mountPath`,
    '/a',
  ],
  [
    'extraObjects: [{ apiVersion: v1, kind: ServiceAccount, metadata: { name: "{{ .Release.Name }}-a" } }]',
    'ServiceAccount metadata.name',
    'docshelf-a',
  ],
];

/** Value at `Kind/name a.b.0`. A dot after a backslash belongs to a name. */
function valueAt(manifests: readonly Manifest[], place: string): unknown {
  const [object = '', path = ''] = place.split(' ');
  const [kind = '', name] = object.split('/');
  const found = name === undefined ? manifests.filter((each) => each.kind === kind) : [only(manifests, kind, name)];
  return path.split(/(?<!\\)\./).reduce((node: Manifest, key) => node?.[key.replaceAll('\\', '')], found[0]);
}

type Values = Readonly<Record<string, unknown>>;

const isValues = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Both values together. @throws Error if they set one key differently */
function merged(one: unknown, other: unknown): unknown {
  if (one === undefined || JSON.stringify(one) === JSON.stringify(other)) return other;
  if (!isValues(one) || !isValues(other)) throw new Error('the values set one key differently');
  return { ...one, ...Object.fromEntries(Object.entries(other).map(([key, value]) => [key, merged(one[key], value)])) };
}

/** Rows that render together, because a start of helm takes longer than the rest of the test. */
function grouped<Row>(rows: readonly Row[], valuesOf: (row: Row) => string, areApart: (a: Row, b: Row) => boolean) {
  const groups: { values: unknown; rows: Row[] }[] = [];
  for (const row of rows) {
    const values = parse(valuesOf(row));
    const group = groups.find((each) => {
      if (each.rows.some((other) => areApart(row, other))) return false;
      try {
        each.values = merged(each.values, values);
        return true;
      } catch {
        return false;
      }
    });
    if (group === undefined) groups.push({ values, rows: [row] });
    else group.rows.push(row);
  }
  return groups;
}

/** Settings that change the place or the meaning of other settings. */
const ALONE =
  /Override|global|^image|replicas: 0|null|extraObjects|updateStrategy|persistence: \{ (?:enabled|existingClaim)/;
const GROUPS = grouped(
  SETTINGS,
  ([values]) => {
    const isMany = /replicas: [23]|autoscaling: \{ enabled/.test(values);
    return isMany ? `${values}\npersistence: { accessModes: [ReadWriteMany] }` : values;
  },
  (a, b) => ALONE.test(a[0]) || ALONE.test(b[0]) || a[1] === b[1],
);

describe('usual settings of the chart', () => {
  it.each(GROUPS)(
    'take effect in valid manifests: the group of settings that starts with $rows.0.0',
    async ({ values, rows }) => {
      const manifests = templateOfValues(JSON.stringify(values));
      for (const [row, place, expected] of rows) expect.soft(valueAt(manifests, place), row).toEqual(expected);
      expect((await Promise.all(manifests.map(manifestFaults))).flat()).toEqual([]);
    },
  );

  it('are rejected under a name that other charts use, and the error contains the name in this chart', () => {
    const values = Object.keys(OTHER_NAMES).map((name) =>
      name.split('.').reduceRight<unknown>((value, key) => ({ [key]: value }), { a: 1 }),
    );
    const text = refusalOf(JSON.stringify(values.reduce(merged)));
    for (const [name, advice] of Object.entries(OTHER_NAMES)) {
      expect(text).toContain(`${name} is not a value of this chart: ${advice}`);
    }
    expect(text).not.toContain('meet the specifications of the schema');
  });

  it('are rejected under an unknown name', () => {
    expect(refusalOf('gitea: {}')).toMatch(/additional properties .gitea. not allowed/);
    expect(refusalOf('service: { nodeport: 1 }')).toMatch(/additional properties .nodeport. not allowed/);
  });

  it('exist under each name that the chart suggests in an error about a name of another chart', () => {
    const ofKubernetes = new Set(['configMapRef', 'secretRef', 'valueFrom', 'podSecurityContext.fsGroup']);
    const namesIn = (advice: string) =>
      advice.match(/\b[a-z]+(?:[A-Z][a-zA-Z]*|(?:\.[a-zA-Z]+)+)(?:\.[a-zA-Z]+)*/g) ?? [];
    const names = Object.values(OTHER_NAMES).flatMap(namesIn);
    for (const name of names.filter((each) => !ofKubernetes.has(each) && !each.startsWith('config.'))) {
      const found = name.split('.').reduce((node: Manifest, key) => node?.properties?.[key] ?? node?.[key], SCHEMA);
      expect(found, name).toBeDefined();
      expect(Object.keys(OTHER_NAMES), name).not.toContain(name);
    }
  });
});

interface ValuesFile {
  readonly name: string;
  readonly values: string;
  /** Values in the manifests, by place. */
  readonly accepted?: Readonly<Record<string, unknown>>;
  /** All sentences of the rejection. */
  readonly rejected?: readonly string[];
}
const VALUES_FILES: readonly ValuesFile[] = parse(readFileSync(join(import.meta.dirname, 'other-charts.yaml'), 'utf8'));

describe('values files that were written for other charts', () => {
  it.each(VALUES_FILES.filter(({ accepted }) => accepted))(
    'take effect if this chart has values of the same names: $name',
    async ({ values, accepted }) => {
      const manifests = templateOfValues(values);
      for (const [place, expected] of Object.entries(accepted ?? {})) {
        expect(valueAt(manifests, place), place).toEqual(expected);
      }
      expect((await Promise.all(manifests.map(manifestFaults))).flat()).toEqual([]);
    },
  );

  it.each(VALUES_FILES.filter(({ rejected }) => rejected))(
    'are rejected with a sentence for each wrong value: $name',
    ({ values, rejected }) => {
      const lines = refusalOf(values).split('\n');
      const sentences = lines.flatMap((line) => line.match(/at '\/.*|[\w.]+ is not a value of this chart.*/) ?? []);
      expect(sentences.toSorted()).toEqual(rejected);
    },
  );
});

describe('an upgrade to a newer chart', () => {
  it('does not replace pods if only the version of the chart changes', () => {
    const newer = join(dir, 'newer');
    cpSync(CHART, newer, { recursive: true });
    const chart = readFileSync(join(newer, 'Chart.yaml'), 'utf8');
    writeFileSync(join(newer, 'Chart.yaml'), chart.replace(/^(version|appVersion):.*$/gm, '$1: "9.9.9"'));
    const options = ['--set', 'image.tag=1', '--set', 'exportApi.enabled=true', '--set', 'config.reload=restart'];
    const podsOfChart = (path: string) =>
      templateOf(path, ...options)
        .filter(({ kind }) => kind === 'Deployment')
        .map(({ spec }) => spec);
    expect(podsOfChart(newer)).toEqual(podsOfChart(CHART));
    const labels = only(templateOf(newer, ...options), 'Deployment', 'docshelf').metadata.labels;
    expect(labels).toMatchObject({ 'helm.sh/chart': 'docshelf-9.9.9', 'app.kubernetes.io/version': '9.9.9' });
  });

  it('starts new export API pods before it ends old pods, except for pods with a volume', () => {
    const strategyOf = (enabled: boolean) =>
      only(
        templateOfValues(`exportApi: { enabled: true, persistence: { enabled: ${enabled} } }`),
        'Deployment',
        'docshelf-export',
      ).spec.strategy;
    expect(strategyOf(false)).toEqual({ type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } });
    expect(strategyOf(true)).toEqual({ type: 'Recreate' });
  });
});

describe('common labels and annotations of the chart', () => {
  it('are on every object and pod, and on no selector', () => {
    const options = ['--set', 'commonAnnotations.owner=docs', '--set', 'dashboard.enabled=true'];
    const manifests = template('--values', EVERYTHING, ...options).filter(({ metadata }) => {
      return !/-(extra|text)$/.test(metadata.name);
    });
    expect(new Set(manifests.map(({ kind }) => kind)).size).toBeGreaterThan(12);
    for (const { kind, metadata, spec } of manifests) {
      expect(metadata, `${kind} ${metadata.name}`).toMatchObject({
        labels: { team: 'docs' },
        annotations: { owner: 'docs' },
      });
      if (kind !== 'Deployment') continue;
      expect(spec.template.metadata).toMatchObject({ labels: { team: 'docs' }, annotations: { owner: 'docs' } });
      expect(spec.selector.matchLabels).not.toHaveProperty('team');
    }
  });
});

describe('a version without quotes in the values of the chart', () => {
  it.each([
    ['staticExport: { version: 3.10 }', 'staticExport.version', 'version'],
    ['staticExport: { minVersion: 3.10 }', 'staticExport.minVersion', 'minVersion'],
    ['image: { tag: 3.10 }', 'image.tag', 'tag'],
    ['sites: [{ domain: a, staticExport: { version: 3.10 } }]', 'sites[0].staticExport.version', 'version'],
  ])('is rejected, and the error shows the version in quotes: %s', (values, key, name) => {
    const text = refusalOf(values);
    expect(text).toContain(`${key} is the number 3.1, because it has no quotes`);
    expect(text).toContain(`${name}: "3.10"`);
  });

  it('is accepted if it has only digits', () => {
    const { staticExport } = configOf(templateOfValues('staticExport: { version: 20240601, minVersion: 7 }'));
    expect(staticExport).toMatchObject({ version: '20240601', minVersion: '7' });
  });
});
