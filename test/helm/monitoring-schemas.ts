const text = { type: 'string', minLength: 1 };
const words = { type: 'object', additionalProperties: { type: 'string' } };
const strict = (properties: object, required = Object.keys(properties)): object => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const time = { type: 'string', pattern: '^\\d+(?:ms|s|m|h)$' };
const metadata = strict({ name: text, namespace: text, labels: words, annotations: words }, [
  'name',
  'namespace',
  'labels',
]);
const relabelings = {
  type: 'array',
  items: strict({ sourceLabels: { type: 'array', items: text }, targetLabel: text }),
};

/** Schema of the parts of monitoring.coreos.com/v1 (Prometheus operator) that the chart uses. */
export const MONITORING_SCHEMAS: Readonly<Record<string, object>> = {
  'monitoring.coreos.com/v1 ServiceMonitor': strict({
    apiVersion: text,
    kind: text,
    metadata,
    spec: strict({
      jobLabel: text,
      namespaceSelector: strict({ matchNames: { type: 'array', items: text } }),
      selector: strict({ matchLabels: words }),
      endpoints: {
        type: 'array',
        minItems: 1,
        items: strict(
          {
            port: text,
            path: text,
            interval: time,
            scrapeTimeout: time,
            relabelings,
            metricRelabelings: relabelings,
          },
          ['port', 'path', 'interval', 'relabelings'],
        ),
      },
    }),
  }),
  'monitoring.coreos.com/v1 PrometheusRule': strict({
    apiVersion: text,
    kind: text,
    metadata,
    spec: strict({
      groups: {
        type: 'array',
        minItems: 1,
        items: strict({
          name: text,
          rules: {
            type: 'array',
            minItems: 1,
            items: strict({ alert: text, expr: text, for: time, labels: words, annotations: words }),
          },
        }),
      },
    }),
  }),
};
