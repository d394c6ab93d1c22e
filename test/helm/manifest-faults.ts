import { Ajv, type ValidateFunction } from 'ajv';
import type { Manifest } from './chart.ts';
import { MONITORING_SCHEMAS } from './monitoring-schemas.ts';

type Validate = ((data: unknown) => boolean) & {
  errors?: readonly { instancePath: string; message?: string; keyword: string; params: unknown }[] | null;
};

/** The validators of Kubernetes 1.35 and of the Gateway API, which come with their npm packages, by apiVersion and kind. */
const PUBLISHED: Readonly<Record<string, string>> = {
  'v1 ConfigMap': 'kubernetes-models/_schemas/IoK8sApiCoreV1ConfigMap',
  'v1 Secret': 'kubernetes-models/_schemas/IoK8sApiCoreV1Secret',
  'v1 Service': 'kubernetes-models/_schemas/IoK8sApiCoreV1Service',
  'v1 ServiceAccount': 'kubernetes-models/_schemas/IoK8sApiCoreV1ServiceAccount',
  'v1 PersistentVolumeClaim': 'kubernetes-models/_schemas/IoK8sApiCoreV1PersistentVolumeClaim',
  'v1 Pod': 'kubernetes-models/_schemas/IoK8sApiCoreV1Pod',
  'apps/v1 Deployment': 'kubernetes-models/_schemas/IoK8sApiAppsV1Deployment',
  'autoscaling/v2 HorizontalPodAutoscaler': 'kubernetes-models/_schemas/IoK8sApiAutoscalingV2HorizontalPodAutoscaler',
  'policy/v1 PodDisruptionBudget': 'kubernetes-models/_schemas/IoK8sApiPolicyV1PodDisruptionBudget',
  'networking.k8s.io/v1 NetworkPolicy': 'kubernetes-models/_schemas/IoK8sApiNetworkingV1NetworkPolicy',
  'networking.k8s.io/v1 Ingress': 'kubernetes-models/_schemas/IoK8sApiNetworkingV1Ingress',
  'gateway.networking.k8s.io/v1 HTTPRoute':
    '@kubernetes-models/gateway-api/_schemas/IoK8sSigsGatewayApiApisV1HTTPRoute',
};

/** What is wrong with a manifest: what its schema says, and every field that its schema does not know. */
export async function manifestFaults(manifest: Manifest): Promise<string[]> {
  const type = `${manifest.apiVersion} ${manifest.kind}`;
  const own = MONITORING_SCHEMAS[type];
  if (own !== undefined) {
    const check: ValidateFunction = new Ajv({ allErrors: true }).compile(own);
    check(manifest);
    return (check.errors ?? []).map(({ instancePath, message }) => `${type} ${instancePath} ${message}`);
  }
  const module = PUBLISHED[type];
  if (module === undefined) return [`${type} has no schema here`];
  const { validate } = (await import(module)) as { validate: Validate };
  const looked = new Set<string>();
  const isValid = validate(watched(manifest, '', looked));
  const faults = isValid
    ? []
    : (validate.errors ?? []).map(
        ({ instancePath, keyword, params }) => `${instancePath} ${keyword} ${JSON.stringify(params)}`,
      );
  const unknown = pathsOf(manifest, '').filter((path) => !looked.has(path));
  return [...faults, ...unknown.map((path) => `${path} is unknown`)].map((fault) => `${type} ${fault}`);
}

/**
 * The published validators let unknown fields pass, as the API server does by default. They read every field that they know,
 * so a field that is never read is one that they do not know.
 */
function watched<T extends object>(data: T, path: string, looked: Set<string>): T {
  return new Proxy(data, {
    get(target, key, receiver) {
      const value: unknown = Reflect.get(target, key, receiver);
      if (typeof key !== 'string' || !Object.hasOwn(target, key)) return value;
      const at = `${path}/${key}`;
      looked.add(at);
      return typeof value === 'object' && value !== null ? watched(value, at, looked) : value;
    },
  });
}

/** Every field of a manifest; the items of lists have no names, and what is in them does. */
function pathsOf(value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) => [
    ...(Array.isArray(value) ? [] : [`${path}/${key}`]),
    ...pathsOf(child, `${path}/${key}`),
  ]);
}
