import { type TProperties, type TSchema, Type } from 'typebox';

/** The chart's values for Kubernetes. Objects that are passed on as they are, Kubernetes itself checks. */

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
    name: Type.String({ minLength: 1, description: 'Its name.' }),
    key: Type.String({ minLength: 1, description: 'The key in it.' }),
  },
  { additionalProperties: false },
);

/** An IPv4 or IPv6 network: 10.0.0.0/8, fd00::/8. */
const CIDR =
  '^(?:\\d{1,3}(?:\\.\\d{1,3}){3}/(?:\\d|[12]\\d|3[0-2])|[0-9a-fA-F]{0,4}:[0-9a-fA-F:.]*/(?:\\d|[1-9]\\d|1[01]\\d|12[0-8]))$';

const probe = (description: string) =>
  Type.Union(
    [
      group(
        {
          initialDelaySeconds: count(0, 'Seconds until it is asked first.'),
          periodSeconds: count(1, 'Seconds between two questions.'),
          timeoutSeconds: count(1, 'Seconds that an answer may take.'),
          failureThreshold: count(1, 'So many in a row are a failure.'),
          successThreshold: count(1, 'So many in a row are a success.'),
          terminationGracePeriodSeconds: count(1, 'Seconds that a pod which failed has to end.'),
        },
        '',
      ),
      Type.Null(),
    ],
    { description },
  );

const resources = (of: string) => passedOn(`Requests and limits of ${of}.`);
const pullPolicy = oneOf(['Always', 'IfNotPresent', 'Never'], 'When the image is pulled.');
const pullSecrets = some(
  Type.Object({ name: Type.String({ minLength: 1 }) }, { additionalProperties: false }),
  'Secrets with the credentials of registries: [{name}].',
);

const volume = {
  enabled: flag('Whether data outlives the pod.'),
  size: text('Size of the claim.'),
  storageClass: text("Storage class; empty: the cluster's default."),
  accessModes: Type.Array(oneOf(['ReadWriteOnce', 'ReadWriteMany', 'ReadWriteOncePod'], ''), {
    minItems: 1,
    description: 'ReadWriteMany where several replicas share it.',
  }),
  existingClaim: text('A claim of yours, in place of one of the chart.'),
  annotations: words('Annotations of the claim.'),
};

const autoscaling = (description: string) =>
  group(
    {
      enabled: flag('Whether the number of pods follows their load.'),
      minReplicas: count(1, 'At least so many.'),
      maxReplicas: count(1, 'At most so many.'),
      targetCPUUtilizationPercentage: count(1, 'Processor time that is aimed at, in percent of the request.'),
    },
    description,
  );

export const exportApi = group(
  {
    enabled: flag('Whether the static export API is offered.'),
    pods: oneOf(
      ['shared', 'own', 'split'],
      "shared: in the site's pods. own: in a pod of its own. split: pods that answer calls and pods that run jobs, any number of each, over PostgreSQL and S3.",
    ),
    replicas: count(0, 'With split: pods that answer calls.'),
    autoscaling: autoscaling('Those pods, by load.'),
    workers: group(
      {
        replicas: count(0, 'How many.'),
        autoscaling: autoscaling('Their number, by load.'),
        resources: resources('a pod that runs jobs'),
      },
      'With split: pods that run jobs.',
    ),
    persistence: group(
      volume,
      'Its jobs, files and bundles; of pods of its own. With split a volume for each pod, that lives as long as the pod.',
    ),
    resources: resources('pods of its own'),
  },
  'The static export API; its settings are under config.exportApi.',
);

const backend = oneOf(['site', 'api', 'export'], 'What answers there: site, api (search) or export.');

export const kubernetes: TProperties = {
  enabled: flag('For the condition of a parent chart; the chart itself does not look at it.'),
  global: Type.Object(
    {
      imageRegistry: Type.Optional(text('Registry of the image; goes before image.registry.')),
      imagePullSecrets: Type.Optional(pullSecrets),
    },
    { additionalProperties: true, description: 'Shared with other charts; unknown keys are theirs.' },
  ),
  nameOverride: text("The chart's name in labels and names."),
  fullnameOverride: text('The name of everything that the chart makes.'),
  commonLabels: words('Labels of everything that the chart makes.'),
  image: group(
    {
      registry: text('Registry.'),
      repository: text('Repository.'),
      tag: Type.Unsafe<string>({ type: ['string', 'integer'], description: "Tag; empty: the chart's appVersion." }),
      digest: Type.String({ pattern: '^(?:sha256:[0-9a-f]{64})?$', description: 'Digest, in place of the tag.' }),
      pullPolicy,
    },
    'The image.',
  ),
  imagePullSecrets: pullSecrets,
  bundles: group(
    {
      imageVolumes: some(
        Type.Object(
          { reference: Type.String({ minLength: 1 }), pullPolicy: Type.Optional(pullPolicy) },
          { additionalProperties: false },
        ),
        'Images that are mounted as they are, with archives in their root: [{reference, pullPolicy}].',
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
        'Images whose archives an init container copies with their own cp: [{image, path: /bundle, pullPolicy, command}].',
      ),
      resources: resources('the init containers'),
    },
    'Bundles that come as images.',
  ),
  replicas: count(0, 'Pods of the site.'),
  autoscaling: autoscaling("The site's pods, by load."),
  podDisruptionBudget: group(
    {
      enabled: flag('Whether there is one, where there are several pods.'),
      maxUnavailable: Type.Union([count(0, ''), Type.String({ pattern: '^\\d{1,3}%$' })], {
        description: 'Pods that may be away at once.',
      }),
    },
    'How many pods of the site a drained node may take away.',
  ),
  persistence: group(
    {
      ...volume,
      perReplica: flag('A volume for each replica that lives as long as its pod, in place of one for all.'),
    },
    "The site's releases.",
  ),
  tls: group(
    {
      existingSecret: text('A Secret of yours of the type kubernetes.io/tls; a changed one is picked up.'),
      listeners: some(oneOf(['site', 'api', 'admin'], ''), 'Which listeners have it: site, api, admin.'),
    },
    'TLS by docshelf itself; further settings are under config.server.tls.',
  ),
  service: group(
    {
      type: oneOf(['ClusterIP', 'NodePort', 'LoadBalancer'], 'Type of the service.'),
      port: port('Port of the site.'),
      apiPort: port('Port of the search and export API.'),
      redirectPort: port('Port without TLS that redirects, where config.server.tls.redirectPort is set.'),
      annotations: words('Annotations.'),
    },
    'The services.',
  ),
  ingress: group(
    {
      enabled: flag('Whether there is one.'),
      className: text('Ingress class.'),
      annotations: words('Annotations.'),
      hosts: some(
        Type.Object(
          {
            host: Type.String({ minLength: 1 }),
            path: Type.Optional(Type.String({ pattern: '^/' })),
            backend: Type.Optional(backend),
          },
          { additionalProperties: false },
        ),
        '[{host, path: /, backend: site}]; backend is site, api (search) or export. Those of sites are added.',
      ),
      tls: passedOnList('Certificates, as an Ingress has them.'),
    },
    'An Ingress.',
  ),
  httpRoute: group(
    {
      enabled: flag('Whether there are any.'),
      annotations: words('Annotations.'),
      parentRefs: passedOnList('The Gateways, as an HTTPRoute has them.'),
      hosts: some(
        Type.Object(
          {
            host: Type.String({ minLength: 1 }),
            path: Type.Optional(Type.String({ pattern: '^/' })),
            backend: Type.Optional(backend),
            filters: Type.Optional(passedOnList('Filters of the rule, as an HTTPRoute has them.')),
          },
          { additionalProperties: false },
        ),
        '[{host, path: /, backend: site, filters: []}]; hosts with the same rules share an HTTPRoute. Those of sites are added.',
      ),
    },
    'HTTPRoutes of the Gateway API.',
  ),
  networkPolicy: group(
    {
      enabled: flag('Whether there is one.'),
      ingress: group({ from: passedOnList('Peers.') }, 'Where readers come from; no peers: from anywhere.'),
      extraIngress: passedOnList('Further rules.'),
      monitoringNamespace: text('The namespace whose pods may ask the admin listener.'),
      dns: group(
        {
          namespace: text('Namespace of the DNS.'),
          // None would be all of them.
          ports: Type.Array(port(''), { minItems: 1, description: 'Ports that it listens on in its pods.' }),
        },
        'Where names are looked up.',
      ),
      egress: group(
        {
          restrict: flag('Whether only what is listed is reached; in an air-gapped deployment always.'),
          cidrs: some(Type.String({ pattern: CIDR }), 'Networks that may be reached.'),
          extra: passedOnList('Further rules.'),
        },
        'What the pods may reach.',
      ),
    },
    'A NetworkPolicy over all pods.',
  ),
  serviceMonitor: group(
    {
      enabled: flag('Whether there is one.'),
      interval: text('How often metrics are read.'),
      labels: words('Labels by which Prometheus finds it.'),
    },
    "A ServiceMonitor of Prometheus' operator.",
  ),
  prometheusRule: group(
    {
      enabled: flag('Whether there are alerts.'),
      labels: words('Labels by which Prometheus finds it.'),
      runbookUrl: text('The page with an entry for each alert.'),
    },
    "Alerts, as a PrometheusRule of Prometheus' operator; they need serviceMonitor.enabled.",
  ),
  resources: resources("the site's pods"),
  probes: group(
    {
      startup: probe('How long a pod may take to open its listeners.'),
      liveness: probe('When a pod counts as dead.'),
      readiness: probe('When a pod gets no readers.'),
    },
    'Times of the probes; null takes one away.',
  ),
  progressDeadlineSeconds: count(1, 'How long a rollout may take until it is called failed.'),
  preStopSeconds: count(1, 'How long a pod that is to end goes on as before, until every proxy knows.'),
  terminationGracePeriodSeconds: count(1, 'preStopSeconds, config.server.shutdownTimeout and some more.'),
  podSecurityContext: passedOn("The pods' security context; null takes a setting away."),
  securityContext: passedOn("The containers' security context; null takes a setting away."),
  serviceAccount: group(
    {
      create: flag('Whether the chart makes one.'),
      name: text('Its name.'),
      annotations: words('Annotations.'),
    },
    'The service account; no token of it is mounted.',
  ),
  podAnnotations: words('Annotations of the pods.'),
  podLabels: words('Labels of the pods.'),
  priorityClassName: text('Priority class of the pods.'),
  nodeSelector: words('Labels of nodes that pods run on.'),
  tolerations: passedOnList('Tolerations of the pods.'),
  affinity: passedOn('Affinity of the pods.'),
  topologySpreadConstraints: passedOnList("How the site's pods are spread; the selector is added."),
  extraEnv: passedOnList('Further environment of the containers.'),
  extraVolumes: passedOnList('Further volumes of the pods.'),
  extraVolumeMounts: passedOnList('Further mounts of the containers.'),
  extraManifests: Type.Array(Type.Union([Type.String(), passedOn('')]), {
    description: 'Further manifests, as maps or as text; both may use templates.',
  }),
};
