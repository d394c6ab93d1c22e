import { Ajv, type ValidateFunction } from 'ajv';
import type { Manifest } from './chart.ts';
import { MONITORING_SCHEMAS } from './monitoring-schemas.ts';

type Validate = ((data: unknown) => boolean) & {
  errors?: readonly { instancePath: string; message?: string; keyword: string; params: unknown }[] | null;
};

/** Validators of Kubernetes 1.35 and the Gateway API from their npm packages, by apiVersion and kind. */
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

/** Errors of a manifest: those of its schema, and fields that the schema lacks. */
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

/** Records the fields that a validator reads. The validators accept unknown fields, like the API server, but never read them. */
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

/** Fields of a manifest. Items of lists have no names, but their fields have. */
function pathsOf(value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) => [
    ...(Array.isArray(value) ? [] : [`${path}/${key}`]),
    ...pathsOf(child, `${path}/${key}`),
  ]);
}
