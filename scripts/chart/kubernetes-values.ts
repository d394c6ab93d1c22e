import { type TProperties, type TSchema, Type } from 'typebox';

/** Values of the chart for Kubernetes. Kubernetes itself checks objects that the chart passes on unchanged. */

const group = (properties: TProperties, description: string) =>
  Type.Object(Object.fromEntries(Object.entries(properties).map(([key, schema]) => [key, Type.Optional(schema)])), {
    additionalProperties: false,
    description,
  });
const text = (description: string) => Type.String({ description });
const flag = (description: string) => Type.Boolean({ description });
const count = (minimum: number, description: string) => Type.Integer({ minimum, description });
const port = (description: string) => Type.Integer({ minimum: 1, maximum: 65_535, description });
const passedOn = (description: string) => Type.Object({}, { additionalProperties: true, description });
const passedOnList = (description: string) => Type.Array(passedOn(''), { description });
const words = (description: string) => Type.Record(Type.String(), Type.String(), { description });
const oneOf = (choices: readonly string[], description: string) => Type.Unsafe<string>({ enum: choices, description });
const some = (items: TSchema, description: string) => Type.Array(items, { description });

export const nameAndKey = Type.Object(
  {
    name: Type.String({ minLength: 1, description: 'Name of the Secret or ConfigMap.' }),
    key: Type.String({ minLength: 1, description: 'Key in the Secret or ConfigMap.' }),
  },
  { additionalProperties: false },
);

/** IPv4 or IPv6 network, such as 10.0.0.0/8 or fd00::/8. */
const CIDR =
  '^(?:\\d{1,3}(?:\\.\\d{1,3}){3}/(?:\\d|[12]\\d|3[0-2])|[0-9a-fA-F]{0,4}:[0-9a-fA-F:.]*/(?:\\d|[1-9]\\d|1[01]\\d|12[0-8]))$';

/** Handlers of a probe, each of which replaces the request that the chart sets. */
const HANDLERS = ['exec', 'grpc', 'httpGet', 'tcpSocket'];

const probe = (description: string) =>
  Type.Union(
    [
      group(
        {
          ...Object.fromEntries(HANDLERS.map((name) => [name, passedOn('Check, instead of the check of the chart.')])),
          initialDelaySeconds: count(0, 'Seconds until the first check.'),
          periodSeconds: count(1, 'Seconds between two checks.'),
          timeoutSeconds: count(1, 'Maximum seconds for a response.'),
          failureThreshold: count(1, 'Number of failed checks in a row after which the probe fails.'),
          successThreshold: count(1, 'Number of successful checks in a row after which the probe succeeds.'),
          terminationGracePeriodSeconds: count(1, 'Seconds in which a failed pod must end.'),
        },
        '',
      ),
      Type.Null(),
    ],
    { description },
  );

const resources = (of: string) => passedOn(`Requests and limits of ${of}.`);
const pullPolicy = oneOf(['Always', 'IfNotPresent', 'Never'], 'Pull policy of the image.');
const pullSecrets = some(
  Type.Union([
    Type.String({ minLength: 1 }),
    Type.Object({ name: Type.String({ minLength: 1 }) }, { additionalProperties: false }),
  ]),
  'Secrets with the credentials of registries: names, or [{name}].',
);
const annotations = words('Annotations. Their values can contain templates.');
const labels = words('Labels.');
const percentOrCount = (description: string) =>
  Type.Union([count(0, ''), Type.String({ pattern: '^(?:\\d{1,3}%)?$' })], { description });
/** Port of a node. 0 uses a free port. */
const nodePort = (of: string) =>
  Type.Integer({ minimum: 0, maximum: 65_535, description: `Node port for ${of}. 0 uses a free port.` });
const optionalCount = (description: string) => Type.Union([count(1, ''), Type.Null()], { description });

const volume = {
  enabled: flag('Keeps data after the pod ends.'),
  size: text('Size of the claim.'),
  storageClass: text(
    'Storage class. If it is empty: global.storageClass, or the default of the cluster. "-" sets an empty class.',
  ),
  accessModes: Type.Array(oneOf(['ReadWriteOnce', 'ReadWriteMany', 'ReadWriteOncePod'], ''), {
    minItems: 1,
    description: 'Access modes. Use ReadWriteMany if several replicas share the volume.',
  }),
  existingClaim: text('Your PersistentVolumeClaim, instead of a claim of the chart.'),
  subPath: text('Folder of the volume, if other programs use the volume too.'),
  keep: flag('Keeps the claim when the release is uninstalled.'),
  annotations,
  labels,
  selector: passedOn('Labels of the volumes that the claim accepts.'),
  volumeName: text('Volume of the claim.'),
  dataSource: passedOn('Snapshot or claim with the first content of the volume.'),
};

const autoscaling = (description: string) =>
  group(
    {
      enabled: flag('Adjusts the number of pods to their load.'),
      minReplicas: count(1, 'Minimum number of pods.'),
      maxReplicas: count(1, 'Maximum number of pods.'),
      targetCPUUtilizationPercentage: optionalCount('Target CPU time in percent of the request. null removes it.'),
      targetMemoryUtilizationPercentage: optionalCount('Target memory in percent of the request.'),
      metrics: passedOnList('Additional metrics, as in spec.metrics of a HorizontalPodAutoscaler.'),
      behavior: passedOn('Speed of the changes, as in spec.behavior of a HorizontalPodAutoscaler.'),
    },
    description,
  );

export const exportApi = group(
  {
    enabled: flag('Turns the static export API on.'),
    pods: oneOf(
      ['shared', 'own', 'split'],
      'Pods of the export API. shared: the pods of the site. own: a separate pod. split: API pods and worker pods, with PostgreSQL and S3.',
    ),
    replicas: count(0, 'With split: number of pods that respond to calls.'),
    autoscaling: autoscaling('Autoscaling of these pods.'),
    workers: group(
      {
        replicas: count(0, 'With split: number of pods that run jobs.'),
        autoscaling: autoscaling('Autoscaling of these pods.'),
        resources: resources('a pod that runs jobs'),
      },
      'With split: pods that run jobs.',
    ),
    persistence: group(
      volume,
      'Volume for jobs, files and bundles of separate pods. With split, each pod has a volume that exists as long as the pod.',
    ),
    resources: resources('separate pods'),
  },
  'Static export API. Its settings are under config.exportApi.',
);

const backend = oneOf(['site', 'api', 'export'], 'Backend of the host: site, api (search) or export.');
const pathTypes = ['Prefix', 'ImplementationSpecific', 'Exact'];
const path = Type.String({ pattern: '^/' });
const hostName = Type.String({ minLength: 1 });
const anyOf = (...schemas: TSchema[]) => Type.Union(schemas);
const hostWith = (keys: TProperties) =>
  anyOf(
    hostName,
    Type.Object(
      { host: hostName, path: Type.Optional(path), backend: Type.Optional(backend), ...keys },
      { additionalProperties: false },
    ),
  );
const ingressPath = anyOf(
  path,
  Type.Object(
    {
      path,
      pathType: Type.Optional(oneOf(pathTypes, 'Type of the path, instead of ingress.pathType.')),
      backend: Type.Optional(backend),
    },
    { additionalProperties: false },
  ),
);

export const kubernetes: TProperties = {
  enabled: flag('For the condition of a parent chart. The chart itself ignores it.'),
  global: Type.Object(
    {
      imageRegistry: Type.Optional(text('Registry of the image, which overrides image.registry.')),
      imagePullSecrets: Type.Optional(pullSecrets),
      storageClass: Type.Optional(text('Storage class of claims without a storage class.')),
      defaultStorageClass: Type.Optional(text('Another name of global.storageClass.')),
    },
    { additionalProperties: true, description: 'Values that all charts share. Unknown keys belong to other charts.' },
  ),
  nameOverride: text('Name of the chart in labels and names.'),
  fullnameOverride: text('Name of all objects of the chart.'),
  commonLabels: words('Labels of all objects of the chart.'),
  commonAnnotations: words('Annotations of all objects of the chart. Their values can contain templates.'),
  image: group(
    {
      registry: text('Registry of the image.'),
      repository: text('Repository of the image.'),
      tag: Type.Unsafe<string>({
        // Allow all numbers here, because the chart rejects wrong numbers with its own message.
        type: ['string', 'number'],
        description: 'Tag. If it is empty: the appVersion of the chart.',
      }),
      digest: Type.String({ pattern: '^(?:sha256:[0-9a-f]{64})?$', description: 'Digest, instead of the tag.' }),
      pullPolicy,
    },
    'Image of docshelf.',
  ),
  imagePullSecrets: pullSecrets,
  bundles: group(
    {
      imageVolumes: some(
        Type.Object(
          { reference: Type.String({ minLength: 1 }), pullPolicy: Type.Optional(pullPolicy) },
          { additionalProperties: false },
        ),
        'Images that Kubernetes mounts, with archives in their root folder: [{reference, pullPolicy}].',
      ),
      images: some(
        Type.Object(
          {
            image: Type.String({ minLength: 1 }),
            path: Type.Optional(Type.String({ pattern: '^/' })),
            pullPolicy: Type.Optional(pullPolicy),
            command: Type.Optional(Type.Array(Type.String())),
          },
          { additionalProperties: false },
        ),
        'Images whose archives an init container copies with cp of the image: [{image, path: /bundle, pullPolicy, command}].',
      ),
      resources: resources('the init containers'),
    },
    'Bundles in images.',
  ),
  replicas: count(0, 'Number of pods of the site.'),
  autoscaling: autoscaling('Autoscaling of the pods of the site.'),
  podDisruptionBudget: group(
    {
      enabled: flag('Creates a PodDisruptionBudget if there are several pods.'),
      maxUnavailable: percentOrCount('Maximum number or share of pods that may be unavailable at the same time.'),
      minAvailable: percentOrCount('Minimum number or share of available pods, instead of maxUnavailable.'),
      unhealthyPodEvictionPolicy: oneOf(['', 'IfHealthyBudget', 'AlwaysAllow'], 'Eviction of pods that are not ready.'),
    },
    'Limit for the pods of the site that Kubernetes may evict when it drains nodes.',
  ),
  persistence: group(
    {
      ...volume,
      perReplica: flag('A volume for each replica, which exists as long as its pod, instead of one shared volume.'),
    },
    'Volume for the releases of the site.',
  ),
  tls: group(
    {
      existingSecret: text('Your Secret of the type kubernetes.io/tls. docshelf reloads a changed certificate.'),
      listeners: some(oneOf(['site', 'api', 'admin'], ''), 'Listeners with TLS: site, api, admin.'),
    },
    'TLS in docshelf itself. Further settings are under config.server.tls.',
  ),
  service: group(
    {
      type: oneOf(['ClusterIP', 'NodePort', 'LoadBalancer'], 'Type of the service.'),
      port: port('Port of the site.'),
      apiPort: port('Port of the search and export API.'),
      redirectPort: port('Port without TLS that redirects, if config.server.tls.redirectPort is set.'),
      nodePort: nodePort('service.port'),
      apiNodePort: nodePort('service.apiPort'),
      redirectNodePort: nodePort('service.redirectPort'),
      clusterIP: text('IP address in the cluster.'),
      externalIPs: some(Type.String(), 'IP addresses of nodes that lead to the service.'),
      ipFamilyPolicy: text('SingleStack, PreferDualStack or RequireDualStack.'),
      ipFamilies: some(Type.String(), 'IPv4, IPv6.'),
      externalTrafficPolicy: oneOf(['', 'Cluster', 'Local'], 'Local keeps the IP addresses of readers.'),
      internalTrafficPolicy: oneOf(['', 'Cluster', 'Local'], 'Local uses only pods of the same node.'),
      sessionAffinity: oneOf(['', 'None', 'ClientIP'], 'ClientIP keeps each client on one pod.'),
      sessionAffinityConfig: passedOn('Settings of the session affinity.'),
      trafficDistribution: text('PreferSameZone or PreferSameNode: prefers pods that are near the client.'),
      loadBalancerIP: text('IP address of the load balancer.'),
      loadBalancerClass: text('Class of the load balancer.'),
      loadBalancerSourceRanges: some(Type.String(), 'Networks that may use the load balancer.'),
      allocateLoadBalancerNodePorts: Type.Union([Type.Boolean(), Type.Null()], {
        description: 'false: the load balancer needs no ports of nodes.',
      }),
      healthCheckNodePort: nodePort('the health check of a load balancer'),
      extraPorts: passedOnList('Additional ports, for example of an extra container.'),
      annotations,
      labels,
    },
    'Service of the site. The Service of separate pods of the export API has its apiPort, labels and annotations.',
  ),
  ingress: group(
    {
      enabled: flag('Creates an Ingress.'),
      className: text('Ingress class.'),
      annotations,
      labels,
      pathType: oneOf(pathTypes, 'Type of all paths.'),
      hosts: some(
        hostWith({ paths: Type.Optional(Type.Array(ingressPath)) }),
        'Names, [{host, path: /, backend: site}], or [{host, paths: [{path, pathType, backend}]}]. backend: site, api, or export. The chart adds the hosts in sites. Templates work.',
      ),
      tls: passedOnList('Certificates, as in spec.tls of an Ingress. They can contain templates.'),
    },
    'An Ingress.',
  ),
  httpRoute: group(
    {
      enabled: flag('Creates HTTPRoutes.'),
      annotations,
      labels,
      parentRefs: passedOnList('Gateways, as in spec.parentRefs of an HTTPRoute.'),
      hosts: some(
        hostWith({ filters: Type.Optional(passedOnList('Filters of the rule, as in an HTTPRoute.')) }),
        'Names, or [{host, path: /, backend: site, filters: []}]. Hosts with equal rules share an HTTPRoute. The chart adds the hosts in sites. Templates work.',
      ),
    },
    'HTTPRoutes of the Gateway API.',
  ),
  networkPolicy: group(
    {
      enabled: flag('Creates a NetworkPolicy.'),
      annotations,
      labels,
      ingress: group(
        { from: passedOnList('Pods and networks that may connect, as in ingress.from of a NetworkPolicy.') },
        'Allowed sources of readers. Without peers, every source is allowed.',
      ),
      extraIngress: passedOnList('Additional rules for incoming connections.'),
      monitoringNamespace: text('Namespace whose pods may connect to the admin listener.'),
      dns: group(
        {
          namespace: text('Namespace of the DNS.'),
          // Require a port, because an empty list would allow all ports.
          ports: Type.Array(port(''), { minItems: 1, description: 'Ports of the DNS pods.' }),
        },
        'DNS of the cluster.',
      ),
      egress: group(
        {
          restrict: flag(
            'Allows connections only to DNS and the listed networks. An air-gapped deployment always has this limit.',
          ),
          cidrs: some(Type.String({ pattern: CIDR }), 'Networks that the pods may contact.'),
          extra: passedOnList('Additional rules for outgoing connections.'),
        },
        'Connections that the pods may open.',
      ),
    },
    'NetworkPolicy for all pods.',
  ),
  serviceMonitor: group(
    {
      enabled: flag('Creates a ServiceMonitor.'),
      interval: text('Interval between two reads of the metrics.'),
      scrapeTimeout: text('Maximum time of one read.'),
      namespace: text('Namespace of the object, instead of that of the release.'),
      labels: words('Labels by which Prometheus selects the object.'),
      annotations,
      relabelings: passedOnList('Additional relabelings of targets.'),
      metricRelabelings: passedOnList('Relabelings of metrics.'),
    },
    'ServiceMonitor of the Prometheus Operator.',
  ),
  prometheusRule: group(
    {
      enabled: flag('Creates alerts.'),
      namespace: text('Namespace of the object, instead of that of the release.'),
      labels: words('Labels by which Prometheus selects the object.'),
      annotations,
      runbookUrl: text('URL of the page with an entry for each alert.'),
      extraRules: passedOnList('Additional alert rules.'),
    },
    'Alerts, as a PrometheusRule of the Prometheus Operator. They need serviceMonitor.enabled.',
  ),
  dashboard: group(
    {
      enabled: flag('Creates a ConfigMap with the Grafana dashboard.'),
      namespace: text('Namespace of the ConfigMap, instead of that of the release.'),
      labels: words('Labels by which the sidecar of Grafana selects the ConfigMap.'),
      annotations,
    },
    'Grafana dashboard.',
  ),
  resources: resources('the pods of the site'),
  probes: group(
    {
      startup: probe('Startup probe: time for a pod to open its listeners.'),
      liveness: probe('Liveness probe: Kubernetes restarts a pod that fails this probe.'),
      readiness: probe('Readiness probe: a pod that fails this probe receives no requests from readers.'),
    },
    'Probes. null removes a probe.',
  ),
  progressDeadlineSeconds: count(1, 'Seconds until Kubernetes reports a rollout as failed.'),
  minReadySeconds: count(0, 'Seconds for which a new pod must be ready before Kubernetes replaces the next one.'),
  revisionHistoryLimit: count(0, 'Number of old ReplicaSets that Kubernetes keeps for a rollback.'),
  updateStrategy: passedOn(
    'Update strategy of the Deployments. If it is empty: RollingUpdate without a gap if the volume allows two pods, otherwise Recreate.',
  ),
  deploymentAnnotations: words('Annotations of the Deployments. Their values can contain templates.'),
  deploymentLabels: words('Labels of the Deployments.'),
  lifecycle: passedOn('Lifecycle hooks of the containers. If it is empty: a preStop hook of preStopSeconds.'),
  preStopSeconds: count(
    1,
    'Seconds for which an ending pod still serves requests, until every proxy has removed the pod.',
  ),
  terminationGracePeriodSeconds: count(
    1,
    'Seconds until Kubernetes kills an ending pod. Must be longer than preStopSeconds and config.server.shutdownTimeout together.',
  ),
  podSecurityContext: passedOn('Security context of the pods. null removes a setting.'),
  securityContext: passedOn('Security context of the containers. null removes a setting.'),
  serviceAccount: group(
    {
      create: flag('Creates a service account.'),
      name: text('Name of the service account.'),
      automount: flag('Mounts the token of the account into the pods. docshelf itself does not need it.'),
      annotations,
      labels,
    },
    'Service account.',
  ),
  podAnnotations: words('Annotations of the pods. Their values can contain templates.'),
  podLabels: words('Labels of the pods.'),
  priorityClassName: text('Priority class of the pods.'),
  runtimeClassName: text('Runtime class of the pods.'),
  schedulerName: text('Scheduler of the pods.'),
  nodeSelector: words('Labels of nodes on which the pods run.'),
  tolerations: passedOnList('Tolerations of the pods.'),
  affinity: passedOn('Affinity of the pods. It can contain templates.'),
  topologySpreadConstraints: passedOnList('Spread of the pods of the site. The chart adds the selector.'),
  hostAliases: passedOnList('Entries of /etc/hosts: [{ip, hostnames}].'),
  dnsPolicy: oneOf(['', 'ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'], 'DNS policy of the pods.'),
  dnsConfig: passedOn('DNS settings of the pods.'),
  tmp: group(
    {
      sizeLimit: text('Maximum size of /tmp. If it is empty: no limit.'),
      medium: oneOf(['', 'Memory'], 'Memory keeps /tmp in memory, which counts as memory of the container.'),
    },
    'The volume of /tmp.',
  ),
  initContainers: passedOnList('Additional init containers of the pods. They can contain templates.'),
  extraContainers: passedOnList('Additional containers of the pods (sidecars). They can contain templates.'),
  extraEnv: some(
    Type.Object(
      {
        name: Type.String({ minLength: 1 }),
        value: Type.Optional(Type.String()),
        valueFrom: Type.Optional(passedOn('')),
      },
      { additionalProperties: false },
    ),
    'Additional environment variables of the containers: [{name, value}] or [{name, valueFrom}]. Values can contain templates.',
  ),
  envFrom: passedOnList('Secrets and ConfigMaps whose keys become environment variables. They can contain templates.'),
  extraVolumes: passedOnList('Additional volumes of the pods. They can contain templates.'),
  extraVolumeMounts: passedOnList('Additional mounts of the containers. They can contain templates.'),
  extraObjects: Type.Array(Type.Union([Type.String(), passedOn('')]), {
    description: 'Additional manifests, as maps or as text. Both can contain templates.',
  }),
};
